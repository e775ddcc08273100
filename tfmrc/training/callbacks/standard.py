"""The standard callbacks of a run: stopping, best weights, logs and resuming."""

import os
from pathlib import Path
from typing import NamedTuple

import keras

from tfmrc.training.callbacks.best_checkpoint import BestCheckpoint
from tfmrc.training.callbacks.checkpoint import Checkpoint
from tfmrc.training.callbacks.csv_log import CsvLog
from tfmrc.training.callbacks.ema_weights import EMAWeights
from tfmrc.training.callbacks.non_finite import StopOnNonFinite


class Callbacks(NamedTuple):
    """The callbacks of a run in the right order, as a list for `fit`."""

    finite: StopOnNonFinite
    ema_weights: EMAWeights | keras.callbacks.Callback
    best: BestCheckpoint | keras.callbacks.Callback
    log: CsvLog
    tensorboard: keras.callbacks.Callback
    checkpoint: Checkpoint


def callbacks(
    folder: str | os.PathLike[str],
    *,
    ema_weights: bool = True,
    monitor: str | None = "val_loss",
    mode: str = "min",
    patience: int | None = None,
    among: int = 1,
    every_steps: int | None = 500,
    tensorboard: bool = False,
) -> Callbacks:
    """Returns the standard callbacks in the right order, with their files in one folder.

    The files::

        folder/best.weights.h5      weights of the best epoch, as they were validated
        folder/log.csv              one row per epoch
        folder/checkpoints/         states from which an interrupted run continues
        folder/tensorboard/         with `tensorboard=True`

    A loss or gradient that is not finite ends the training with an error (`StopOnNonFinite`).

    Args:
        folder: str or path. The folder of the run.
        ema_weights: bool. Whether to validate with the moving averages of the weights.
            Default: True.
        monitor: str or None. The quantity that determines the best epoch; None without validation
            data. Default: "val_loss".
        mode: str. Whether the "min" or the "max" is best. Default: "min".
        patience: int or None. Number of epochs without improvement after which training stops; None
            for never. Default: None.
        among: int. Number of best epochs of which the last one is saved (see `BestCheckpoint`).
            Default: 1.
        every_steps: int or None. Steps between checkpoints; None for the ends of epochs only.
            Default: 500.
        tensorboard: bool. Whether to write logs for TensorBoard, which needs the package
            `tensorboard`. Default: False.

    Returns:
        A named tuple for `fit`. Unused entries are callbacks that do nothing.

    Example:

    >>> import tempfile
    >>> from tfmrc import training
    >>> run = training.callbacks(tempfile.mkdtemp(), patience=3)
    >>> run.checkpoint.step, run.best.patience
    (0, 3)

    With a dataset that can start at any batch::

        run = training.callbacks("runs/masque")
        train = run.checkpoint.dataset(
            lambda start_step: data.make_dataset(..., repeat=True, start_step=start_step))
        model.fit(train, epochs=8, steps_per_epoch=1000, callbacks=run)
    """
    folder = Path(folder)
    nothing = keras.callbacks.Callback
    log = CsvLog(folder / "log.csv")
    best = (
        nothing()
        if monitor is None
        else BestCheckpoint(
            folder / "best.weights.h5", monitor, mode, patience, among, ema_weights=ema_weights
        )
    )
    checkpoint = Checkpoint(folder / "checkpoints", every_steps, callbacks=[log])
    if isinstance(best, BestCheckpoint):
        checkpoint.callbacks.append(best)
    return Callbacks(
        finite=StopOnNonFinite(checkpoint),
        ema_weights=EMAWeights() if ema_weights else nothing(),
        best=best,
        log=log,
        tensorboard=(
            keras.callbacks.TensorBoard(str(folder / "tensorboard")) if tensorboard else nothing()
        ),
        checkpoint=checkpoint,
    )
