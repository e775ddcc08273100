"""A CSV table with one row per epoch, which is continued after an interruption."""

import csv
import io
import math
import os
from pathlib import Path
from typing import Any

import keras

from tfmrc.utils.files import write_text


class CsvLog(keras.callbacks.Callback):
    """Writes the logs of every epoch as a row of a CSV file.

    Columns are the epoch (counted from 0) and the names in the logs; a column that appears later
    is added and is empty in earlier rows. When `fit` starts at an epoch, the rows of this epoch
    and of later ones are removed, so a resumed run has each epoch once and a new run in the same
    folder starts a new table. Rows of epochs before it that the file lacks, because it was deleted
    or moved, are taken from the history of `fit`, which `Checkpoint` restores. The file is replaced
    as a whole.

    Args:
        path: str or path. The file; its folder is created.

    Example:

    >>> import pathlib, tempfile
    >>> from tfmrc import training
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.csv"
    >>> log = training.CsvLog(path)
    >>> log.on_epoch_begin(0)
    >>> log.on_epoch_end(0, {"loss": 0.5})
    >>> log.on_epoch_end(1, {"loss": 0.25})
    >>> print(path.read_text().strip())
    epoch,loss
    0,0.5
    1,0.25
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self.path = Path(path)
        self._rows: list[dict[str, str]] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        self._rows = None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if self._rows is None:
            self._rows = [row for row in self._read() if int(row["epoch"]) < epoch]
            if self.path.exists():  # a training that ends in its first epoch leaves no table
                self._write()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._rows = [*self._with_history(self._rows or [], epoch), _row(epoch, logs or {})]
        self._write()

    def add_missing(self) -> None:
        """Writes the rows that the file lacks, after a `fit` that had no epoch left to train."""
        rows = self._read()
        complete = self._with_history(rows)
        if len(complete) > len(rows):
            self._rows = complete
            self._write()

    def _with_history(
        self, rows: list[dict[str, str]], epoch: float = math.inf
    ) -> list[dict[str, str]]:
        """Returns the rows and those that the history has of other epochs before this one."""
        history = getattr(self.model, "history", None)
        if history is None:
            return rows
        known = {int(row["epoch"]) for row in rows}
        # A name that some epochs lack does not tell which ones.
        size = len(history.epoch)
        columns = {name: row for name, row in history.history.items() if len(row) == size}
        more = [
            _row(earlier, {name: row[index] for name, row in columns.items()})
            for index, earlier in enumerate(history.epoch)
            if earlier < epoch and earlier not in known
        ]
        return sorted([*rows, *more], key=lambda row: int(row["epoch"])) if more else rows

    def _read(self) -> list[dict[str, str]]:
        if not self.path.exists():
            return []
        with open(self.path, newline="", encoding="utf-8") as file:
            return [{k: v for k, v in row.items() if v != ""} for row in csv.DictReader(file)]

    def _write(self) -> None:
        rows = self._rows or []
        names = sorted({name for row in rows for name in row} - {"epoch"})
        text = io.StringIO()
        writer = csv.DictWriter(text, ["epoch", *names], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_text(self.path, text.getvalue())


def _row(epoch: int, logs: dict[str, Any]) -> dict[str, str]:
    return {"epoch": str(epoch)} | {key: repr(float(value)) for key, value in logs.items()}
