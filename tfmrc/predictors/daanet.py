"""Answers and questions from one object: a dual model and its preprocessor."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from tfmrc import preprocessing
from tfmrc.predictors.base import Predictor, strings
from tfmrc.predictors.daanet_signature import daanet_signatures
from tfmrc.predictors.export import write_saved_model
from tfmrc.predictors.generated import GeneratedText
from tfmrc.predictors.options import DecodingOptions

__all__ = ["DAANetPredictor"]

PASSAGE = "The hill is 310 metres high."
WARMUP = {"answer": ("question", "How high is the hill?"), "ask": ("answer", "310 metres")}


class DAANetPredictor(Predictor):
    """Answers questions and asks about answers: what a user holds, and what is exported.

    The keyword arguments that choose how words are searched for are those of
    `tfmrc.predictors.DecodingOptions`. The graph of each combination is built once and kept.

    Args:
        model: a `tfmrc.models.DAANet`.
        preprocessor: the `tfmrc.preprocessing.DAANetPreprocessor` that it was trained with.

    Raises:
        ValueError: model and preprocessor disagree on the vocabulary or the characters.

    Example:

    >>> from tfmrc import models, preprocessing, text
    >>> from tfmrc.predictors import DAANetPredictor
    >>> preprocessor = preprocessing.DAANetPreprocessor(text.Vocabulary("how high is it ?".split()))
    >>> model = models.DAANet(vocabulary_size=9, word_dim=4, character_dim=4, hidden_dim=4,
    ...                       num_lstm_layers=1, num_heads=2, inner_dim=4)
    >>> predictor = DAANetPredictor(model, preprocessor)
    >>> [answer] = predictor.answer("How high is it?", "It is 8,611 metres high.", max_length=3)
    >>> [first, second] = predictor.ask(
    ...     "8,611", "It is 8,611 metres high.", max_length=3, num_beams=2, num_return_sequences=2)
    >>> first.probability >= second.probability
    True
    """

    preprocessor_class = preprocessing.DAANetPreprocessor

    def __init__(self, model: Any, preprocessor: Any):
        super().__init__(model, preprocessor)
        self._signatures: dict[DecodingOptions, Any] = {}

    def check_agreement(self) -> None:
        """Raises a ValueError if model and preprocessor were not made for each other."""
        of_model, of_preprocessor = self.model.get_config(), self.preprocessor
        self.compare(
            {"num_characters": (of_model["num_characters"], of_preprocessor.num_characters)}
        )
        super().check_agreement()

    def answer(self, question: str, passage: str, **options: Any) -> list[GeneratedText]:
        """Answers to a question, best first: `num_return_sequences` of them."""
        return self.write("answer", [question], [passage], **options)[0]

    def ask(self, answer: str, passage: str, **options: Any) -> list[GeneratedText]:
        """Questions about an answer, best first: `num_return_sequences` of them."""
        return self.write("ask", [answer], [passage], **options)[0]

    def write(
        self, task: str, given: Sequence[str], passages: Sequence[str], **options: Any
    ) -> list[list[GeneratedText]]:
        """Many at once: for each pair what the task makes of it, best first.

        Args:
            task: "answer" or "ask".
            given: the questions to answer, or the answers to ask about.
            passages: the passages.
            **options: see `tfmrc.predictors.DecodingOptions`.

        Raises:
            ValueError: the model has not learned the task.
        """
        found = self.signature(task, **options)(strings(given), strings(passages))
        arrays = {name: value.numpy() for name, value in found.items()}
        return [GeneratedText.from_outputs(arrays, row) for row in range(len(passages))]

    def signature(self, name: str = "serving_default", **options: Any) -> Any:
        """The `tf.function` of a signature (see `tfmrc.predictors.daanet_signatures`)."""
        chosen = DecodingOptions(**options)
        if chosen not in self._signatures:
            self._signatures[chosen] = daanet_signatures(self.model, self.preprocessor, chosen)
        if name not in self._signatures[chosen]:
            raise ValueError(
                f"This model has the signatures {sorted(self._signatures[chosen])}. "
                f"Received: name={name!r}"
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
        """Writes a SavedModel on plain strings, with the signatures of `daanet_signatures`.

        Args:
            path: `<folder>/<name>/<version>`; the version is a number.
            overwrite: whether a version that exists is replaced.
            metrics: figures for the model card; None for `self.metrics`.
            **options: see `tfmrc.predictors.DecodingOptions`; they are fixed in the export.

        Returns:
            The version's folder.
        """
        chosen = DecodingOptions(**options)
        given, words = WARMUP[self.model.tasks[0]]
        longest = max(self.preprocessor.question_length, self.preprocessor.answer_length)
        return write_saved_model(
            self.model,
            self.preprocessor,
            path,
            chosen,
            signatures=daanet_signatures(self.model, self.preprocessor, chosen),
            warmup={given: [words], "passage": [PASSAGE]},
            max_length=chosen.max_length or longest + 1,
            metrics=self.metrics if metrics is None else metrics,
            overwrite=overwrite,
        )
