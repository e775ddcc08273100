"""Answers and questions from one object: a dual model and its features."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from tfmrc import text
from tfmrc.serving.dual_reading import make_dual_reading
from tfmrc.serving.export import write_saved_model
from tfmrc.serving.fitted import Fitted, strings
from tfmrc.serving.options import DecodingOptions
from tfmrc.serving.written import Written

__all__ = ["DualReader"]

CONTEXT = "The hill is 310 metres high."
WARMUP = {"answer": ("question", "How high is the hill?"), "ask": ("answer", "310 metres")}


class DualReader(Fitted):
    """Answers questions and asks about answers: what a user holds, and what is exported.

    The keyword arguments that choose how words are searched for are those of
    `tfmrc.serving.DecodingOptions`. The graph of each combination is built once and kept.

    Args:
        model: a `tfmrc.models.DAANet`.
        features: the `tfmrc.text.DAANetFeatures` that it was trained with.

    Raises:
        ValueError: model and features disagree on the vocabulary or the characters.

    Example:

    >>> from tfmrc import models, text
    >>> from tfmrc.serving import DualReader
    >>> features = text.DAANetFeatures(text.Vocabulary("how high is it ?".split()))
    >>> model = models.DAANet(vocabulary_size=9, word_dim=4, character_dim=4, hidden_dim=4,
    ...                       num_lstm_layers=1, num_heads=2, inner_dim=4)
    >>> reader = DualReader(model, features)
    >>> [answer] = reader.answer("How high is it?", "It is 8,611 metres high.", max_length=3)
    >>> [first, second] = reader.ask(
    ...     "8,611", "It is 8,611 metres high.", max_length=3, num_beams=2, num_return=2)
    >>> first.probability >= second.probability
    True
    """

    features_class = text.DAANetFeatures

    def __init__(self, model: Any, features: Any):
        super().__init__(model, features)
        self._signatures: dict[DecodingOptions, Any] = {}

    def check_agreement(self) -> None:
        """Raises a ValueError if model and features were not made for each other."""
        of_model, of_features = self.model.get_config(), self.features
        self.compare({"num_characters": (of_model["num_characters"], of_features.num_characters)})
        super().check_agreement()

    def answer(self, question: str, context: str, **options: Any) -> list[Written]:
        """Answers to a question, best first: `num_return` of them."""
        return self.write("answer", [question], [context], **options)[0]

    def ask(self, answer: str, context: str, **options: Any) -> list[Written]:
        """Questions about an answer, best first: `num_return` of them."""
        return self.write("ask", [answer], [context], **options)[0]

    def write(
        self, task: str, given: Sequence[str], contexts: Sequence[str], **options: Any
    ) -> list[list[Written]]:
        """Many at once: for each pair what the task makes of it, best first.

        Args:
            task: "answer" or "ask".
            given: the questions to answer, or the answers to ask about.
            contexts: the contexts.
            **options: see `tfmrc.serving.DecodingOptions`.

        Raises:
            ValueError: the model has not learned the task.
        """
        found = self.signature(task, **options)(strings(given), strings(contexts))
        arrays = {name: value.numpy() for name, value in found.items()}
        return [Written.from_outputs(arrays, row) for row in range(len(contexts))]

    def signature(self, name: str = "serving_default", **options: Any) -> Any:
        """The `tf.function` of a signature (see `tfmrc.serving.make_dual_reading`)."""
        chosen = DecodingOptions(**options)
        if chosen not in self._signatures:
            self._signatures[chosen] = make_dual_reading(self.model, self.features, chosen)
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
        """Writes a SavedModel on plain strings, with the signatures of `make_dual_reading`.

        Args:
            path: `<folder>/<name>/<version>`; the version is a number.
            overwrite: whether a version that exists is replaced.
            metrics: figures for the model card; None for `self.metrics`.
            **options: see `tfmrc.serving.DecodingOptions`; they are fixed in the export.

        Returns:
            The version's folder.
        """
        chosen = DecodingOptions(**options)
        given, words = WARMUP[self.model.tasks[0]]
        longest = max(self.features.question_length, self.features.answer_length)
        return write_saved_model(
            self.model,
            self.features,
            path,
            chosen,
            signatures=make_dual_reading(self.model, self.features, chosen),
            warmup={given: [words], "context": [CONTEXT]},
            max_length=chosen.max_length or longest + 1,
            metrics=self.metrics if metrics is None else metrics,
            overwrite=overwrite,
        )
