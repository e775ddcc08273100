"""A callback that saves and restores the whole state of training."""

import os
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import keras
import numpy as np

from tfmrc.training.callbacks.execution import Execution
from tfmrc.training.callbacks.non_finite import NonFiniteError
from tfmrc.training.callbacks.state_file import (
    BrokenStateError,
    read_state,
    values_of,
    write_state,
)
from tfmrc.utils import keras_private

_START: dict[str, Any] = {
    "epoch": 0,
    "step_in_epoch": 0,
    "step": 0,
    "stopped": False,
    "logs": {},
    "history": [],
    "callbacks": [],
    "optimizer": [],
}


class Stateful(Protocol):
    """A callback with state that a checkpoint saves."""

    def get_state(self) -> dict[str, Any]:
        """Returns the state as a JSON value."""

    def set_state(self, state: dict[str, Any]) -> None:
        """Restores what `get_state` returned."""


class Checkpoint(keras.callbacks.Callback):
    """Saves the whole state of `fit` in a folder and restores it when `fit` starts again.

    A run that was killed at any moment, and is started again by the same program, loses the steps
    since its last checkpoint and ends with the weights of an uninterrupted run, bit for bit. The
    state consists of weights, moments and averages of the optimizer, loss scale, states of the
    seeds, running means of the losses, epoch, position in the data, history, and the state of
    `callbacks`.

    A file is written under a temporary name and renamed, so a partial file is never read. Its
    digest is checked when it is read. A damaged file is skipped with a warning, and the one before
    it is used; `fit` renames the damaged one to `NAME.broken`. A state whose weights are not finite
    is never written.

    Position in the data: pass the dataset through `dataset`, which starts it at the right batch.
    Otherwise the completed batches of the current epoch are drawn again and dropped, which is exact
    only for a dataset that gives the same batches in every epoch.

    Frozen layers: the program sets which layers are trained before it compiles the model. If layers
    are frozen or thawed between two runs in one folder, the optimizer's state of weights that are
    trained in both is restored, and that of thawed weights is initialised.

    It must be the last callback in the list, so that it sees the results of the others; only
    `SaveOnInterrupt` follows it.

    Args:
        folder: str or path. The folder of the files, one per run.
        every_steps: int. Steps between checkpoints; None for the ends of epochs only, which are
            always saved. Default: 500.
        every_seconds: float or None. Also save after this number of seconds. Default: None.
        keep: int. Number of files to keep, the newest ones. Default: 2.
        callbacks: list of `Stateful`. Callbacks of the same `fit` whose state is saved, with
            `get_state` and `set_state` as in `BestCheckpoint`. Default: ().

    Raises:
        ValueError: If a number is not positive; when `fit` starts, if the folder's run has another
            model, another optimizer or other callbacks, or is within an epoch at a batch where no
            execution of the model begins (`steps_per_execution`).

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
        self._known_facts: tuple[Any, dict[str, Any]] | None = None
        self._train_function: Any = None
        self._late_metrics: list[np.ndarray] = []
        self._execution = Execution()

    # === State of a run ===

    @property
    def step(self) -> int:
        """Number of batches that the run in the folder has trained on; 0 for a new run."""
        return self._newest_facts()["step"]

    @property
    def epoch(self) -> int:
        """Number of epochs that the run in the folder has finished."""
        return self._newest_facts()["epoch"]

    @property
    def step_in_epoch(self) -> int:
        """Number of batches of the epoch that the run in the folder has not finished."""
        return self._newest_facts()["step_in_epoch"]

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
        self._data_starts_at = self.step
        return make(self._data_starts_at)

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("step-*.npz"), reverse=True)

    def _read(self, set_aside: bool = False) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        files = self._files()
        broken = []
        for path in files:
            try:
                state = read_state(path)
            except BrokenStateError as error:
                warnings.warn(f"Skipping a broken checkpoint. {error}", stacklevel=3)
                broken.append(path)
                continue
            if set_aside:  # it would be taken for the newest one until the run has passed it
                for other in broken:
                    other.rename(other.with_name(f"{other.name}.broken"))
            return state
        if files:
            raise BrokenStateError(
                "None of the checkpoints can be read; delete the folder to start again. "
                f"Received: folder={str(self.folder)!r}"
            )
        return {}, dict(_START)

    def _newest_facts(self) -> dict[str, Any]:
        """Returns the facts of the run in the folder; a file is read and checked once."""
        newest = self.newest
        status = None if newest is None else newest.stat()
        version = status and (newest, status.st_ino, status.st_size, status.st_mtime_ns)
        if self._known_facts is None or self._known_facts[0] != version:
            self._known_facts = version, self._read()[1]
        return self._known_facts[1]

    # === Restoring ===

    def on_train_begin(self, logs: Any = None) -> None:
        for temporary in self.folder.glob(".step-*.tmp"):
            temporary.unlink()
        arrays, self._facts = self._read(set_aside=True)
        self._forget()
        self._saved_step, self._saved_at = self._facts["step"], time.monotonic()
        if not arrays:
            return
        self._check_callbacks()
        model = self.model
        if not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
        _assign("model", model.variables, _numbered(arrays, "model"))
        self._restore_optimizer(model, _numbered(arrays, "optimizer"))
        for callback, state in zip(self.callbacks, self._facts["callbacks"], strict=True):
            callback.set_state(state)
        goes_on = any(getattr(callback, "goes_on", False) for callback in self.callbacks)
        stopped = self._facts["stopped"] and not goes_on
        epoch = self.params["epochs"] if stopped else self._facts["epoch"]
        keras_private.set_initial_epoch(model, epoch)
        if self._facts["step_in_epoch"]:
            self._late_metrics = _numbered(arrays, "metrics")
        self._fast_forward(model)

    def _check_callbacks(self) -> None:
        """Raises a ValueError unless the checkpoint has the states of these callbacks."""
        received = _class_names(self.callbacks)
        expected = self._facts.get("callback_names", received)  # not in files of older versions
        if expected != received:
            raise ValueError(
                "The checkpoint has the states of other callbacks; give `callbacks` the same ones, "
                f"or use another folder. Received: callbacks={received}, in the checkpoint "
                f"{expected}, folder={str(self.folder)!r}"
            )

    def _restore_optimizer(self, model: keras.Model, arrays: list[np.ndarray]) -> None:
        """Assigns the optimizer's state, by name if the frozen layers differ."""
        variables, names = model.optimizer.variables, _optimizer_names(model)
        saved = self._facts["optimizer"]
        if names == saved or {_slot(name) for name in names} != {_slot(name) for name in saved}:
            _assign("optimizer", variables, arrays)
            return
        by_name = dict(zip(saved, arrays, strict=True))
        known = [(v, by_name[name]) for v, name in zip(variables, names, strict=True)
                 if name in by_name]  # fmt: skip
        _assign("optimizer", [v for v, _ in known], [array for _, array in known])
        for variable, name in zip(variables, names, strict=True):
            if name not in by_name and _slot(name) == "average":
                # The average of a thawed weight starts from the weight, not from zero.
                variable.assign(model.variables[int(name.rsplit(" ", 1)[1])])
        warnings.warn(
            "Other layers are frozen than in the checkpoint: the optimizer's state of weights that "
            f"are still trained is restored ({len(known)} of {len(variables)} variables), that of "
            "thawed weights is initialised.",
            stacklevel=4,
        )

    def _fast_forward(self, model: keras.Model) -> None:
        """Lets `fit` count the completed steps of the epoch without repeating them."""
        idle = self._facts["step_in_epoch"]
        drop = idle if self._data_starts_at is None else self._facts["step"] - self._data_starts_at
        if not idle and not drop:
            return
        steps = model.steps_per_execution
        before = self._facts.get("steps_per_execution", steps)  # not in files of older versions
        if before != steps and idle % steps and idle != self.params.get("steps"):
            raise ValueError(
                f"{idle} batches of the epoch are trained, which are no whole number of executions "
                f"of {steps}: compile(..., steps_per_execution={before}) until the end of the "
                f"epoch. Received: steps_per_execution={steps}, folder={str(self.folder)!r}"
            )
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
        keras_private.set_initial_epoch(self.model, None)  # `fit` has read it; it may be broken off
        if self._late_metrics:
            # `fit` has just reset the metrics. Those of the compiled losses may not exist yet.
            metrics = self.model.metrics_variables
            if len(metrics) == len(self._late_metrics):
                _assign("metrics", metrics, self._late_metrics)
                self._late_metrics = []
        self._fill_history()

    # === Saving ===

    def save(self, logs: Any = None) -> None:
        """Saves the state after the last completed step of `fit`, unless it is saved already.

        Args:
            logs: dict or None. The results that Keras passes to a callback after a step.
                Default: None.
        """
        if self._facts["step"] > self._saved_step:
            self._facts["logs"] = _numbers(logs)
            self._save()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._execution.begin(self.model, batch, self.params.get("steps"))

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        steps = self.model.steps_per_execution
        if batch + 1 - steps < self._facts["step_in_epoch"]:
            return  # counted before, see `_fast_forward`
        steps = self._execution.end(self.model)
        self._facts["step"] += steps
        self._facts["step_in_epoch"] += steps
        if self._late_metrics:
            # The first real step created them. They are sums, so the earlier values are added.
            keras_private.sync_state(self.model)
            metrics = self.model.metrics_variables
            now = [np.asarray(keras.ops.convert_to_numpy(v)) for v in metrics]
            sums = [old + new for old, new in zip(self._late_metrics, now, strict=True)]
            _assign("metrics", metrics, sums)
            self._late_metrics = []
        if self._is_time():
            self.save(logs)

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
        keras_private.set_initial_epoch(self.model, None)
        self._fill_history()

    def _is_time(self) -> bool:
        steps = self._facts["step"] - self._saved_step
        if self.every_steps is not None and steps >= self.every_steps:
            return True
        seconds = time.monotonic() - self._saved_at
        return self.every_seconds is not None and seconds >= self.every_seconds

    def _save(self) -> None:
        keras_private.sync_state(self.model)
        _check_finite(self.model, self._facts["step"], self.newest)
        self._facts["callbacks"] = [callback.get_state() for callback in self.callbacks]
        self._facts["callback_names"] = _class_names(self.callbacks)
        self._facts["optimizer"] = _optimizer_names(self.model)
        self._facts["steps_per_execution"] = self.model.steps_per_execution
        name = f"step-{self._facts['step']:010d}-{self._facts['epoch']:05d}.npz"
        variables = {
            f"{part}/{i:05d}": variable
            for part, of_part in self._parts(self.model).items()
            for i, variable in enumerate(of_part)
        }
        write_state(self.folder / name, variables, self._facts)
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


