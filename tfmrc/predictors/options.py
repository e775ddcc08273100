"""How an answer is searched for."""

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["DecodingOptions", "SpanOptions"]


@dataclass(frozen=True)
class DecodingOptions:
    """Options of the search that are fixed when a graph is built.

    Attributes:
        num_beams: 1 for greedy search.
        num_return_sequences: how many hypotheses; the first is the answer, the others its alternatives.
        length_penalty: exponent of the length in the score (`tfmrc.decoding.length_penalised`).
        min_length: fewest words of an answer.
        max_length: most words of an answer, the end word included; None for what the preprocessor
            were built for.
        no_repeat_ngram_size: no n-gram of so many words twice in a hypothesis; 0 for no such rule.
        num_beam_groups: groups of beams that are to differ (`tfmrc.decoding.beam_search`).
        diversity_penalty: what a word costs a group that an earlier group has just taken.
        coverage_penalty: what a hypothesis pays for attention to where it has been, of models that
            tell it (`tfmrc.models.MaxoutPointerQG`).
        sampling: draw `num_beams` hypotheses by their probabilities in place of a search, the most
            probable first (`tfmrc.decoding.sample`).
        temperature, top_k, top_p, seed: of the sampling.
        jit_compile: compile reading and decoding with XLA. Faster per request once compiled, but
            every new size of batch, question or passages is compiled anew, and the server must
            have XLA.

    Raises:
        ValueError: if `num_return_sequences` is not from 1 to `num_beams`.
    """

    num_beams: int = 1
    num_return_sequences: int = 1
    length_penalty: float = 0.0
    min_length: int = 0
    max_length: int | None = None
    no_repeat_ngram_size: int = 0
    num_beam_groups: int = 1
    diversity_penalty: float = 0.5
    coverage_penalty: float = 0.0
    sampling: bool = False
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    jit_compile: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.num_return_sequences <= self.num_beams:
            raise ValueError(
                "`num_return_sequences` must be from 1 to `num_beams`. "
                f"Received: num_return_sequences={self.num_return_sequences!r}, num_beams={self.num_beams!r}"
            )

    def search(self) -> dict[str, Any]:
        """The arguments of a model's `generate`, but for `max_length`.

        Example:

        >>> from tfmrc.predictors import DecodingOptions
        >>> DecodingOptions(num_beams=4, min_length=2).search()["num_beams"]
        4
        """
        chosen = asdict(self)
        for name in ("max_length", "jit_compile"):
            del chosen[name]
        drawn = {name: chosen.pop(name) for name in ("temperature", "top_k", "top_p", "seed")}
        return chosen | {"sampling": drawn if self.sampling else None}


@dataclass(frozen=True)
class SpanOptions:
    """How a span is searched for; fixed when a graph is built.

    Attributes:
        num_return_sequences: K, how many spans; the first is the answer, the others its alternatives.
        max_length: most words of an answer; None for what the preprocessor were built for.
        num_steps: steps of the answer module; None for those that it was trained with.
        return_steps: whether each step's distributions are among the outputs.

    Raises:
        ValueError: if a number is below 1.
    """

    num_return_sequences: int = 1
    max_length: int | None = None
    num_steps: int | None = None
    return_steps: bool = False

    def __post_init__(self) -> None:
        for name in ("num_return_sequences", "max_length", "num_steps"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"`{name}` must be at least 1. Received: {name}={value!r}")
