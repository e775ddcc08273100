"""A callback that saves the best weights of a run and stops early."""

import math
import os
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import keras

from tfmrc.training.callbacks.ema_weights import (
    check_weights,
    ema_weights,
    facts_of,
    has_averages,
    load_weights,
    save_weights,
)


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

    If the checkpoint of the saved epoch is lost, a resumed training repeats it; one that ends
    before it has its weights and numbers, and a warning says so.

    Epochs without validation (`validation_freq` of `fit`) are passed over, and `patience` counts
    the others. A training without any saves nothing, and a warning says so.

    Args:
        path: str or path. The file of the weights, which ends in `.weights.h5`.
        monitor: str. The monitored quantity, a name in the logs of an epoch. Default: "val_loss".
        mode: str. Whether the "min" or the "max" is best. Default: "min".
        patience: int or None. Number of epochs without improvement after which training stops; None
            for never. Default: None.
        min_delta: float. The least improvement that counts. Default: 0.
        restore: bool. Whether the best weights are loaded when `fit` ends. Default: True.
        among: int. Number of best epochs of which the last one is saved. Default: 1.
        ema_weights: bool. Whether the moving averages are saved, if the optimizer keeps any; False
            without `EMAWeights` among the callbacks. Default: True.

    Raises:
        ValueError: If `mode` is neither, `path` has another ending, `among` is not positive, or the
            number is not in the logs of an epoch.

    Example:

    >>> import tempfile
    >>> from tfmrc import training
    >>> best = training.BestCheckpoint(tempfile.mkdtemp() + "/best.weights.h5", patience=2)
    >>> best.get_state()
    {'best': None, 'best_epoch': None, 'wait': 0, 'values': []}

    Reference: `among=4` with the perplexity of dev is the rule of Zhao et al. 2018, section 3.2.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        monitor: str = "val_loss",
        mode: str = "min",
        patience: int | None = None,
        min_delta: float = 0.0,
        restore: bool = True,
        among: int = 1,
        ema_weights: bool = True,
    ) -> None:
        super().__init__()
        if mode not in ("min", "max"):
            raise ValueError(f"`mode` must be 'min' or 'max'. Received: mode={mode!r}")
        if not str(path).endswith(".weights.h5"):
            raise ValueError(f"`path` must end in .weights.h5. Received: path={str(path)!r}")
        if among < 1:
            raise ValueError(f"`among` must be 1 or more. Received: among={among}")
        self.path = Path(path)
        self.monitor = monitor
        self.mode = mode
        self.patience = patience
        self.min_delta = min_delta
        self.restore = restore
        self.among = among
        self.ema_weights = ema_weights
        self._reset()

    @property
    def needs_validation(self) -> bool:
        """Whether the number comes from validation data and from nothing else."""
        return self.monitor == "val_loss"

    def _reset(self) -> None:
        self.best: float | None = None
        self.best_epoch: int | None = None
        self.wait = 0
        self.values: list[float] = []  # of the best epochs so far, best first
        self._is_validated = False  # in this epoch
        self._skipped = 0  # epochs without validation

    def get_state(self) -> dict[str, Any]:
        """Returns the best number, the saved epoch, epochs since then, and the best numbers."""
        return {
            "best": self.best,
            "best_epoch": self.best_epoch,
            "wait": self.wait,
            "values": list(self.values),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Restores what `get_state` returned.

        Raises:
            ValueError: The file of the best weights is missing or damaged.
        """
        if self.restore and state["best_epoch"] is not None:
            try:
                check_weights(self.path)
            except ValueError as error:
                raise ValueError(
                    f"{error} It had the best weights of the training that goes on here: put it "
                    "back, or begin again in an empty folder."
                ) from error
        self.best, self.best_epoch, self.wait = state["best"], state["best_epoch"], state["wait"]
        self.values = list(state["values"])

    def on_train_begin(self, logs: Any = None) -> None:
        self._reset()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._is_validated = False

    def on_test_end(self, logs: Any = None) -> None:
        self._is_validated = True

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs = logs or {}
        if self.monitor not in logs:
            if self.monitor.startswith("val_") and not self._is_validated:
                self._skipped += 1
                return
            raise ValueError(
                f"The logs of epoch {epoch} have {sorted(logs)}; name one of these. "
                f"Received: monitor={self.monitor!r}"
            )
        value = float(logs[self.monitor])
        if self._is_better(value):
            values = sorted([*self.values, value], reverse=self.mode == "max")
            self.values = values[: self.among]
            self.best, self.best_epoch, self.wait = self.values[0], epoch, 0
            self._write({"epoch": epoch, "best": self.best})
            return
        self.wait += 1
        if self.patience is not None and self.wait >= self.patience:
            self.model.stop_training = True

    def _is_better(self, value: float) -> bool:
        if math.isnan(value):
            return False
        if len(self.values) < self.among:
            return True
        worst = self.values[-1]
        gain = worst - value if self.mode == "min" else value - worst
        return gain > self.min_delta

    def _write(self, facts: dict[str, float]) -> None:
        averages = self.ema_weights and has_averages(self.model)
        with ema_weights(self.model) if averages else nullcontext():
            save_weights(self.model, self.path, facts)

    def on_train_end(self, logs: Any = None) -> None:
        if self._skipped and self.best_epoch is None:
            warnings.warn(
                f"No epoch was validated, so that {self.path.name} was not written; give `fit` "
                f"validation data. Received: monitor={self.monitor!r}",
                stacklevel=2,
            )
        if self.restore and self.best_epoch is not None:
            load_weights(self.model, self.path)
            self._take_facts()

    def _take_facts(self) -> None:
        """Takes the numbers of the weights in the file, if they are of an epoch that was lost.

        A resumed training that ends before the epoch, whose checkpoint was lost, has its weights.
        """
        facts = facts_of(self.path)
        if facts.get("epoch", self.best_epoch) != self.best_epoch:
            warnings.warn(
                f"{self.path.name} has the weights of epoch {facts['epoch']}, whose checkpoint was "
                f"lost: they are the best ones. Received: best_epoch={self.best_epoch}",
                stacklevel=3,
            )
            self.best, self.best_epoch = facts["best"], int(facts["epoch"])
