"""A callback that saves a checkpoint when the process is interrupted."""

import signal
import sys
import threading
from types import FrameType
from typing import Any, NoReturn, Self

import keras

from tfmrc.training.callbacks.checkpoint import Checkpoint


class TrainingInterrupted(KeyboardInterrupt):
    """Raised when an interrupted training has saved its checkpoint.

    Args:
        step: int. Number of completed steps.
        folder: path. The folder of the checkpoints.
    """

    def __init__(self, step: int, folder: Any) -> None:
        super().__init__(f"Interrupted after step {step:,}; the checkpoint is in {folder}")
        self.step = step
        self.folder = folder


class SaveOnInterrupt(keras.callbacks.Callback):
    """Ends `fit` after the current step when the process gets SIGINT, with a checkpoint.

    `fit` raises `TrainingInterrupted`, a `KeyboardInterrupt`. An interruption during validation
    takes effect after it, because the end of an epoch is saved as a whole. A second interruption
    ends the process at once, without a checkpoint.

    It is used as a context manager around `fit`, and as the callback that follows `Checkpoint`.
    Outside the main thread, where Python allows no signal handlers, it does nothing.

    Args:
        checkpoint: `Checkpoint`. The checkpoint of the same `fit`.

    Example:

    >>> import tempfile
    >>> import keras, numpy as np
    >>> from tfmrc import training
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> run = training.callbacks(tempfile.mkdtemp(), ema_weights=False, monitor=None)
    >>> with training.SaveOnInterrupt(run.checkpoint) as interrupt:
    ...     history = model.fit(np.ones((8, 1)), np.zeros((8, 1)), verbose=0,
    ...                         callbacks=[*run, interrupt])
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__()
        self.checkpoint = checkpoint
        self.is_interrupted = False
        self._previous: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            self._previous = None

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.is_interrupted:
            raise KeyboardInterrupt
        self.is_interrupted = True
        print(
            "\nInterrupted: a checkpoint is saved after this step. Again: stop without it.",
            file=sys.stderr,
            flush=True,
        )

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
        if self.is_interrupted:
            self.checkpoint.save(logs)
            self._raise()

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        if self.is_interrupted:  # the checkpoint has saved the end of the epoch
            self._raise()

    def _raise(self) -> NoReturn:
        raise TrainingInterrupted(self.checkpoint.step, self.checkpoint.folder)
