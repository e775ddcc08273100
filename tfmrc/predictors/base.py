"""What every predictor is: a model and the preprocessor that it was trained with, saved as a folder."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self

import tensorflow as tf

from tfmrc.predictors.storage import load_parts, save_parts

__all__ = ["Predictor", "strings"]


class Predictor:
    """A model and its preprocessor, which were made for each other.

    Args:
        model: the model.
        preprocessor: its preprocessor.

    Raises:
        ValueError: the preprocessor are another predictor's, or model and preprocessor disagree.
    """

    preprocessor_class: type = object

    def __init__(self, model: Any, preprocessor: Any):
        if not isinstance(preprocessor, self.preprocessor_class):
            raise ValueError(
                f"A {type(self).__name__} reads with {self.preprocessor_class.__name__}; "
                "tfmrc.predictors.load_predictor loads any saved predictor. "
                f"Received: preprocessor={type(preprocessor).__name__}"
            )
        self.model = model
        self.preprocessor: Any = preprocessor
        self.metrics: dict[str, Any] = {}
        self.check_agreement()

    def check_agreement(self) -> None:
        """Raises a ValueError if model and preprocessor were not made for each other."""
        model, preprocessor = self.model, self.preprocessor
        self.compare(
            {
                "vocabulary_size": (
                    model.get_config().get("vocabulary_size"),
                    len(preprocessor.vocabulary),
                ),
                "generable words": (
                    getattr(model, "num_generable", None),
                    getattr(preprocessor, "generation_vocabulary_size", None),
                ),
            }
        )

    def compare(self, pairs: Mapping[str, tuple[Any, Any]]) -> None:
        """Raises a ValueError where model (first) and preprocessor differ; None is not compared."""
        for name, (of_model, of_preprocessor) in pairs.items():
            if of_model is not None and of_model != of_preprocessor:
                raise ValueError(
                    f"Model and preprocessor were built with different {name}. "
                    f"Received: model={of_model!r}, preprocessor={of_preprocessor!r}"
                )

    def save_to(
        self, folder: str | PathLike[str], metrics: Mapping[str, Any] | None = None
    ) -> Path:
        """Saves weights, configuration, vocabulary, tool versions and metrics into one folder.

        Args:
            folder: made if it does not exist; a predictor saved there before is replaced.
            metrics: any JSON; None for `self.metrics`.

        Returns:
            The folder.
        """
        metrics = self.metrics if metrics is None else metrics
        return save_parts(self.model, self.preprocessor, folder, metrics)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Loads what `save_to` saved. Runs no code from the folder.

        Raises:
            FileNotFoundError: if the folder is not a saved predictor.
            ValueError: if it is damaged, newer than this tfmrc, or of an unknown class.
        """
        model, preprocessor, metrics = load_parts(folder)
        predictor = cls(model, preprocessor)
        predictor.metrics = metrics
        return predictor


def strings(texts: Sequence[str]) -> tf.Tensor:
    """UTF-8 strings `[B]`; lone surrogates, which UTF-8 cannot hold, become question marks."""
    return tf.constant([t.encode("utf-8", "replace") for t in texts], tf.string, [len(texts)])
