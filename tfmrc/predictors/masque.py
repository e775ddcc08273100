"""Strings in, answers out: a model and its preprocessor as one object."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import tensorflow as tf

from tfmrc import preprocessing
from tfmrc.predictors.answer import Answer
from tfmrc.predictors.base import Predictor, strings
from tfmrc.predictors.export import export_saved_model
from tfmrc.predictors.masque_signature import masque_signature
from tfmrc.predictors.options import DecodingOptions
from tfmrc.preprocessing.labels import UNKNOWN

__all__ = ["MasquePredictor", "Record"]


class Record(Protocol):
    """What `MasquePredictor.predict` needs of an example."""

    @property
    def question(self) -> str: ...

    @property
    def passages(self) -> Sequence[str]: ...


class MasquePredictor(Predictor):
    """Answers questions from passages: what a user holds, and what is exported.

    The keyword arguments that choose how an answer is searched for (`num_beams`, `num_return_sequences`,
    `length_penalty`, `min_length`, `max_length`, `jit_compile`) are those of
    `tfmrc.predictors.DecodingOptions`. The graph of each combination is built once and kept.

    The weights used are those that the model holds at the moment. To use an optimizer's moving
    average while a training goes on, see `tfmrc.training.ema_weights`.

    Args:
        model: a `tfmrc.models.Masque`, or a model with the same decoding methods.
        preprocessor: the `tfmrc.preprocessing.MasquePreprocessor` that it was trained with.

    Raises:
        ValueError: if model and preprocessor disagree on passages, styles or vocabulary.

    Example:

    >>> from tfmrc import MasquePredictor, models, preprocessing, text
    >>> words = "how tall is k2 metres it stands high".split()
    >>> preprocessor = preprocessing.MasquePreprocessor(
    ...     text.Vocabulary(words), styles=("qa", "nlg"), num_passages=2)
    >>> model = models.Masque(
    ...     vocabulary_size=12, num_styles=2, num_passages=2, word_dim=8, hidden_dim=8,
    ...     num_heads=2, intermediate_dim=8, num_shared_blocks=1, num_question_blocks=1,
    ...     num_passage_blocks=1, num_decoder_blocks=1)
    >>> predictor = MasquePredictor(model, preprocessor)
    >>> answer = predictor.answer("How tall is K2?", ["K2 is 8,611 metres high."], max_length=3)
    >>> len(answer.words) <= 3 and answer.words[0].source in ("vocabulary", "question", "passage")
    True
    """

    preprocessor_class: type = preprocessing.MasquePreprocessor
    options_class: type = DecodingOptions
    masque_signature: Callable[[Any, Any, Any], Any] = staticmethod(masque_signature)

    def __new__(
        cls, model: Any, preprocessor: Any, *arguments: Any, **options: Any
    ) -> "MasquePredictor":
        """`MasquePredictor(model, preprocessor)` makes the predictor that the preprocessor are for."""
        if cls is MasquePredictor and isinstance(preprocessor, preprocessing.SANPreprocessor):
            from tfmrc.predictors.san import SANPredictor

            return super().__new__(SANPredictor)
        return super().__new__(cls)

    def __init__(self, model: Any, preprocessor: Any):
        super().__init__(model, preprocessor)
        self._readings: dict[DecodingOptions, Any] = {}

    def __repr__(self) -> str:
        return (
            f"<MasquePredictor of {self.model.name!r}: {self.preprocessor.num_passages} passages, "
            f"styles {', '.join(self.preprocessor.styles)}>"
        )

    def answer(
        self,
        question: str,
        passages: Sequence[str] = (),
        style: str | None = None,
        **options: Any,
    ) -> Answer:
        """Answers one question.

        Args:
            question: the question.
            passages: the passages to answer from.
            style: one of `preprocessor.styles`; None for the first.
            **options: see `tfmrc.predictors.DecodingOptions`.

        Returns:
            `tfmrc.predictors.Answer`.

        Raises:
            ValueError: for an unknown style, a single string as `passages`, or a model that needs
                the true relevance (`ranker="gold"`): `predict` takes it from the examples.
        """
        if self.model.gold_ranker:
            raise ValueError(
                "A model with ranker='gold' needs the true relevance of every passage: use "
                f"`predict` with examples that know it. Received: model={self.model.name!r}"
            )
        return next(self._answers([(question, passages, None)], style, options))

    def predict(
        self,
        examples: Iterable[Record],
        batch_size: int = 32,
        style: str | None = None,
        **options: Any,
    ) -> Iterator[Answer]:
        """Answers many questions, one batch at a time, in their order.

        Args:
            examples: objects with `question` and `passages`, as `tfmrc.data.Example`; any
                iterable, read as the answers are taken. A model with `ranker="gold"` also reads
                their `relevance`, a truth value a passage.
            batch_size: how many are answered at once.
            style: one of `preprocessor.styles`; None for the first.
            **options: see `tfmrc.predictors.DecodingOptions`.

        Yields:
            One `tfmrc.predictors.Answer` an example.

        Raises:
            ValueError: for an unknown style or a batch size below 1.
        """
        if batch_size < 1:
            raise ValueError(f"`batch_size` must be 1 or more. Received: batch_size={batch_size!r}")
        stream = iter(examples)
        while batch := [
            (x.question, x.passages, getattr(x, "relevance", None))
            for x in islice(stream, batch_size)
        ]:
            yield from self._answers(batch, style, options)

    def read(
        self,
        question: Sequence[str],
        passages: Sequence[Sequence[str]],
        style: str | Sequence[str] | None = None,
        relevance: Sequence[Sequence[bool] | None] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """The arrays that the exported signature gives for the same strings (see `masque_signature`).

        Args:
            question: `B` questions.
            passages: `B` sequences of passages, of any number.
            style: one style for all, or `B` styles; None for the first of `preprocessor.styles`.
            relevance: only for a model with `ranker="gold"`, which needs it: which passages are
                relevant; None where that is unknown.
            **options: see `tfmrc.predictors.DecodingOptions`.
        """
        if style is None:
            style = self.preprocessor.styles[0]
        styles = [style] * len(question) if isinstance(style, str) else list(style)
        for name in styles:
            if name not in self.preprocessor.styles:
                raise ValueError(
                    f"`style` must be one of {', '.join(self.preprocessor.styles)}. "
                    f"Received: style={name!r}"
                )
        for several in passages:
            if isinstance(several, str):
                raise ValueError(
                    "`passages` must be a sequence of strings: put a single passage in a list. "
                    f"Received: passages={several!r}"
                )
        width = max((len(several) for several in passages), default=0)
        rows = [text for several in passages for text in [*several, *[""] * (width - len(several))]]
        gold = []
        if self.model.gold_ranker:
            gold = [_matrix(relevance or [None] * len(question), width)]
        outputs = self._reading(DecodingOptions(**options))(
            strings(question),
            tf.reshape(strings(rows), [len(question), width]),
            strings(styles),
            *gold,
        )
        return {name: value.numpy() for name, value in outputs.items()}

    def export(
        self,
        path: str | PathLike[str],
        *,
        overwrite: bool = False,
        metrics: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Path:
        """Writes a SavedModel that takes plain strings; see `tfmrc.predictors.export_saved_model`.

        Args:
            path: `<folder>/<name>/<version>`; the version is a number.
            overwrite: whether a version that exists is replaced.
            metrics: figures for the model card; None for `self.metrics`.
            **options: see `tfmrc.predictors.DecodingOptions`; they are fixed in the export.

        Returns:
            The version's folder.
        """
        return export_saved_model(
            self.model,
            self.preprocessor,
            path,
            DecodingOptions(**options),
            metrics=self.metrics if metrics is None else metrics,
            overwrite=overwrite,
        )

    def check_agreement(self) -> None:
        """Raises a ValueError if model and preprocessor were not made for each other."""
        super().check_agreement()
        model, preprocessor = self.model, self.preprocessor
        self.compare(
            {
                "num_passages": (model.num_passages, preprocessor.num_passages),
                "num_styles": (model.num_styles, len(preprocessor.styles)),
            }
        )

    def _reading(self, options: Any) -> Any:
        if options not in self._readings:
            self._readings[options] = self.masque_signature(self.model, self.preprocessor, options)
        return self._readings[options]

    def _answers(
        self,
        batch: list[tuple[str, Sequence[str], Sequence[bool] | None]],
        style: str | None,
        options: Mapping[str, Any],
    ) -> Iterator[Answer]:
        questions, passages, relevance = zip(*batch, strict=True)
        outputs = self.read(questions, passages, style, relevance, **options)
        for row, several in enumerate(passages):
            yield Answer.from_outputs(outputs, row, num_passages=len(several))


def _matrix(relevance: Sequence[Sequence[bool] | None], width: int) -> tf.Tensor:
    """int32 `[B, K]`: 1, 0, and -1 where it is unknown or there is no passage."""
    rows = [[int(value) for value in several or ()] for several in relevance]
    filled = [(row + [UNKNOWN] * width)[:width] for row in rows]
    return tf.constant(filled, tf.int32, [len(rows), width])
