"""Pretrained word vectors and encoders.

Names are imported when they are first used: word vectors do not load TensorFlow.
"""

import importlib
from typing import Any

_HOME = {
    "ELMo": "elmo",
    "WordVectors": "word_vectors",
    "elmo_character_ids": "elmo_characters",
    "elmo_generable_characters": "elmo_characters",
    "load_elmo": "elmo_weights",
    "load_word_vectors": "word_vector_files",
    "rows_from_subwords": "word_vectors",
    "set_vectors": "word_vectors",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}"
    )


def __dir__() -> list[str]:
    return list(__all__)
