"""What every reader is: a model and the features that it was trained with, saved as a folder."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self

import tensorflow as tf

from tfmrc.serving.storage import load_parts, save_parts

__all__ = ["Fitted", "strings"]


class Fitted:
    """A model and its features, which were made for each other.

    Args:
        model: the model.
        features: its features.

    Raises:
        ValueError: the features are another reader's, or model and features disagree.
    """

    features_class: type = object

    def __init__(self, model: Any, features: Any):
        if not isinstance(features, self.features_class):
            raise ValueError(
                f"A {type(self).__name__} reads with {self.features_class.__name__}; "
                "tfmrc.serving.load_reader loads any saved reader. "
                f"Received: features={type(features).__name__}"
            )
        self.model = model
        self.features: Any = features
        self.metrics: dict[str, Any] = {}
        self.check_agreement()

    def check_agreement(self) -> None:
        """Raises a ValueError if model and features were not made for each other."""
        model, features = self.model, self.features
        self.compare(
            {
                "vocabulary_size": (
                    model.get_config().get("vocabulary_size"),
                    len(features.vocabulary),
                ),
                "generable words": (
                    getattr(model, "num_generable", None),
                    getattr(features, "generation_vocabulary_size", None),
                ),
            }
        )

    def compare(self, pairs: Mapping[str, tuple[Any, Any]]) -> None:
        """Raises a ValueError where model (first) and features differ; None is not compared."""
        for name, (of_model, of_features) in pairs.items():
            if of_model is not None and of_model != of_features:
                raise ValueError(
                    f"Model and features were built with different {name}. "
                    f"Received: model={of_model!r}, features={of_features!r}"
                )

    def save_to(
        self, folder: str | PathLike[str], metrics: Mapping[str, Any] | None = None
    ) -> Path:
        """Saves weights, configuration, vocabulary, tool versions and metrics into one folder.

        Args:
            folder: made if it does not exist; a reader saved there before is replaced.
            metrics: any JSON; None for `self.metrics`.

        Returns:
            The folder.
        """
        metrics = self.metrics if metrics is None else metrics
        return save_parts(self.model, self.features, folder, metrics)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Loads what `save_to` saved. Runs no code from the folder.

        Raises:
            FileNotFoundError: if the folder is not a saved reader.
            ValueError: if it is damaged, newer than this tfmrc, or of an unknown class.
        """
        model, features, metrics = load_parts(folder)
        reader = cls(model, features)
        reader.metrics = metrics
        return reader


def strings(texts: Sequence[str]) -> tf.Tensor:
    """UTF-8 strings `[B]`; lone surrogates, which UTF-8 cannot hold, become question marks."""
    return tf.constant([t.encode("utf-8", "replace") for t in texts], tf.string, [len(texts)])
