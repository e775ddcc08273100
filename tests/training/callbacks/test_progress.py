"""Lines that tell how far a training is."""

import keras
import numpy as np
import pytest
import tensorflow as tf

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
    model.fit(x, y, batch_size=1, epochs=2, verbose=0, callbacks=[training.Progress(60)])
    assert capsys.readouterr().out.splitlines() == [
        "step 2 of 6, loss 1.0000",
        "step 4 of 6, loss 1.0000, 30 s per step, about 1 min left",
        "step 6 of 6, loss 1.0000, 30 s per step, about 0 min left",
    ]


def test_a_resumed_training_whose_epochs_have_another_length(clock, capsys):
    line = training.Progress(0, first_step=300, steps=3000)
    line.set_params({"epochs": 2, "steps": 2700})
    line.on_train_begin()
    line.on_epoch_begin(1)
    line.on_train_batch_end(0)
    line.on_train_batch_end(1)
    assert capsys.readouterr().out.splitlines() == [
        "step 301 of 3,000",
        "step 302 of 3,000, 30 s per step, about 1349 min left",
    ]


def test_later_epochs_count_the_steps_before(clock, capsys):
    line = training.Progress(0)
    line.set_params({"epochs": 3, "steps": 2})
    line.on_train_begin()
    line.on_epoch_begin(1)  # as `fit(initial_epoch=1)`
    line.on_train_batch_end(0)
    line.on_train_batch_end(1)
    line.on_epoch_begin(2)
    line.on_train_batch_end(0)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [f"step {n} of 6" for n in (3, 4, 5)]


def test_an_unknown_number_of_steps(clock, capsys):
    line = training.Progress(0)
    line.set_params({"epochs": 2, "steps": None})
    line.on_train_begin()
    line.on_train_batch_end(0)
    line.on_train_batch_end(1, {"loss": 0.5})
    assert capsys.readouterr().out.splitlines() == ["step 1", "step 2, loss 0.5000"]


def test_several_steps_in_one_call(clock, capsys):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.0), "mse", steps_per_execution=4)
    x = np.zeros((10, 1))
    model.fit(x, x, batch_size=1, epochs=2, verbose=0, callbacks=[training.Progress(0)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        f"step {n} of 20" for n in (4, 8, 10, 14, 18, 20)
    ]


def test_endless_data_go_beyond_the_epoch_within_an_execution(clock, capsys):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.0), "mse", steps_per_execution=4)
    x = np.zeros((1, 1))
    data = tf.data.Dataset.from_tensors((x, x)).repeat()
    line = training.Progress(0)
    model.fit(data, steps_per_epoch=10, epochs=2, verbose=0, callbacks=[line])
    assert int(model.optimizer.iterations) == 24
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        *(f"step {n} of 20" for n in (4, 8, 12, 16, 20)), "step 24 of 24"
    ]  # fmt: skip


def test_a_negative_time():
    with pytest.raises(ValueError, match="every_seconds=-1"):
        training.Progress(-1)
