"""A callback that saves and restores the whole state of training."""

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

from tfmrc.training.callbacks.state_file import read_state, write_state
from tfmrc.training.distribution.hosts import is_first_host
from tfmrc.utils import keras_private

_START = {"epoch": 0, "step_in_epoch": 0, "step": 0, "stopped": False, "logs": {}, "history": []}
_KEPT = 2  # files


class Checkpoint(keras.callbacks.Callback):
    """Saves the whole state of `fit` in a folder and restores it when `fit` starts again.

    A run that was killed at any moment, and is started again by the same program, loses the steps
    since its last checkpoint and ends with the weights of an uninterrupted run, bit for bit. The
    state consists of weights, moments and averages of the optimizer, loss scale, states of the
    seeds, running means of the losses, epoch, position in the data, history, and the state of
    `callbacks`.

    The newest two files are kept. A file is written under a temporary name and renamed, so a
    partial file is never read. A damaged file is skipped with a warning, and the one before it is
    used; `fit` renames the damaged one to `NAME.broken`.

    Position in the data: pass the dataset through `dataset`, which starts it at the right batch.
    Otherwise the completed batches of the current epoch are drawn again and dropped, which is exact
    only for a dataset that gives the same batches in every epoch.

    It must be the last callback in the list, so that it sees the results of the others; only
    `SaveOnInterrupt` follows it.

    Args:
        folder: str or path. The folder of the files, one per run.
        every_steps: int. Steps between checkpoints; None for the ends of epochs only, which are
            always saved. Default: 500.
        callbacks: list of `keras.callbacks.Callback`. Callbacks of the same `fit` whose state, a
            JSON value, is saved by `get_state` and `set_state` as in `BestCheckpoint`. Default: ().

    Raises:
        ValueError: When `fit` starts, if the folder's run has another model, optimizer or number of
            callbacks, or if `steps_per_execution` does not divide the steps of an epoch, those
            before a resume and those after it.

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
        callbacks: Sequence[Any] = (),
    ) -> None:
        super().__init__()
        self.folder = Path(folder)
        self.every_steps = every_steps
        self.callbacks = list(callbacks)
        self._facts: dict[str, Any] = dict(_START)  # of the running `fit`
        self._saved_facts: dict[str, Any] | None = None  # of the newest file, once it is read
        self._data_start: int | None = None
        self._metrics: list[np.ndarray] = []  # saved sums that are not restored yet

    # === State of a run ===

    @property
    def step(self) -> int:
        """Number of batches that the run in the folder has trained on; 0 for a new run."""
        return self._saved()["step"]

    @property
    def epoch(self) -> int:
        """Number of epochs that the run in the folder has finished."""
        return self._saved()["epoch"]

    @property
    def step_in_epoch(self) -> int:
        """Number of batches of the epoch that the run in the folder has not finished."""
        return self._saved()["step_in_epoch"]

    @property
    def steps_of_earlier_epochs(self) -> int:
        """Number of batches before the epoch that `fit` runs."""
        return self._facts["step"] - self._facts["step_in_epoch"]

    @property
    def newest(self) -> Path | None:
        """The newest checkpoint in the folder; None for a new run."""
        return next(iter(self._files()), None)

    def dataset(self, make: Callable[[int], Any]) -> Any:
        """Returns the dataset starting at the run's next batch.

        Args:
            make: callable. Function of the number of completed batches, over all epochs, that
                returns the dataset starting after them.

        Returns:
            The dataset.

        Example:

        >>> import tempfile
        >>> from tfmrc import training
        >>> training.Checkpoint(tempfile.mkdtemp()).dataset(lambda start_step: range(start_step, 3))
        range(0, 3)
        """
        self._data_start = self.step
        return make(self._data_start)

    def _saved(self) -> dict[str, Any]:
        if self._saved_facts is None:
            self._saved_facts = self._read()[1]
        return self._saved_facts

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("step-*.npz"), reverse=True)

    def _read(self) -> tuple[dict[str, np.ndarray], dict[str, Any], list[Path]]:
        """Returns arrays and facts of the newest file that can be read, and the damaged ones."""
        damaged: list[Path] = []
        for path in self._files():
            try:
                return *read_state(path), damaged
            except ValueError as error:
                warnings.warn(f"Skipping a damaged checkpoint: {error}", stacklevel=4)
                damaged.append(path)
        if damaged:
            raise ValueError(
                "None of the checkpoints can be read; delete the folder to start again. "
                f"Received: folder={str(self.folder)!r}"
            )
        return {}, dict(_START), []

    # === Restoring ===

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        self._end_fast_forward()  # of a `fit` that was broken off
        arrays, self._facts, damaged = self._read()
        for path in (
            damaged if is_first_host() else ()
        ):  # it would be taken for the newest one until the run has passed it
            path.rename(path.with_name(f"{path.name}.broken"))
        for part in self.folder.glob(".step-*.part"):  # what a kill left
            part.unlink(missing_ok=True)
        self._saved_facts = dict(self._facts)
        idle = self._facts["step_in_epoch"]
        self._check_execution(idle)
        if not arrays:
            return
        model = self.model
        if not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
        _assign(arrays, "model", model.variables)
        _assign(arrays, "optimizer", model.optimizer.variables)
        for callback, state in zip(self.callbacks, self._facts["callbacks"], strict=True):
            callback.set_state(state)
        goes_on = any(getattr(callback, "goes_on", False) for callback in self.callbacks)
        stopped = self._facts["stopped"] = self._facts["stopped"] and not goes_on
        epoch = self.params["epochs"] if stopped else self._facts["epoch"]
        keras_private.set_initial_epoch(model, epoch)
        self._metrics = _part(arrays, "metrics") if idle else []
        self._fast_forward(idle)

    def _check_execution(self, idle: int) -> None:
        """Raises a ValueError unless executions of several steps end where an epoch does.

        Keras counts an execution as a whole, also one in which the data end.
        """
        count, steps = self.model.steps_per_execution, self.params.get("steps")
        if count > 1 and (not steps or steps % count or idle % count):
            raise ValueError(
                "With a `Checkpoint`, `steps_per_execution` must divide the number of steps of an "
                f"epoch ({steps}), of which {idle} are trained. "
                f"Received: steps_per_execution={count}"
            )

    def _fast_forward(self, idle: int) -> None:
        """Lets `fit` count the completed steps of the epoch without repeating them."""
        model = self.model
        start = self._data_start
        drop = idle if start is None else self._facts["step"] - start
        if not idle and not drop:
            return
        train_function, logs = model.train_function, self._facts["logs"]
        left = {"idle": idle, "drop": drop}

        def resumed(*arguments: Any) -> Any:
            # TensorFlow: (iterator) to logs; JAX: (state, iterator) to (logs, state)
            for _ in range(left["drop"]):
                next(arguments[-1])
            left["drop"] = 0
            if left["idle"] <= 0:
                return train_function(*arguments)
            left["idle"] -= model.steps_per_execution
            return dict(logs) if len(arguments) == 1 else (dict(logs), arguments[0])

        resumed.original = train_function  # type: ignore[attr-defined]
        model.train_function = resumed

    def _end_fast_forward(self) -> None:
        function = self.model.train_function
        self.model.train_function = getattr(function, "original", function)

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        keras_private.set_initial_epoch(self.model, None)  # `fit` has read it
        self._add_saved_metrics()
        self._fill_history()

    def _add_saved_metrics(self) -> None:
        """Adds the sums of the epoch before a resume to the metrics, once these exist.

        `fit` resets them when an epoch begins, and its first step may create them.
        """
        variables = self.model.metrics_variables
        if self._metrics and len(self._metrics) == len(variables):
            for variable, value in zip(variables, self._metrics, strict=True):
                variable.assign(value + np.asarray(keras.ops.convert_to_numpy(variable)))
            self._metrics = []

    # === Saving ===

    def save(self, logs: dict[str, float] | None = None) -> None:
        """Saves the state after the last completed step of `fit`, unless it is saved already.

        Args:
            logs: dict or None. The results that Keras passes to a callback after a step.
                Default: None.
        """
        if self._facts["step"] > self._saved()["step"]:
            self._facts["logs"] = _numbers(logs)
            self._save()

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
        if batch < self._facts["step_in_epoch"]:
            return  # counted before, see `_fast_forward`
        self._facts["step"] += self.model.steps_per_execution
        self._facts["step_in_epoch"] += self.model.steps_per_execution
        if self._metrics:
            keras_private.sync_state(self.model)
            self._add_saved_metrics()
        since = self._facts["step"] - self._saved()["step"]
        if self.every_steps is not None and since >= self.every_steps:
            self.save(logs)

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self._end_fast_forward()
        self._metrics = []
        self._facts |= {
            "epoch": epoch + 1,
            "step_in_epoch": 0,
            "logs": {},
            "history": [*self._facts["history"], [epoch, _numbers(logs)]],
            "stopped": bool(self.model.stop_training),
        }
        self._save()

    def on_train_end(self, logs: dict[str, float] | None = None) -> None:
        keras_private.set_initial_epoch(self.model, None)
        self._fill_history()

    def _save(self) -> None:
        keras_private.sync_state(self.model)
        self._facts["callbacks"] = [callback.get_state() for callback in self.callbacks]
        parts = {
            "model": self.model.variables,  # weights and the states of seeds
            "optimizer": self.model.optimizer.variables,  # moments, averages, scale, counters
            "metrics": self.model.metrics_variables,
        }
        variables = {
            f"{name}/{i:05d}": v for name, part in parts.items() for i, v in enumerate(part)
        }
        name = f"step-{self._facts['step']:010d}-{self._facts['epoch']:05d}.npz"
        write_state(self.folder / name, variables, self._facts)
        self._saved_facts = dict(self._facts)
        for path in self._files()[_KEPT:] if is_first_host() else ():
            path.unlink()

    def _fill_history(self) -> None:
        history = getattr(self.model, "history", None)
        if history is None or history.epoch:
            return
        history.history.clear()
        for epoch, row in self._facts["history"]:
            history.epoch.append(epoch)
            for key, value in row.items():
                history.history.setdefault(key, []).append(value)


def _numbers(logs: Any) -> dict[str, float]:
    return {key: float(value) for key, value in (logs or {}).items()}


def _part(arrays: dict[str, np.ndarray], part: str) -> list[np.ndarray]:
    return [arrays[name] for name in sorted(arrays) if name.startswith(f"{part}/")]


def _assign(arrays: dict[str, np.ndarray], part: str, variables: Sequence[Any]) -> None:
    values = _part(arrays, part)
    shapes, saved = [tuple(v.shape) for v in variables], [value.shape for value in values]
    if shapes != saved:
        raise ValueError(
            "The checkpoint belongs to another model or optimizer, or to other frozen layers. Use "
            f"another folder or the previous settings. Received: {part} with variables of shapes "
            f"{shapes}, {saved} in the checkpoint"
        )
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)
