"""How an answer is searched for."""

from dataclasses import dataclass

__all__ = ["DecodingOptions"]


@dataclass(frozen=True)
class DecodingOptions:
    """Options of the search that are fixed when a graph is built.

    Attributes:
        num_beams: 1 for greedy search.
        num_return: how many hypotheses; the first is the answer, the others its alternatives.
        length_penalty: exponent of the length in the score (`tfmrc.decoding.length_penalised`).
        min_length: fewest words of an answer.
        max_length: most words of an answer, the end word included; None for what the features
            were built for.
        jit_compile: compile reading and decoding with XLA. Faster per request once compiled, but
            every new size of batch, question or passages is compiled anew, and the server must
            have XLA.

    Raises:
        ValueError: if `num_return` is not from 1 to `num_beams`.
    """

    num_beams: int = 1
    num_return: int = 1
    length_penalty: float = 0.0
    min_length: int = 0
    max_length: int | None = None
    jit_compile: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.num_return <= self.num_beams:
            raise ValueError(
                "`num_return` must be from 1 to `num_beams`. "
                f"Received: num_return={self.num_return!r}, num_beams={self.num_beams!r}"
            )
