"""Strings in, spans out: a model that finds answers in passages, and its preprocessor."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from tfmrc import preprocessing
from tfmrc.predictors.base import Predictor, strings
from tfmrc.predictors.export import WARMUP_PASSAGES, WARMUP_QUESTION, write_saved_model
from tfmrc.predictors.masque import MasquePredictor, Record
from tfmrc.predictors.options import SpanOptions
from tfmrc.predictors.san_signature import san_signature
from tfmrc.predictors.span_answer import SpanAnswer

__all__ = ["Ranker", "SANPredictor", "Tagger"]

Ranker = Callable[[str, Sequence[str]], Sequence[float]]
"""From a question and its passages to one relevance a passage."""

Tagger = Callable[[Sequence[str], Sequence[str]], Mapping[str, Sequence[str]]]
"""From B questions and B passages to what `preprocessor.annotations` names, B strings each."""


class SANPredictor(MasquePredictor):
    """Answers questions with spans of passages: what a user holds, and what is exported.

    The keyword arguments that choose how a span is searched for (`num_return_sequences`, `max_length`,
    `num_steps`, `return_steps`) are those of `tfmrc.predictors.SpanOptions`. `MasquePredictor(model, preprocessor)`
    makes a `SANPredictor` where the preprocessor are those of spans.

    Args:
        model: a `tfmrc.models.SAN`.
        preprocessor: the `tfmrc.preprocessing.SANPreprocessor` that it was trained with.
        tagger: makes the annotations that the preprocessor ask for.

    Raises:
        ValueError: if model and preprocessor disagree.

    Example:

    >>> from tfmrc import MasquePredictor, models, preprocessing, text
    >>> preprocessor = preprocessing.SANPreprocessor(text.Vocabulary("how tall is k2 metres".split()))
    >>> model = models.SAN(vocabulary_size=9, word_dim=8, units=4, align_dim=4)
    >>> predictor = MasquePredictor(model, preprocessor)
    >>> passage = "K2 is 8,611 metres high."
    >>> answer = predictor.answer("How tall is K2?", passage, num_return_sequences=2)
    >>> answer.text == passage[answer.start : answer.end], len(answer.alternatives)
    (True, 1)
    """

    preprocessor_class = preprocessing.SANPreprocessor
    options_class = SpanOptions
    masque_signature = staticmethod(san_signature)

    def __init__(self, model: Any, preprocessor: Any, tagger: Tagger | None = None):
        super().__init__(model, preprocessor)
        self.tagger = tagger

    def __repr__(self) -> str:
        tags = ", ".join(self.preprocessor.annotations) or "no tags"
        return f"<SANPredictor of {self.model.name!r}: {tags}>"

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
            **options: see `tfmrc.predictors.SpanOptions`.

        Returns:
            `tfmrc.predictors.SpanAnswer`.
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
            **options: see `tfmrc.predictors.SpanOptions`.

        Yields:
            One `tfmrc.predictors.SpanAnswer` an example.
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
            annotations: what `preprocessor.annotations` names; None: the tagger makes them.
            **options: see `tfmrc.predictors.SpanOptions`.

        Raises:
            ValueError: annotations are needed and nobody makes them.
        """
        wanted = self.preprocessor.annotations
        if annotations is None and wanted:
            if self.tagger is None:
                raise ValueError(
                    f"This model was trained with {', '.join(wanted)} of the tagger "
                    f"{self.model.tagger!r}: pass `annotations`, or build the predictor with a "
                    "`tagger`. Received: annotations=None"
                )
            annotations = self.tagger(question, passage)
        columns = [question, passage, *((annotations or {})[name] for name in wanted)]
        outputs = self._reading(SpanOptions(**options))(*map(strings, columns))
        return {name: value.numpy() for name, value in outputs.items()}

    def check_agreement(self) -> None:
        """Raises a ValueError if model and preprocessor were not made for each other."""
        Predictor.check_agreement(
            self
        )  # a span predictor has neither styles nor a number of passages
        model, preprocessor = self.model, self.preprocessor
        pairs = {
            "num_exact_match": (model.num_exact_match, preprocessor.num_exact_match),
            "num_pos": (model.num_pos, preprocessor.num_tags["pos"]),
            "num_ner": (model.num_ner, preprocessor.num_tags["ner"]),
        }
        self.compare(pairs)
        if preprocessor.annotations and not model.tagger:
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
        """Writes a SavedModel that takes plain strings; see `tfmrc.predictors.san_signature`.

        The arguments are those of `MasquePredictor.export`, the options those of `SpanOptions`.
        """
        chosen = SpanOptions(**options)
        warmup = {"question": [WARMUP_QUESTION], "passage": [WARMUP_PASSAGES[0]]}
        return write_saved_model(
            self.model,
            self.preprocessor,
            path,
            chosen,
            signatures={
                "serving_default": self.masque_signature(self.model, self.preprocessor, chosen)
            },
            warmup={} if self.preprocessor.annotations else warmup,  # whose tags nobody knows
            max_length=chosen.max_length or self.preprocessor.answer_length,
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
