"""A callback that reports the progress of training, for a log file."""

import time

import keras


class ProgressLog(keras.callbacks.Callback):
    """Prints the step, the loss and the time left at intervals.

    It is meant for output that is not a terminal, where the progress bar of `fit` cannot be shown
    and an epoch may take hours. The time left is estimated from the steps since the line before,
    so the first line, whose steps include the construction of the graph, does not have it.

    Args:
        every_seconds: float. Smallest time between two lines. Default: 60.
        first_step: int or None. Number of steps before this call of `fit`, of a training that is
            resumed; None for those of the epochs before `initial_epoch`. Default: None.
        steps: int or None. Number of all steps; None for those of all epochs. Default: None.

    Example:

    >>> import keras, numpy as np
    >>> from tfmrc import training
    >>> layer = keras.layers.Dense(1, kernel_initializer="zeros")
    >>> model = keras.Sequential([keras.Input((1,)), layer])
    >>> model.compile("sgd", "mse")
    >>> x, y = np.ones((4, 1)), np.ones((4, 1))
    >>> progress = training.ProgressLog(every_seconds=0)
    >>> history = model.fit(x, y, batch_size=4, verbose=0, callbacks=[progress])
    step 1 of 1, loss 1.0000
    """

    def __init__(
        self, every_seconds: float = 60.0, first_step: int | None = None, steps: int | None = None
    ) -> None:
        super().__init__()
        self.every_seconds = every_seconds
        self.first_step = first_step
        self.steps = steps
        self._before: int | None = None  # steps before this epoch
        self._in_epoch = 0  # counted, since an epoch of a resumed training may be shorter
        self._printed_at = 0.0
        self._printed_step: int | None = None

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        self._before, self._in_epoch = self.first_step, 0
        self._printed_at, self._printed_step = time.monotonic(), None

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        if self._before is None:
            self._before = epoch * (self.params.get("steps") or 0)
        self._before, self._in_epoch = self._before + self._in_epoch, 0

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
        self._in_epoch = batch + 1
        now = time.monotonic()
        passed = now - self._printed_at
        if passed < self.every_seconds:
            return
        step = (self._before or 0) + self._in_epoch
        steps = self.steps or self.params["epochs"] * (self.params.get("steps") or 0)
        parts = [f"step {step:,}" + f" of {steps:,}" * bool(steps)]
        if logs and "loss" in logs:
            parts.append(f"loss {float(logs['loss']):.4f}")
        if self._printed_step is not None and steps:
            per_step = passed / max(1, step - self._printed_step)
            left = per_step * max(0, steps - step) / 60
            parts += [f"{per_step:.2g} s per step", f"about {left:.0f} min left"]
        print(", ".join(parts), flush=True)
        self._printed_at, self._printed_step = now, step
