"""A CSV table with one row per epoch, which is continued after an interruption."""

import csv
import io
import os
from pathlib import Path

import keras

from tfmrc.training.distribution.hosts import by_first_host
from tfmrc.utils.files import write_text


class CsvLog(keras.callbacks.Callback):
    """Writes the logs of every epoch as a row of a CSV file.

    Columns are the epoch (counted from 0) and the names in the logs; a column that appears later
    is added and is empty in earlier rows. The file is replaced as a whole. The rows belong to the
    state that `Checkpoint` saves, so a resumed run has each epoch once; Keras' `CSVLogger` appends
    a second row of an epoch that is repeated, and its columns are those of the first epoch.

    Args:
        path: str or path. The file; its folder is created.

    Example:

    >>> import pathlib, tempfile
    >>> from tfmrc import training
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.csv"
    >>> log = training.CsvLog(path)
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
        self.rows: list[dict[str, float]] = []

    def get_state(self) -> list[dict[str, float]]:
        """Returns the rows."""
        return self.rows

    def set_state(self, state: list[dict[str, float]]) -> None:
        """Restores what `get_state` returned, in the file too."""
        self.rows = state
        self._write()

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        self.rows = []

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        values = {name: float(value) for name, value in (logs or {}).items()}
        self.rows = [*self.rows, {"epoch": epoch} | values]
        self._write()

    @by_first_host
    def _write(self) -> None:
        if not self.rows:
            return
        names = sorted({name for row in self.rows for name in row} - {"epoch"})
        text = io.StringIO()
        writer = csv.DictWriter(text, ["epoch", *names], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_text(self.path, text.getvalue())
