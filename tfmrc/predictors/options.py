"""Options of decoding."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from tfmrc.utils.arguments import check_whole_numbers

OF_SAMPLING = ("temperature", "top_k", "top_p")
FROM_ONE = ("num_beams", "num_return_sequences", "max_length", "num_steps", "max_answers")


class _Options:
    def __post_init__(self) -> None:
        numbers = {name: getattr(self, name, None) for name in FROM_ONE}
        check_whole_numbers(1, **{name: n for name, n in numbers.items() if n is not None})
        least = getattr(self, "min_probability", None)
        if least is not None and not 0 <= least <= 1:
            raise ValueError(
                f"`min_probability` must be from 0 to 1. Received: min_probability={least!r}"
            )


@dataclass(frozen=True)
class DecodingOptions(_Options):
    """Options of generation, fixed when a graph is built.

    Attributes:
        num_beams: int. 1 for greedy search. Default: 1.
        num_return_sequences: int. Number of hypotheses: the best one and its alternatives.
            Default: 1.
        length_penalty: float. Exponent of the length in the score
            (`tfmrc.decoding.length_penalised`). Default: 0.0.
        min_length: int. Least number of generated words. Default: 0.
        max_length: int or None. Greatest number of generated words, the end word included; None for
            the preprocessor's length and the end word. Default: None.
        no_repeat_ngram_size: int. No n-gram of this size occurs twice in a hypothesis; 0 to allow
            repetition. Default: 0.
        num_beam_groups: int. Groups of beams that differ (`tfmrc.decoding.beam_search`).
            Default: 1.
        diversity_penalty: float. Penalty for a word that an earlier group chose at the same step.
            Default: 0.5.
        coverage_penalty: float. Penalty for attention that returns to words already attended to,
            for models that report it (`tfmrc.models.MaxoutPointerQG`). Default: 0.0.
        sampling: bool. Draw `num_beams` hypotheses by their probabilities instead of searching, the
            most probable first (`tfmrc.decoding.sample`). Default: False.
        temperature: float. Temperature of sampling. Default: 1.0.
        top_k: int. Sample from the k most probable words; 0 for all. Default: 0.
        top_p: float. Sample from the most probable words that together have this probability.
            Default: 1.0.
        seed: int. Seed of sampling. Default: 0.
        jit_compile: bool. Compile encoding and decoding with XLA. Single requests are faster once
            compiled, batches of 32 on a CPU are not (benchmarks/README.md); every new size of
            batch, question or passages is compiled again, and the server must have XLA.
            Default: False.
        min_probability: float or None. Smallest probability of a confident answer; below it
            `is_confident` is False. None for the threshold of the predictor's calibration, without
            a calibration for the rule of the model's signature. Default: None.

    Raises:
        ValueError: If a number is not a positive int, `min_probability` is not from 0 to 1, or an
            option of sampling is given without `sampling`.
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
    min_probability: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in fields(DecodingOptions):
            value = getattr(self, field.name)
            if field.name in OF_SAMPLING and value != field.default and not self.sampling:
                raise ValueError(
                    f"`{field.name}` has no effect on a search: give sampling=True as well. "
                    f"Received: {field.name}={value!r}, sampling=False"
                )

    def search(self) -> dict[str, Any]:
        """Returns the arguments of a model's `generate`, except `max_length`.

        Example:

        >>> from tfmrc.predictors import DecodingOptions
        >>> DecodingOptions(num_beams=4, min_length=2).search()["num_beams"]
        4
        """
        names = {field.name for field in fields(DecodingOptions)}
        options = {name: value for name, value in asdict(self).items() if name in names}
        for name in ("max_length", "jit_compile", "min_probability"):
            del options[name]
        drawn = {name: options.pop(name) for name in ("temperature", "top_k", "top_p", "seed")}
        return options | {"sampling": drawn if self.sampling else None}


@dataclass(frozen=True)
class QuestionOptions(DecodingOptions):
    """Options of question generation, fixed when a graph is built.

    Those of `DecodingOptions`, and:

    Attributes:
        max_answers: int. Answer candidates per passage in `generate_from_passage`, the best ones.
            Default: 8.
    """

    max_answers: int = 8


@dataclass(frozen=True)
class SpanOptions(_Options):
    """Options of the search for a span, fixed when a graph is built.

    Attributes:
        num_return_sequences: int. Number of spans: the best one and its alternatives. Default: 1.
        max_length: int or None. Greatest number of words of an answer; None for the preprocessor's
            length. Default: None.
        num_steps: int or None. Steps of the answer module; None for as many as in training.
            Default: None.
        return_steps: bool. Whether each step's distributions are among the outputs. Default: False.
        min_probability: float or None. Smallest probability of a confident answer; below it
            `is_confident` is False. None for the threshold of the predictor's calibration, without
            a calibration for the rule of the model's signature. Default: None.

    Raises:
        ValueError: If a number is not a positive int, or `min_probability` is not from 0 to 1.
    """

    num_return_sequences: int = 1
    max_length: int | None = None
    num_steps: int | None = None
    return_steps: bool = False
    min_probability: float | None = None


@dataclass(frozen=True)
class EvidenceOptions(_Options):
    """Options of an evidence reader, fixed when a graph is built.

    Attributes:
        unit: str. `"span"`: runs of words that each reach the threshold; `"sentence"`: sentences
            that reach it. Default: "span".
        threshold: float. Smallest probability of a word, or of a sentence, that is evidence, before
            any calibration. Default: 0.5.
        min_probability: float or None. Smallest probability of a confident answer; below it
            `is_confident` is False. None for the threshold of the predictor's calibration, without
            a calibration any evidence is confident. Default: None.

    Raises:
        ValueError: If `unit` is another one, or a number is not from 0 to 1.
    """

    unit: Literal["span", "sentence"] = "span"
    threshold: float = 0.5
    min_probability: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unit not in ("span", "sentence") or not 0 <= self.threshold <= 1:
            raise ValueError(
                "`unit` must be 'span' or 'sentence', and `threshold` from 0 to 1. "
                f"Received: unit={self.unit!r}, threshold={self.threshold!r}"
            )


@dataclass(frozen=True)
class ReaderOptions(_Options):
    """Options of an extractive reader, fixed when a graph is built.

    Attributes:
        num_return_sequences: int. Number of spans: the best one and its alternatives. Default: 1.
        max_length: int or None. Greatest number of subwords of an answer; None for the
            preprocessor's length. Default: None.
        align_to_words: bool. Whether an answer consists of whole words. In scripts without spaces
            (`tfmrc.text.words.unspaced`) a word ends with any subword. Default: True.
        min_probability: float or None. Smallest probability of a confident answer; below it
            `is_confident` is False. None for the threshold of the predictor's calibration, without
            a calibration for the rule of the model's signature. Default: None.

    Raises:
        ValueError: If a number is not a positive int, or `min_probability` is not from 0 to 1.
    """

    num_return_sequences: int = 1
    max_length: int | None = None
    align_to_words: bool = True
    min_probability: float | None = None
