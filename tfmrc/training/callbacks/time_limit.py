"""A callback that ends training after a time limit, interruptions included."""

import statistics
import time
from collections import deque
from typing import Any

import keras


class TimeLimit(keras.callbacks.Callback):
    """Stops `fit` after a number of minutes, including those before a resume.

    Validation counts. The last epoch ends like any other, with validation and a checkpoint. With a
    greater limit the run can go on from there (`goes_on`).
    `reached` is True if the limit ended training. `seconds_per_step` is the median of the last
    steps, without the first one, which builds the graph, and without validation.

    Args:
        minutes: float or None. The limit; None for no limit, but the time is still measured.

    Example:

    >>> from tfmrc import training
    >>> training.TimeLimit(minutes=15).get_state()
    {'seconds': 0.0, 'reached': False, 'batches': 0}
    """

    def __init__(self, minutes: float | None) -> None:
        super().__init__()
        self.minutes = minutes
        self.reached = False
        self._before = 0.0
        self._reached_before = False
        self._began: float | None = None
        self._step_began: float | None = None
        self._steps: deque[float] = deque(maxlen=200)
        self._batches = 0  # of the epoch so far
        self._idle = 0  # of these, the ones before a resume, which `fit` only counts

    @property
    def seconds(self) -> float:
        """Seconds that `fit` has run."""
        return self._before + (0.0 if self._began is None else time.monotonic() - self._began)

    @property
    def seconds_per_step(self) -> float | None:
        """Median time of a step; None before the second step."""
        return statistics.median(self._steps) if self._steps else None

    @property
    def goes_on(self) -> bool:
        """True if a lower limit than this one ended the run that was restored."""
        return self._reached_before and (self.minutes is None or self._before < 60 * self.minutes)

    def get_state(self) -> dict[str, Any]:
        """Returns the time so far and whether it is over, for a checkpoint."""
        return {"seconds": self.seconds, "reached": self.reached, "batches": self._batches}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restores what `get_state` returned."""
        self._before = float(state["seconds"])
        self._idle = int(state["batches"])
        self._reached_before = bool(state["reached"])
        self.reached = self._reached_before and not self.goes_on

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        self._began = time.monotonic()
        self._step_began = None

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
        self._batches = batch + 1
        if self._batches <= self._idle:
            return
        now = time.monotonic()
        if self._step_began is not None:
            self._steps.append((now - self._step_began) / self.model.steps_per_execution)
        self._step_began = now
        if self.minutes is not None and self.seconds >= 60 * self.minutes:
            self.reached = True
            self.model.stop_training = True

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        if self._step_began is not None:  # ignore the gap between epochs
            self._step_began = time.monotonic()

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self._batches = self._idle = 0

    def on_train_end(self, logs: dict[str, float] | None = None) -> None:
        self._before, self._began = self.seconds, None
