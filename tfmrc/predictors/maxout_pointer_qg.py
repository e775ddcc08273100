"""Passage and answer in, questions out: a model and its preprocessor as one object."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc import preprocessing
from tfmrc.predictors.base import Predictor, strings
from tfmrc.predictors.export import write_saved_model
from tfmrc.predictors.generated import GeneratedQuestion
from tfmrc.predictors.maxout_pointer_qg_signature import MAX_ANSWERS, maxout_pointer_qg_signatures
from tfmrc.predictors.options import DecodingOptions

__all__ = ["MaxoutPointerQGPredictor"]

WARMUP = {"passage": ["The hill is 310 metres high."], "answer": ["310 metres"]}
FIRST = -1


class MaxoutPointerQGPredictor(Predictor):
    """Asks questions about answers in passages: what a user holds, and what is exported.

    The keyword arguments that choose how a question is searched for are those of
    `tfmrc.predictors.DecodingOptions`. The graph of each combination is built once and kept.

    Args:
        model: a `tfmrc.models.MaxoutPointerQG`, or a model with the same decoding methods.
        preprocessor: the `tfmrc.preprocessing.MaxoutPointerQGPreprocessor` that it was trained with.

    Raises:
        ValueError: model and preprocessor disagree on the vocabulary.

    Example:

    >>> from tfmrc import models, preprocessing, text
    >>> from tfmrc.predictors import MaxoutPointerQGPredictor
    >>> words = "how tall is k2 metres it stands high ?".split()
    >>> preprocessor = preprocessing.MaxoutPointerQGPreprocessor(text.Vocabulary(words))
    >>> model = models.MaxoutPointerQG(vocabulary_size=13, word_dim=8, hidden_dim=8)
    >>> predictor = MaxoutPointerQGPredictor(model, preprocessor)
    >>> [asked] = predictor.ask("K2 is 8,611 metres high.", "8,611 metres", max_length=4)
    >>> asked.answer_start, 0 < asked.probability < 1
    (6, True)
    """

    preprocessor_class = preprocessing.MaxoutPointerQGPreprocessor

    def __init__(self, model: Any, preprocessor: Any):
        super().__init__(model, preprocessor)
        self._signatures: dict[tuple[DecodingOptions, int], Any] = {}

    def ask(
        self, passage: str, answer: str, answer_start: int | None = None, **options: Any
    ) -> list[GeneratedQuestion]:
        """Questions about an answer, best first: `num_return_sequences` of them.

        Args:
            passage: the passage.
            answer: a part of it.
            answer_start: its first character; None for its first occurrence.
            **options: see `tfmrc.predictors.DecodingOptions`.

        Raises:
            tf.errors.InvalidArgumentError: the answer does not stand in the passage.
        """
        start = FIRST if answer_start is None else answer_start
        return next(self._asked([(passage, answer, start)], options))

    def predict(
        self,
        passages: Iterable[tuple[str, str, int]],
        batch_size: int = 32,
        **options: Any,
    ) -> Iterator[list[GeneratedQuestion]]:
        """Questions about many answers, a batch at a time, in their order.

        Args:
            passages: passage, answer, and its first character (-1 for its first occurrence).
            batch_size: how many are asked about at once.
            **options: see `tfmrc.predictors.DecodingOptions`.

        Yields:
            For each answer its questions, best first.
        """
        stream = iter(passages)
        while batch := list(islice(stream, batch_size)):
            yield from self._asked(batch, options)

    def propose(
        self,
        passages: Iterable[str],
        batch_size: int = 8,
        max_answers: int = MAX_ANSWERS,
        **options: Any,
    ) -> Iterator[list[GeneratedQuestion]]:
        """Questions about answers that are found in passages: numbers and names, by their looks.

        Args:
            passages: the passages.
            batch_size: how many are read at once; every answer is a row of the search.
            max_answers: answers of a passage, the first ones.
            **options: see `tfmrc.predictors.DecodingOptions`.

        Yields:
            For each passage its answers in their order, each with the best question.

        Raises:
            ValueError: the model was trained without answers.
        """
        if not self.preprocessor.with_answers:
            raise ValueError("Answers are proposed to a model of answers. Received: none")
        stream = iter(passages)
        while batch := list(islice(stream, batch_size)):
            found = self.signature("propose", max_answers, **options)(strings(batch))
            arrays = {name: value.numpy() for name, value in found.items()}
            for row in range(len(batch)):
                yield GeneratedQuestion.from_outputs(arrays, row)

    def signature(
        self, name: str = "serving_default", max_answers: int = MAX_ANSWERS, **options: Any
    ) -> Any:
        """The `tf.function` of a signature (see `tfmrc.predictors.maxout_pointer_qg_signatures`)."""
        chosen = DecodingOptions(**options), max_answers
        if chosen not in self._signatures:
            self._signatures[chosen] = maxout_pointer_qg_signatures(
                self.model, self.preprocessor, *chosen
            )
        return self._signatures[chosen][name]

    def export(
        self,
        path: str | PathLike[str],
        *,
        overwrite: bool = False,
        metrics: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Path:
        """Writes a SavedModel on plain strings, with the signatures of `maxout_pointer_qg_signatures`.

        Args:
            path: `<folder>/<name>/<version>`; the version is a number.
            overwrite: whether a version that exists is replaced.
            metrics: figures for the model card; None for `self.metrics`.
            **options: see `tfmrc.predictors.DecodingOptions`; they are fixed in the export.

        Returns:
            The version's folder.
        """
        chosen = DecodingOptions(**options)
        return write_saved_model(
            self.model,
            self.preprocessor,
            path,
            chosen,
            signatures=maxout_pointer_qg_signatures(self.model, self.preprocessor, chosen),
            warmup=WARMUP,
            max_length=chosen.max_length or self.preprocessor.question_length + 1,
            metrics=self.metrics if metrics is None else metrics,
            overwrite=overwrite,
        )

    def _asked(
        self, batch: Sequence[tuple[str, str, int]], options: Mapping[str, Any]
    ) -> Iterator[list[GeneratedQuestion]]:
        passages, answers, starts = zip(*batch, strict=True)
        texts = strings(passages), strings(answers)
        if self.preprocessor.with_answers:
            found = self.signature("at", **options)(*texts, tf.constant(starts, tf.int32))
        else:
            found = self.signature(**options)(*texts)
        arrays = {name: value.numpy() for name, value in found.items()}
        for row, answer in enumerate(answers):
            yield GeneratedQuestion.from_outputs(arrays, row, answer)
