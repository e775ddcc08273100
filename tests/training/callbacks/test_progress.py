"""Lines that tell how far a training is."""

import keras
import numpy as np
import pytest

from tfmrc import training
from tfmrc.training.callbacks import progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that each look moves on by half a minute."""
    times = iter(range(0, 10_000, 30))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(times)))


def test_one_line_a_minute_with_the_time_left(clock, capsys):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.0), "mse", run_eagerly=True)
    model.layers[0].set_weights([np.ones((1, 1)), np.zeros(1)])
    x, y = np.ones((3, 1)), np.zeros((3, 1))
    model.fit(x, y, batch_size=1, epochs=2, verbose=0, callbacks=[training.ProgressLog(60)])
    assert capsys.readouterr().out.splitlines() == [
        "step 2 of 6, loss 1.0000",
        "step 4 of 6, loss 1.0000, 30 s per step, about 1 min left",
        "step 6 of 6, loss 1.0000, 30 s per step, about 0 min left",
    ]
