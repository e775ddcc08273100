"""What predictors call of a model, beside what `keras.Model` has.

A model of another paper that has the members of a protocol can be used with the predictor that
names it; `tfmrc.Predictor(model, preprocessor)` checks them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tfmrc.decoding import Hypotheses

Tensors = Mapping[str, Any]


class SpanModel(Protocol):
    """A model that finds spans of words, as `tfmrc.models.SAN`; read by `SANPredictor`."""

    def find(
        self, inputs: Tensors, num_steps: int | None = None, return_steps: bool = False
    ) -> Tensors:
        """Computes the outputs for windows of the preprocessor, outside training.

        Args:
            inputs: dict. The preprocessor's `model_inputs`, `[C, ..]` each.
            num_steps: int or None. Steps of the answer module; a model without steps ignores it.
            return_steps: bool. Whether each step's distributions are among the outputs.

        Returns:
            A dict, whatever `spans` reads; with `return_steps` also `step_begin`, `step_end`
            `[C, T, n]` and `step_weights` `[C, T]`.
        """

    def spans(self, outputs: Tensors, max_length: int, num_spans: int) -> tuple[Any, Any, Any]:
        """Returns the best spans of each window, best first.

        Returns:
            `begin`, `end` int32 `[C, K]`, the first and the last word; and `log_probability`
            float32 `[C, K]`, at most `LOG_ZERO` where a window has fewer spans.
        """


class ReaderModel(Protocol):
    """A model that scores subwords, as `ExtractiveReader`; read by `ExtractiveReaderPredictor`."""

    def scores(self, inputs: Tensors) -> Any:
        """Returns the scores of begin and end, float32 `[C, P, 2]`, without normalization.

        Args:
            inputs: dict. `encoder_ids` and `segment_ids` int32 `[C, P]`. Position 0 is `[CLS]`,
                whose scores stand for "no answer".
        """


class Generator(Protocol):
    """A model that generates words (see `tfmrc.models.GenerationMixin`)."""

    def encode(self, inputs: Tensors) -> Tensors:
        """Computes once what does not change from step to step, among it `extended_ids` `[B, S]`.

        Args:
            inputs: dict. The preprocessor's inputs, `[B, ..]` each.
        """

    def generate(self, memory: Tensors, max_length: int, **options: Any) -> Hypotheses:
        """Generates extended ids: `num_return_sequences` hypotheses, best first.

        Args:
            memory: dict. Result of `encode`.
            max_length: int. Greatest number of ids, the end included.
            **options: Those of `tfmrc.predictors.DecodingOptions.search`.
        """


class AnswerGenerator(Generator, Protocol):
    """A model that generates answers and their sources, as `Masque`; read by `MasquePredictor`.

    Attributes:
        has_decoder: bool. False for a model that only ranks and classifies.
        gold_ranker: bool. Whether it needs the true relevance of the passages, `relevance_gold`.
    """

    has_decoder: bool
    gold_ranker: bool

    def attribute(self, memory: Tensors, target_ids: Any) -> Tensors:
        """Returns the source of each word, as `tfmrc.predictors.results.provenance` reads it.

        Args:
            memory: dict. Result of `encode`.
            target_ids: int `[B, T]`. Extended ids of the answer.
        """


class DualTask(Generator, Protocol):
    """One task of a dual model: it is given a text (`given`) and writes the other (`target`)."""

    given: str
    target: str


class DualModel(Protocol):
    """A model that answers and asks, as `tfmrc.models.DAANet`; read by `DAANetPredictor`.

    Attributes:
        tasks: sequence of str. `"answer"`, `"ask"` or both.
        answering, asking: `DualTask`. The tasks.
    """

    tasks: Sequence[str]
    answering: DualTask
    asking: DualTask
