"""A saved reader of whatever kind."""

import importlib
from os import PathLike
from typing import Any

from tfmrc.serving.fitted import Fitted
from tfmrc.serving.storage import load_parts

__all__ = ["load_reader"]

READERS = {"QuestionFeatures": "asker.Asker", "DAANetFeatures": "dual_reader.DualReader"}


def load_reader(folder: str | PathLike[str]) -> Any:
    """Loads what any reader's `save_to` saved, as the reader that its features are for.

    Args:
        folder: the reader's folder.

    Returns:
        A `tfmrc.serving.Reader`, `SpanReader`, `Asker` or `DualReader`.

    Raises:
        FileNotFoundError, ValueError: as `Reader.load`.
    """
    model, features, metrics = load_parts(folder)
    home, name = READERS.get(type(features).__name__, "reader.Reader").split(".")
    kind = getattr(importlib.import_module(f"tfmrc.serving.{home}"), name)
    reader: Fitted = kind(model, features)
    reader.metrics = metrics
    return reader