def _class_names(callbacks: Sequence[Any]) -> list[str]:
    return [type(callback).__name__ for callback in callbacks]


def _numbered(arrays: dict[str, np.ndarray], part: str) -> list[np.ndarray]:
    return [arrays[name] for name in sorted(arrays) if name.startswith(f"{part}/")]


def _optimizer_names(model: keras.Model) -> list[str]:
    """Returns names of the optimizer's variables that do not depend on the layers' names.

    The slot `momentum` of the third variable of the model is `momentum of 2`; counters and the
    learning rate keep their own names.
    """
    references = {v.path.replace("/", "_"): i for i, v in enumerate(model.variables)}
    names = []
    for variable in model.optimizer.variables:
        name = variable.name
        # Keras names a slot after the path of its variable: `dense_kernel_momentum`.
        path = max((p for p in references if name.startswith(f"{p}_")), key=len, default=None)
        if path is not None:
            name = f"{name[len(path) + 1 :]} of {references[path]}"
        names.append(name)
    return names


def _slot(name: str) -> str:
    return name.split(" of ")[0]


def _check_finite(model: keras.Model, step: int, newest: Path | None) -> None:
    """Raises if a weight that is about to be saved is not finite."""
    for variable in model.variables:
        # A sum in float64 is finite if all its numbers are, and needs no memory of their size.
        is_float = keras.backend.is_float_dtype(variable.dtype)
        if is_float and not np.isfinite(values_of(variable).sum(dtype="float64")):
            raise NonFiniteError(f"the weight `{variable.path}`", step, newest)


def _numbers(logs: Any) -> dict[str, float]:
    return {key: float(value) for key, value in (logs or {}).items()}


def _assign(part: str, variables: Sequence[Any], arrays: Sequence[np.ndarray]) -> None:
    expected = [tuple(array.shape) for array in arrays]
    received = [tuple(variable.shape) for variable in variables]
    if expected != received:
        raise ValueError(
            f"The checkpoint belongs to another model or optimizer: its {part} has "
            f"{len(expected)} variables, {_first_difference(expected, received, variables)}. Use "
            f"another folder or the previous settings. Received: {len(received)} variables"
        )
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)


def _first_difference(expected: list[Any], received: list[Any], variables: Sequence[Any]) -> str:
    for i, (old, new) in enumerate(zip(expected, received, strict=False)):
        if old != new:
            return f"of which number {i} has shape {old} where {variables[i].path} has {new}"
    return "of which the first ones have the expected shapes"
