"""A callback that ends training after a time limit, interruptions included."""

import time
from typing import Any

import keras


class TimeLimit(keras.callbacks.Callback):
    """Stops `fit` after a number of minutes, including those before a resume.

    Validation counts. The last epoch ends like any other, with validation and a checkpoint.
    `reached` is True if the limit ended training.

    Args:
        minutes: float or None. The limit; None for no limit, but the time is still measured.

    Example:

    >>> from tfmrc import training
    >>> training.TimeLimit(minutes=15).get_state()
    {'seconds': 0.0}
    """

    def __init__(self, minutes: float | None) -> None:
        super().__init__()
        self.minutes = minutes
        self.reached = False
        self._before = 0.0
        self._began: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds that `fit` has run."""
        return self._before + (0.0 if self._began is None else time.monotonic() - self._began)

    def get_state(self) -> dict[str, Any]:
        """Returns the time so far, for a checkpoint."""
        return {"seconds": self.seconds}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restores what `get_state` returned."""
        self._before = float(state["seconds"])

    def on_train_begin(self, logs: Any = None) -> None:
        self._began = time.monotonic()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.minutes is not None and self.seconds >= 60 * self.minutes:
            self.reached = True
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        self._before, self._began = self.seconds, None
