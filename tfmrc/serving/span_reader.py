"""Strings in, spans out: a model that finds answers in passages, and its features."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from tfmrc import text
from tfmrc.serving.export import WARMUP_PASSAGES, WARMUP_QUESTION, write_saved_model
from tfmrc.serving.fitted import Fitted, strings
from tfmrc.serving.options import SpanOptions
from tfmrc.serving.reader import Reader, Record
from tfmrc.serving.span_answer import SpanAnswer
from tfmrc.serving.span_reading import make_span_reading

__all__ = ["Ranker", "SpanReader", "Tagger"]

Ranker = Callable[[str, Sequence[str]], Sequence[float]]
"""From a question and its passages to one relevance a passage."""

Tagger = Callable[[Sequence[str], Sequence[str]], Mapping[str, Sequence[str]]]
"""From B questions and B passages to what `features.annotations` names, B strings each."""


class SpanReader(Reader):
    """Answers questions with spans of passages: what a user holds, and what is exported.

    The keyword arguments that choose how a span is searched for (`num_return`, `max_length`,
    `num_steps`, `return_steps`) are those of `tfmrc.serving.SpanOptions`. `Reader(model, features)`
    makes a `SpanReader` where the features are those of spans.

    Args:
        model: a `tfmrc.models.SAN`.
        features: the `tfmrc.text.SanFeatures` that it was trained with.
        tagger: makes the annotations that the features ask for.

    Raises:
        ValueError: if model and features disagree.

    Example:

    >>> from tfmrc import Reader, models, text
    >>> features = text.SanFeatures(text.Vocabulary("how tall is k2 metres".split()))
    >>> model = models.SAN(vocabulary_size=9, word_dim=8, units=4, align_dim=4)
    >>> reader = Reader(model, features)
    >>> passage = "K2 is 8,611 metres high."
    >>> answer = reader.answer("How tall is K2?", passage, num_return=2)
    >>> answer.text == passage[answer.start : answer.end], len(answer.alternatives)
    (True, 1)
    """

    features_class = text.SanFeatures
    options_class = SpanOptions
    make_reading = staticmethod(make_span_reading)

    def __init__(self, model: Any, features: Any, tagger: Tagger | None = None):
        super().__init__(model, features)
        self.tagger = tagger

    def __repr__(self) -> str:
        tags = ", ".join(self.features.annotations) or "no tags"
        return f"<SpanReader of {self.model.name!r}: {tags}>"

    def answer(  # type: ignore[override]
        self,
        question: str,
        passages: str | Sequence[str],
        ranker: Ranker | None = None,
        **options: Any,
    ) -> SpanAnswer:
        """Answers one question from a passage, or from the best of several.

        Args:
            question: the question.
            passages: a passage, or several.
            ranker: gives each passage's relevance, by which the probability of its span is
                multiplied; None: all passages count alike.
            **options: see `tfmrc.serving.SpanOptions`.

        Returns:
            `tfmrc.serving.SpanAnswer`.
        """
        several = (passages,) if isinstance(passages, str) else tuple(passages)
        return next(self._best_answers([(question, several)], ranker, 32, options))

    def predict(  # type: ignore[override]
        self,
        examples: Iterable[Record],
        batch_size: int = 32,
        ranker: Ranker | None = None,
        **options: Any,
    ) -> Iterator[SpanAnswer]:
        """Answers many questions, some at a time, in their order.

        Args:
            examples: objects with `question` and `passages`; any iterable.
            batch_size: how many questions are taken, and passages read, at once.
            ranker: see `answer`.
            **options: see `tfmrc.serving.SpanOptions`.

        Yields:
            One `tfmrc.serving.SpanAnswer` an example.
        """
        if batch_size < 1:
            raise ValueError(f"`batch_size` must be 1 or more. Received: batch_size={batch_size!r}")
        stream = iter(examples)
        while batch := [(x.question, tuple(x.passages)) for x in islice(stream, batch_size)]:
            yield from self._best_answers(batch, ranker, batch_size, options)

    def read(  # type: ignore[override]
        self,
        question: Sequence[str],
        passage: Sequence[str],
        annotations: Mapping[str, Sequence[str]] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """The arrays that the exported signature gives for the same strings.

        Args:
            question: `B` questions.
            passage: `B` passages.
            annotations: what `features.annotations` names; None: the tagger makes them.
            **options: see `tfmrc.serving.SpanOptions`.

        Raises:
            ValueError: annotations are needed and nobody makes them.
        """
        wanted = self.features.annotations
        if annotations is None and wanted:
            if self.tagger is None:
                raise ValueError(
                    f"This model was trained with {', '.join(wanted)} of the tagger "
                    f"{self.model.tagger!r}: pass `annotations`, or build the reader with a "
                    "`tagger`. Received: annotations=None"
                )
            annotations = self.tagger(question, passage)
        columns = [question, passage, *((annotations or {})[name] for name in wanted)]
        outputs = self._reading(SpanOptions(**options))(*map(strings, columns))
        return {name: value.numpy() for name, value in outputs.items()}

    def check_agreement(self) -> None:
        """Raises a ValueError if model and features were not made for each other."""
        Fitted.check_agreement(self)  # a span reader has neither styles nor a number of passages
        model, features = self.model, self.features
        pairs = {
            "num_exact_match": (model.num_exact_match, features.num_exact_match),
            "num_pos": (model.num_pos, features.num_tags["pos"]),
            "num_ner": (model.num_ner, features.num_tags["ner"]),
        }
        self.compare(pairs)
        if features.annotations and not model.tagger:
            raise ValueError(
                "A model that reads tags names the tagger that made them, with its version: "
                f"models.SAN(tagger=...). Received: tagger={model.tagger!r}"
            )

    def export(
        self,
        path: str | PathLike[str],
        *,
        overwrite: bool = False,
        metrics: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Path:
        """Writes a SavedModel that takes plain strings; see `tfmrc.serving.make_span_reading`.

        The arguments are those of `Reader.export`, the options those of `SpanOptions`.
        """
        chosen = SpanOptions(**options)
        warmup = {"question": [WARMUP_QUESTION], "passage": [WARMUP_PASSAGES[0]]}
        return write_saved_model(
            self.model,
            self.features,
            path,
            chosen,
            signatures={"serving_default": self.make_reading(self.model, self.features, chosen)},
            warmup={} if self.features.annotations else warmup,  # whose tags nobody knows
            max_length=chosen.max_length or self.features.answer_length,
            metrics=self.metrics if metrics is None else metrics,
            overwrite=overwrite,
        )

    def _best_answers(self, batch, ranker, batch_size, options):
        pairs = [
            (row, number, question, passage)
            for row, (question, passages) in enumerate(batch)
            for number, passage in enumerate(passages or ("",))
        ]
        found: dict[int, list[SpanAnswer]] = {}
        for first in range(0, len(pairs), batch_size):
            part = pairs[first : first + batch_size]
            outputs = self.read([p[2] for p in part], [p[3] for p in part], **options)
            for place, (row, number, _, _) in enumerate(part):
                answer = SpanAnswer.from_outputs(outputs, place)
                found.setdefault(row, []).append(replace(answer, passage=number))
        for row, (question, passages) in enumerate(batch):
            relevance = [1.0] * len(found[row])
            if ranker is not None and passages:
                relevance = [float(value) for value in ranker(question, passages)]
            weighted = [
                replace(answer, score=answer.probability * weight)
                for answer, weight in zip(found[row], relevance, strict=True)
            ]
            yield max(weighted, key=lambda answer: answer.score)
