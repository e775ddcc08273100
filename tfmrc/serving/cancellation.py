"""Cancels a running call of TensorFlow.

TensorFlow has no public API for this. Its private module keeps the active cancellation manager in
a global variable, so that calls in other threads would be cancelled too; here each thread has its
own.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from tensorflow.python.eager import cancellation

_LOCAL = threading.local()
_LOCK = threading.Lock()


class Cancellation:
    """Cancels the calls that run in its context, including later ones.

    Example:

    >>> import tensorflow as tf
    >>> from tfmrc.serving.cancellation import Cancellation
    >>> cancellation = Cancellation()
    >>> with cancellation.active():
    ...     int(tf.function(lambda x: x + 1)(1))
    2
    """

    def __init__(self) -> None:
        _install()
        self._manager = cancellation.CancellationManager()

    def cancel(self) -> None:
        """Cancels; the calls raise `tf.errors.CancelledError`."""
        self._manager.start_cancel()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Context in which the thread's calls can be cancelled; raises if they already are."""
        if self._manager.is_cancelled:
            raise CancelledError
        _LOCAL.manager = self._manager
        try:
            yield
        finally:
            _LOCAL.manager = None


def _install() -> None:
    """Lets TensorFlow find the thread's manager before the global one."""
    with _LOCK:
        if hasattr(cancellation.context, "of_process"):
            return
        of_process = cancellation.context

        def context() -> Any:
            return getattr(_LOCAL, "manager", None) or of_process()

        context.of_process = of_process  # type: ignore[attr-defined]
        cancellation.context = context
