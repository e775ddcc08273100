"""Strings in, answers out: a model and its features as one object."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import tensorflow as tf

from tfmrc import text
from tfmrc.serving.answer import Answer
from tfmrc.serving.export import export_saved_model
from tfmrc.serving.fitted import Fitted, strings
from tfmrc.serving.options import DecodingOptions
from tfmrc.serving.reading import make_reading
from tfmrc.text.labels import UNKNOWN

__all__ = ["Reader", "Record"]


class Record(Protocol):
    """What `Reader.predict` needs of an example."""

    @property
    def question(self) -> str: ...

    @property
    def passages(self) -> Sequence[str]: ...


class Reader(Fitted):
    """Answers questions from passages: what a user holds, and what is exported.

    The keyword arguments that choose how an answer is searched for (`num_beams`, `num_return`,
    `length_penalty`, `min_length`, `max_length`, `jit_compile`) are those of
    `tfmrc.serving.DecodingOptions`. The graph of each combination is built once and kept.

    The weights used are those that the model holds at the moment. To use an optimizer's moving
    average while a training goes on, see `tfmrc.training.averaged_weights`.

    Args:
        model: a `tfmrc.models.Masque`, or a model with the same decoding methods.
        features: the `tfmrc.text.MasqueFeatures` that it was trained with.

    Raises:
        ValueError: if model and features disagree on passages, styles or vocabulary.

    Example:

    >>> from tfmrc import Reader, models, text
    >>> words = "how tall is k2 metres it stands high".split()
    >>> features = text.MasqueFeatures(text.Vocabulary(words), ("qa", "nlg"), num_passages=2)
    >>> model = models.Masque(
    ...     vocabulary_size=12, num_styles=2, num_passages=2, word_dim=8, hidden_dim=8,
    ...     num_heads=2, intermediate_dim=8, num_shared_blocks=1, num_question_blocks=1,
    ...     num_passage_blocks=1, num_decoder_blocks=1)
    >>> reader = Reader(model, features)
    >>> answer = reader.answer("How tall is K2?", ["K2 is 8,611 metres high."], max_length=3)
    >>> len(answer.words) <= 3 and answer.words[0].source in ("vocabulary", "question", "passage")
    True
    """

    features_class: type = text.MasqueFeatures
    options_class: type = DecodingOptions
    make_reading: Callable[[Any, Any, Any], Any] = staticmethod(make_reading)

    def __new__(cls, model: Any, features: Any, *arguments: Any, **options: Any) -> "Reader":
        """`Reader(model, features)` makes the reader that the features are for."""
        if cls is Reader and isinstance(features, text.SanFeatures):
            from tfmrc.serving.span_reader import SpanReader

            return super().__new__(SpanReader)
        return super().__new__(cls)

    def __init__(self, model: Any, features: Any):
        super().__init__(model, features)
        self._readings: dict[DecodingOptions, Any] = {}

    def __repr__(self) -> str:
        return (
            f"<Reader of {self.model.name!r}: {self.features.num_passages} passages, "
            f"styles {', '.join(self.features.styles)}>"
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
            style: one of `features.styles`; None for the first.
            **options: see `tfmrc.serving.DecodingOptions`.

        Returns:
            `tfmrc.serving.Answer`.

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
            style: one of `features.styles`; None for the first.
            **options: see `tfmrc.serving.DecodingOptions`.

        Yields:
            One `tfmrc.serving.Answer` an example.

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
        """The arrays that the exported signature gives for the same strings (see `make_reading`).

        Args:
            question: `B` questions.
            passages: `B` sequences of passages, of any number.
            style: one style for all, or `B` styles; None for the first of `features.styles`.
            relevance: only for a model with `ranker="gold"`, which needs it: which passages are
                relevant; None where that is unknown.
            **options: see `tfmrc.serving.DecodingOptions`.
        """
        if style is None:
            style = self.features.styles[0]
        styles = [style] * len(question) if isinstance(style, str) else list(style)
        for name in styles:
            if name not in self.features.styles:
                raise ValueError(
                    f"`style` must be one of {', '.join(self.features.styles)}. "
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
        """Writes a SavedModel that takes plain strings; see `tfmrc.serving.export_saved_model`.

        Args:
            path: `<folder>/<name>/<version>`; the version is a number.
            overwrite: whether a version that exists is replaced.
            metrics: figures for the model card; None for `self.metrics`.
            **options: see `tfmrc.serving.DecodingOptions`; they are fixed in the export.

        Returns:
            The version's folder.
        """
        return export_saved_model(
            self.model,
            self.features,
            path,
            DecodingOptions(**options),
            metrics=self.metrics if metrics is None else metrics,
            overwrite=overwrite,
        )

    def check_agreement(self) -> None:
        """Raises a ValueError if model and features were not made for each other."""
        super().check_agreement()
        model, features = self.model, self.features
        self.compare(
            {
                "num_passages": (model.num_passages, features.num_passages),
                "num_styles": (model.num_styles, len(features.styles)),
            }
        )

    def _reading(self, options: Any) -> Any:
        if options not in self._readings:
            self._readings[options] = self.make_reading(self.model, self.features, options)
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
