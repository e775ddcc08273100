"""A callback after which a killed training goes on as if it had never stopped."""

import os
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import keras
import numpy as np

from tfmrc.training.callbacks.state_file import BrokenStateError, read_state, write_state

_START: dict[str, Any] = {
    "epoch": 0,
    "step_in_epoch": 0,
    "step": 0,
    "stopped": False,
    "logs": {},
    "history": [],
    "callbacks": [],
}


class Stateful(Protocol):
    """A callback with a memory of its own that a checkpoint carries."""

    def get_state(self) -> dict[str, Any]:
        """What JSON can say and `set_state` needs."""

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes back what `get_state` gave."""


class Checkpoint(keras.callbacks.Callback):
    """Saves the whole state of `fit` in a folder, and takes it up again when `fit` starts.

    A run that was killed at any moment, and is started again by the same program, loses the steps
    since its last checkpoint and ends with the weights of an unbroken run, to the bit: weights,
    moments and averages of the optimizer, loss scale, states of the seeds, running means of the
    losses, epoch, place in the data, history, and the memory of `callbacks`.

    Files are written beside and renamed, so that there is never half a file; one that cannot be
    read (a full disk, a broken one) is passed over with a warning for the one before it.

    The place in the data: pass the dataset through `dataset`, which makes it begin at the right
    batch. Without that, the batches of the running epoch that were seen are drawn again and
    dropped, which is right for a dataset that gives the same batches in every epoch.

    Put it last in the list of callbacks, so that it sees what the others did.

    Args:
        folder: where the files are; one folder a run.
        every_steps: steps between checkpoints; None for one at the end of each epoch only. The
            end of an epoch is always saved.
        every_seconds: also save when so many seconds have passed since the last time.
        keep: how many files to keep, the newest.
        callbacks: callbacks of the same `fit` whose memory is to be saved; they have `get_state`
            and `set_state`, as `BestCheckpoint`.

    Raises:
        ValueError: a number is not positive.

    Example:

    >>> import tempfile
    >>> import keras, numpy as np
    >>> from tfmrc import training
    >>> folder = tempfile.mkdtemp()
    >>> x, y = np.ones((8, 1)), np.zeros((8, 1))
    >>> def train(epochs):
    ...     model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    ...     model.compile(training.AdamW(0.1), "mse")
    ...     checkpoint = training.Checkpoint(folder)
    ...     start = checkpoint.epoch
    ...     model.fit(x, y, epochs=epochs, verbose=0, callbacks=[checkpoint])
    ...     return start
    >>> train(epochs=2), train(epochs=3)
    (0, 2)
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        every_steps: int | None = 500,
        every_seconds: float | None = None,
        keep: int = 2,
        callbacks: Sequence[Stateful] = (),
    ) -> None:
        super().__init__()
        for name, value in (("every_steps", every_steps), ("every_seconds", every_seconds)):
            if value is not None and value <= 0:
                raise ValueError(f"`{name}` must be positive, or None. Received: {name}={value}")
        if keep < 1:
            raise ValueError(f"`keep` must be at least 1. Received: keep={keep}")
        self.folder = Path(folder)
        self.every_steps = every_steps
        self.every_seconds = every_seconds
        self.keep = keep
        self.callbacks = list(callbacks)
        self._facts = dict(_START)
        self._data_starts_at: int | None = None
        self._saved_step, self._saved_at = 0, time.monotonic()
        self._train_function: Any = None
        self._late_metrics: list[np.ndarray] = []

    # === Where a run stands ===

    @property
    def step(self) -> int:
        """Batches that the run in the folder has trained on, over all epochs; 0 for a new run."""
        return self._read()[1]["step"]

    @property
    def epoch(self) -> int:
        """Epochs that the run in the folder has finished."""
        return self._read()[1]["epoch"]

    def dataset(self, make: Callable[[int], Any]) -> Any:
        """The dataset that begins where the run in the folder stands.

        Args:
            make: gets the number of batches that were trained on over all epochs and returns the
                dataset that begins after them.

        Returns:
            What `make` returned.

        Example:

        >>> import tempfile
        >>> from tfmrc import training
        >>> training.Checkpoint(tempfile.mkdtemp()).dataset(lambda start_step: range(start_step, 3))
        range(0, 3)
        """
        self._data_starts_at = self.step
        return make(self._data_starts_at)

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("step-*.npz"), reverse=True)

    def _read(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        files = self._files()
        for path in files:
            try:
                return read_state(path)
            except BrokenStateError as error:
                warnings.warn(f"Passing over a broken checkpoint. {error}", stacklevel=3)
        if files:
            raise BrokenStateError(
                "None of the checkpoints can be read; delete the folder to begin anew. "
                f"Received: folder={str(self.folder)!r}"
            )
        return {}, dict(_START)

    # === Taking up ===

    def on_train_begin(self, logs: Any = None) -> None:
        for temporary in self.folder.glob(".step-*.tmp"):
            temporary.unlink()
        arrays, self._facts = self._read()
        self._forget()
        self._saved_step, self._saved_at = self._facts["step"], time.monotonic()
        if not arrays:
            return
        model = self.model
        if not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
        for part, variables in self._parts(model).items():
            if part != "metrics":
                _assign(part, variables, _numbered(arrays, part))
        for callback, state in zip(self.callbacks, self._facts["callbacks"], strict=True):
            callback.set_state(state)
        stopped = self._facts["stopped"]
        model._initial_epoch = self.params["epochs"] if stopped else self._facts["epoch"]
        if self._facts["step_in_epoch"]:
            self._late_metrics = _numbered(arrays, "metrics")
        self._fast_forward(model)

    def _fast_forward(self, model: keras.Model) -> None:
        """Lets `fit` count the steps of the epoch that were done, without doing them again."""
        idle = self._facts["step_in_epoch"]
        drop = idle if self._data_starts_at is None else self._facts["step"] - self._data_starts_at
        if not idle and not drop:
            return
        train_function, logs = model.train_function, self._facts["logs"]
        left = {"idle": idle, "drop": drop}

        def resumed(*arguments: Any) -> Any:
            # TensorFlow: (iterator) to logs; JAX: (state, iterator) to (logs, state)
            while left["drop"] > 0:
                next(arguments[-1])
                left["drop"] -= 1
            if left["idle"] <= 0:
                return train_function(*arguments)
            left["idle"] -= model.steps_per_execution
            return dict(logs) if len(arguments) == 1 else (dict(logs), arguments[0])

        self._train_function = train_function
        model.train_function = resumed

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if self._late_metrics:
            # `fit` has just reset the metrics. Those of the compiled losses may not exist yet.
            metrics = self.model.metrics_variables
            if len(metrics) == len(self._late_metrics):
                _assign("metrics", metrics, self._late_metrics)
                self._late_metrics = []
        self._fill_history()

    # === Saving ===

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        done = batch + 1
        if done <= self._facts["step_in_epoch"]:
            return
        self._facts["step"] += done - self._facts["step_in_epoch"]
        self._facts["step_in_epoch"] = done
        if self._late_metrics:
            # The first real step built them, and they sum: what went before is added.
            metrics = self.model.metrics_variables
            now = [np.asarray(keras.ops.convert_to_numpy(v)) for v in metrics]
            sums = [old + new for old, new in zip(self._late_metrics, now, strict=True)]
            _assign("metrics", metrics, sums)
            self._late_metrics = []
        if self._is_time():
            self._facts["logs"] = _numbers(logs)
            self._save()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self._train_function is not None:
            self.model.train_function, self._train_function = self._train_function, None
        self._late_metrics = []
        self._facts["epoch"] = epoch + 1
        self._facts["step_in_epoch"] = 0
        self._facts["logs"] = {}
        self._facts["history"] = [*self._facts["history"], [epoch, _numbers(logs)]]
        self._facts["stopped"] = bool(self.model.stop_training)
        self._save()

    def on_train_end(self, logs: Any = None) -> None:
        self.model._initial_epoch = None
        self._fill_history()

    def _is_time(self) -> bool:
        steps = self._facts["step"] - self._saved_step
        if self.every_steps is not None and steps >= self.every_steps:
            return True
        seconds = time.monotonic() - self._saved_at
        return self.every_seconds is not None and seconds >= self.every_seconds

    def _save(self) -> None:
        arrays = {
            f"{part}/{i:05d}": np.asarray(keras.ops.convert_to_numpy(variable))
            for part, variables in self._parts(self.model).items()
            for i, variable in enumerate(variables)
        }
        self._facts["callbacks"] = [callback.get_state() for callback in self.callbacks]
        name = f"step-{self._facts['step']:010d}-{self._facts['epoch']:05d}.npz"
        write_state(self.folder / name, arrays, self._facts)
        self._forget()
        self._saved_step, self._saved_at = self._facts["step"], time.monotonic()

    def _forget(self) -> None:
        for path in self._files()[self.keep :]:
            path.unlink()

    @staticmethod
    def _parts(model: keras.Model) -> dict[str, list[Any]]:
        return {
            "model": model.variables,  # weights and the states of seeds
            "optimizer": model.optimizer.variables,  # moments, averages, loss scale, counters
            "metrics": model.metrics_variables,
        }

    def _fill_history(self) -> None:
        history = getattr(self.model, "history", None)
        if history is None or history.epoch:
            return
        history.history.clear()
        for epoch, row in self._facts["history"]:
            history.epoch.append(epoch)
            for key, value in row.items():
                history.history.setdefault(key, []).append(value)


def _numbered(arrays: dict[str, np.ndarray], part: str) -> list[np.ndarray]:
    return [arrays[name] for name in sorted(arrays) if name.startswith(f"{part}/")]


def _numbers(logs: Any) -> dict[str, float]:
    return {key: float(value) for key, value in (logs or {}).items()}


def _assign(part: str, variables: Sequence[Any], arrays: Sequence[np.ndarray]) -> None:
    expected = [tuple(array.shape) for array in arrays]
    received = [tuple(variable.shape) for variable in variables]
    if expected != received:
        raise ValueError(
            f"The checkpoint belongs to another model or optimizer: its {part} has "
            f"{len(expected)} variables, {_first_difference(expected, received, variables)}. "
            f"Received: {len(received)} variables"
        )
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)


def _first_difference(expected: list[Any], received: list[Any], variables: Sequence[Any]) -> str:
    for i, (old, new) in enumerate(zip(expected, received, strict=False)):
        if old != new:
            return f"of which number {i} has shape {old} where {variables[i].path} has {new}"
    return "all with the right shape as far as both go"
