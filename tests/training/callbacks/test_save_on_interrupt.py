"""SIGINT during `fit`: a checkpoint, from which training ends as without an interruption."""

import os
import signal
import threading

import keras
import numpy as np
import pytest

from tfmrc import training

EPOCHS, STEPS = 3, 4


class Interrupt(keras.callbacks.Callback):
    """Sends SIGINT to the process at a moment of the second epoch."""

    def __init__(self, moment, times=1):
        super().__init__()
        self.moment, self.times, self.epoch = moment, times, 0

    def at(self, moment):
        if (self.epoch, moment) == (1, self.moment):
            for _ in range(self.times):
                os.kill(os.getpid(), signal.SIGINT)

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_begin(self, batch, logs=None):
        self.at(f"step {batch}")

    def on_test_batch_begin(self, batch, logs=None):
        self.at("validation")


def fit(folder, *callbacks):
    keras.utils.set_random_seed(2)
    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    model.compile(training.AdamW(0.1, use_ema=True, ema_momentum=0.9), "mse", run_eagerly=True)
    x = np.random.default_rng(0).normal(size=(2 * STEPS, 3))
    run = training.callbacks(folder, every_steps=None)
    previous = signal.getsignal(signal.SIGINT)
    try:
        with training.SaveOnInterrupt(run.checkpoint) as interrupt:
            model.fit(
                x, x[:, :1], batch_size=2, epochs=EPOCHS, shuffle=False, verbose=0,
                validation_data=(x[:2], x[:2, :1]), callbacks=[*callbacks, *run, interrupt],
            )  # fmt: skip
    finally:
        assert signal.getsignal(signal.SIGINT) is previous
    return [np.array(weight) for weight in model.weights]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return fit(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize(("moment", "step"), [("step 2", 7), ("validation", 8)])
def test_an_interrupted_training_resumes_after_the_step(tmp_path, capsys, whole, moment, step):
    with pytest.raises(KeyboardInterrupt, match=f"after step {step}; the checkpoint is in"):
        fit(tmp_path / "broken", Interrupt(moment))
    assert "checkpoint is saved after this step" in capsys.readouterr().err
    assert training.Checkpoint(tmp_path / "broken" / "checkpoints").step == step
    for one, other in zip(whole, fit(tmp_path / "broken"), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_second_interruption_ends_at_once_without_a_checkpoint(tmp_path):
    with pytest.raises(KeyboardInterrupt) as raised:
        fit(tmp_path, Interrupt("step 2", times=2))
    assert type(raised.value) is KeyboardInterrupt
    assert training.Checkpoint(tmp_path / "checkpoints").step == STEPS


def test_outside_the_main_thread_training_is_as_without_it(tmp_path):
    results = []
    thread = threading.Thread(target=lambda: results.append(fit(tmp_path)))
    thread.start()
    thread.join()
    assert len(results) == 1
