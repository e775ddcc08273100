"""Check that a graph is used in the process that made it."""

import os

__all__ = ["check_process"]


def check_process(owner: int) -> None:
    """Raises a RuntimeError in a process that was forked after a graph was made or loaded.

    TensorFlow's threads are missing there, so that a call would never return.

    Args:
        owner: int. The id of the process that made it, `os.getpid()`.

    Raises:
        RuntimeError: In another process.
    """
    if os.getpid() != owner:
        raise RuntimeError(
            "TensorFlow does not work in a process that was forked after it was used. Load the "
            "predictor in the new process, or start processes by `spawn`."
        )
