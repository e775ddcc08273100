"""Checks that a graph can be used: in the process that made it, and on TensorFlow."""

import os
from typing import Any

import keras


class NotPickled:
    """Mixin of predictors, whose graphs belong to one process."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Raises a TypeError: a child that unpickled a predictor would fail, again and again."""
        raise TypeError(
            "A predictor is not pickled: give the child process its folder, and load it there with "
            f"`tfmrc.load(folder)`. Received: {self!r}"
        )


_first: int | None = None  # the process in which the first predictor was made or loaded


def this_process() -> int:
    """Returns the id of this process, in which a predictor is about to be made or loaded.

    Raises:
        RuntimeError: If it was forked after another process had made or loaded one.
    """
    global _first
    if _first is None:
        _first = os.getpid()
    check_process(_first)
    return _first


def check_process(owner: int) -> None:
    """Raises a RuntimeError in a process that was forked after a graph was made or loaded.

    TensorFlow's threads are missing there, so that a call would never return, also of a graph that
    is loaded there.

    Args:
        owner: int. The id of the process that made it, `this_process()`.

    Raises:
        RuntimeError: In another process.
    """
    if os.getpid() != owner:
        raise RuntimeError(
            "TensorFlow does not work in a process that was forked after it was used. Load the "
            "predictor in a process that is started by `spawn`, or in one that is forked before "
            "the first predictor is loaded."
        )


def check_backend() -> None:
    """Raises a RuntimeError unless Keras runs on TensorFlow, whose graphs read strings."""
    backend = keras.backend.backend()
    if backend != "tensorflow":
        raise RuntimeError(
            "A predictor reads strings in a graph of TensorFlow: set KERAS_BACKEND=tensorflow "
            "before Keras is imported. On other backends `predictor.model` reads the ids that "
            f"`predictor.preprocessor` makes. Received: backend={backend!r}"
        )
