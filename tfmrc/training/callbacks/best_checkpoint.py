"""A callback that saves the best weights of a run and stops early."""

import math
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import keras

from tfmrc.training.callbacks.ema_weights import ema_weights, has_averages
from tfmrc.training.callbacks.weights_file import load_weights, save_weights
from tfmrc.training.distribution.hosts import wait_for_hosts


class BestCheckpoint(keras.callbacks.Callback):
    """Saves the best weights and stops early when validation no longer improves.

    The saved weights are those that were validated: with `ema_weights` the moving averages if the
    optimizer keeps them, which the callback `EMAWeights` validates, the weights themselves
    otherwise. When `fit` ends they are loaded into the model. The best weights are in a file and
    the numbers in the state that `Checkpoint` saves, so a resumed run saves and stops like an
    uninterrupted one.

    With `among` above 1, the last of that number of best epochs is saved: whenever an epoch is
    among the best so far, its weights replace those in the file. `best_epoch` is the saved epoch,
    `best` the best number of all.

    Epochs without validation (`validation_freq` of `fit`) are passed over, and `patience` counts
    the others.

    Args:
        path: str or path. The file of the weights, which ends in `.weights.h5`.
        monitor: str. The monitored quantity, a name in the logs of an epoch. Default: "val_loss".
        mode: str. Whether the "min" or the "max" is best. Default: "min".
        patience: int or None. Number of epochs without improvement after which training stops; None
            for never. Default: None.
        among: int. Number of best epochs of which the last one is saved. Default: 1.
        ema_weights: bool. Whether the moving averages are saved, if the optimizer keeps any; False
            without `EMAWeights` among the callbacks. Default: True.

    Raises:
        KeyError: If the number is not in the logs of an epoch.

    Example:

    >>> import tempfile
    >>> from tfmrc import training
    >>> best = training.BestCheckpoint(tempfile.mkdtemp() + "/best.weights.h5", patience=2)
    >>> best.get_state()
    {'best_epoch': None, 'wait': 0, 'values': []}

    Reference: `among=4` with the perplexity of dev is the rule of Zhao et al. 2018, section 3.2.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        monitor: str = "val_loss",
        mode: str = "min",
        patience: int | None = None,
        among: int = 1,
        ema_weights: bool = True,
    ) -> None:
        super().__init__()
        self.path = Path(path)
        self.monitor = monitor
        self.is_descending = {"min": False, "max": True}[mode]
        self.patience = patience
        self.among = among
        self.ema_weights = ema_weights
        self.best_epoch: int | None = None
        self.wait = 0  # validated epochs since the saved one
        self.values: list[float] = []  # of the best epochs so far, best first

    @property
    def needs_validation(self) -> bool:
        """Whether the number comes from validation data and from nothing else."""
        return self.monitor == "val_loss"

    @property
    def best(self) -> float | None:
        """The best number so far."""
        return self.values[0] if self.values else None

    def get_state(self) -> dict[str, Any]:
        """Returns the saved epoch, the number of epochs since then, and the best numbers."""
        return {"best_epoch": self.best_epoch, "wait": self.wait, "values": self.values}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restores what `get_state` returned.

        Raises:
            ValueError: If the file of the best weights is missing.
        """
        if state["best_epoch"] is not None and not self.path.is_file():
            raise ValueError(
                f"{self.path} is missing, with the best weights of the training that continues "
                "here. Put it back, or start again in an empty folder."
            )
        self.best_epoch = state["best_epoch"]
        self.wait, self.values = state["wait"], state["values"]

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        self.best_epoch, self.wait, self.values = None, 0, []

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        logs = logs or {}
        is_validated = any(name.startswith("val_") for name in logs)
        if self.monitor.startswith("val_") and not is_validated:
            return
        value = float(logs[self.monitor])
        values = sorted([*self.values, value], reverse=self.is_descending)[: self.among]
        if values != self.values and not math.isnan(value):
            self.values, self.best_epoch, self.wait = values, epoch, 0
            is_averaged = self.ema_weights and has_averages(self.model)
            with ema_weights(self.model) if is_averaged else nullcontext():
                save_weights(self.model, self.path)
            return
        self.wait += 1
        if self.patience is not None and self.wait >= self.patience:
            self.model.stop_training = True

    def on_train_end(self, logs: dict[str, float] | None = None) -> None:
        if self.best_epoch is not None:
            wait_for_hosts("best weights")
            load_weights(self.model, self.path)
