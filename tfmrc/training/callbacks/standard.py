"""The callbacks of a run that is to be watched, stopped and resumed."""

import os
from pathlib import Path
from typing import NamedTuple

import keras

from tfmrc.training.callbacks.best_checkpoint import BestCheckpoint
from tfmrc.training.callbacks.checkpoint import Checkpoint
from tfmrc.training.callbacks.csv_log import CsvLog
from tfmrc.training.callbacks.ema_weights import EMAWeights


class Callbacks(NamedTuple):
    """The callbacks of a run in the right order: give it to `fit` as it is."""

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
    every_seconds: float | None = None,
    tensorboard: bool = False,
) -> Callbacks:
    """The standard callbacks, in the right order, all their files in one folder.

        folder/best.weights.h5      the averaged weights of the best epoch
        folder/log.csv              a row an epoch
        folder/checkpoints/         what a run that was killed takes up
        folder/tensorboard/         if asked for

    Args:
        folder: one a run.
        ema_weights: whether to validate with the moving averages of the weights.
        monitor: the number that says which epoch is best; None without validation data.
        mode: "min" or "max": which is better.
        patience: epochs without a better one after which training stops; None for never.
        among: of how many best epochs the last one is kept (see `BestCheckpoint`).
        every_steps: steps between checkpoints.
        every_seconds: also a checkpoint when so many seconds have passed.
        tensorboard: whether to write for TensorBoard (the package `tensorboard` must be there).

    Returns:
        A named tuple that `fit` takes as it is. What was not asked for is a callback that does
        nothing.

    Example:

    >>> import tempfile
    >>> from tfmrc import training
    >>> run = training.callbacks(tempfile.mkdtemp(), patience=3)
    >>> run.checkpoint.step, run.best.patience
    (0, 3)

    With a dataset that can begin anywhere:

        run = training.callbacks("runs/masque")
        train = run.checkpoint.dataset(
            lambda start_step: data.make_dataset(..., repeat=True, start_step=start_step))
        model.fit(train, epochs=8, steps_per_epoch=1000, callbacks=run)
    """
    folder = Path(folder)
    nothing = keras.callbacks.Callback
    best = (
        nothing()
        if monitor is None
        else BestCheckpoint(
            folder / "best.weights.h5", monitor, mode, patience=patience, among=among
        )
    )
    return Callbacks(
        ema_weights=EMAWeights() if ema_weights else nothing(),
        best=best,
        log=CsvLog(folder / "log.csv"),
        tensorboard=(
            keras.callbacks.TensorBoard(str(folder / "tensorboard")) if tensorboard else nothing()
        ),
        checkpoint=Checkpoint(
            folder / "checkpoints",
            every_steps,
            every_seconds,
            callbacks=[best] if isinstance(best, BestCheckpoint) else [],
        ),
    )
