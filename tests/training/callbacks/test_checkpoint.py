"""The state of a training: saved, restored, and refused where it does not fit."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.training import toy
from tfmrc import training


def fit(folder, epochs, seed=1, callbacks=(), graph=False, frozen=(), stateful=(), **options):
    """Trains a small model; eagerly, which takes a fifth of the time, unless `graph`."""
    model = toy.model(dropout=0.2, seed=seed)
    for name in frozen:
        model.get_layer(name).trainable = False
    arguments = training.masque(steps=40, learning_rate=0.03, warmup_steps=2, ema=0.9, model=model)
    model.compile(**arguments, run_eagerly=not graph)
    checkpoint = training.Checkpoint(folder, callbacks=stateful, **options)
    history = model.fit(
        toy.dataset(4), epochs=epochs, shuffle=False, verbose=0, callbacks=[*callbacks, checkpoint]
    )
    return model, history, checkpoint


def fit_small(folder, epochs=2, x=None, units=1, optimizer=None, execution=1, stop=None, **options):
    """Trains one dense layer; KeyboardInterrupt after the batch `stop` of its second epoch."""
    inputs = keras.Input((2,))
    model = keras.Model(inputs, keras.layers.Dense(units, kernel_initializer="ones")(inputs))
    optimizer = optimizer or training.AdamW(0.1)
    model.compile(optimizer, "mse", steps_per_execution=execution, run_eagerly=execution == 1)
    checkpoint = training.Checkpoint(folder, every_steps=1)

    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if checkpoint.epoch == 1 and batch == stop:
                raise KeyboardInterrupt

    x = rows(8) if x is None else x
    model.fit(x, epochs=epochs, verbose=0, callbacks=[checkpoint, Stop()], **options)
    return model, checkpoint


def rows(count):
    values = np.random.default_rng(2).normal(size=(count, 1, 2)).astype("float32")
    return tf.data.Dataset.from_tensor_slices((values, values.sum(-1, keepdims=True) * 3))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def assert_equal_weights(first, second):
    for one, two in zip(first.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


class Stop(keras.callbacks.Callback):
    def __init__(self, epoch, batch):
        super().__init__()
        self.place, self.epoch = (epoch, batch), 0

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_begin(self, batch, logs=None):
        if (self.epoch, batch) == self.place:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """Model and history of three epochs."""
    return fit(tmp_path_factory.mktemp("unbroken"), 3)[:2]


def test_steps_between_checkpoints_and_how_many_are_kept(tmp_path):
    tmp_path.joinpath(".step-0000000001-00000.npz.part").write_bytes(b"left by a kill")
    seen = []
    watch = keras.callbacks.LambdaCallback(
        on_train_batch_begin=lambda batch, logs: seen.append(names(tmp_path))
    )
    fit(tmp_path, 2, every_steps=3, callbacks=[watch])
    assert seen[0] == [] and seen[3] == ["step-0000000003-00000.npz"]
    assert names(tmp_path) == ["step-0000000007-00001.npz", "step-0000000008-00002.npz"]
    fit(tmp_path, 3, every_steps=None)
    assert names(tmp_path) == ["step-0000000008-00002.npz", "step-0000000012-00003.npz"]


def test_more_epochs_go_on_where_the_run_stands(tmp_path):
    """In graphs, with a frozen layer."""
    options = {"graph": True, "frozen": ("words",)}
    whole, history, _ = fit(tmp_path / "one", 3, **options)
    fit(tmp_path / "two", 1, **options)
    resumed, resumed_history, checkpoint = fit(tmp_path / "two", 3, seed=77, **options)
    assert_equal_weights(whole, resumed)
    for one, two in zip(whole.optimizer.variables, resumed.optimizer.variables, strict=True):
        np.testing.assert_array_equal(np.array(one), np.array(two))
    assert resumed_history.history == history.history
    assert resumed_history.epoch == [0, 1, 2]
    assert (checkpoint.epoch, checkpoint.step) == (3, 12)


def test_interrupted_epoch_counts_its_steps_and_its_losses_once(tmp_path, unbroken):
    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path, 3, callbacks=[Stop(1, 3)], every_steps=1)
    seen = []
    count = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: seen.append(batch)
    )
    resumed, history, _ = fit(tmp_path, 3, seed=5, callbacks=[count], every_steps=1)
    assert seen == [0, 1, 2, 3] * 2  # three of them idle: progress shows the true place
    assert_equal_weights(unbroken[0], resumed)
    assert history.history == unbroken[1].history


def test_accumulated_gradients_are_resumed(tmp_path):
    def run(folder, **options):
        sgd = training.SGD(0.01, gradient_accumulation_steps=3)
        return fit_small(folder, optimizer=sgd, shuffle=False, **options)[0]

    whole = run(tmp_path / "one")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "two", stop=4)
    assert_equal_weights(whole, run(tmp_path / "two"))


def test_a_damaged_checkpoint_is_passed_over(tmp_path, unbroken):
    fit(tmp_path, 2, every_steps=3)
    newest = sorted(tmp_path.iterdir())[-1]
    whole = newest.read_bytes()
    first = whole.index(b"NUMPY")  # bits in an array's header, its numbers, a member's header
    places = [first + 2, first + 130, whole.rindex(b"PK\x01\x02") + 10]
    bits = [whole[:n] + bytes([whole[n] ^ 1]) + whole[n + 1 :] for n in places]
    for content in (whole[:500], b"", *bits):
        newest.write_bytes(content)
        with pytest.warns(UserWarning, match="Skipping a damaged checkpoint: .*cannot be read"):
            checkpoint = training.Checkpoint(tmp_path)
            assert (checkpoint.epoch, checkpoint.step, checkpoint.step_in_epoch) == (1, 7, 3)
    with pytest.warns(UserWarning, match="Skipping"):
        resumed, _, checkpoint = fit(tmp_path, 3, seed=4, every_steps=1)
    assert_equal_weights(unbroken[0], resumed)
    assert newest.with_name(f"{newest.name}.broken").exists() and checkpoint.step == 12


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    fit_small(tmp_path / "dense", 1)
    for options, words in (
        (
            {"units": 3},
            r"model with .* shapes \[\(2, 3\), .*\], \[\(2, 1\), .*\] in the checkpoint",
        ),
        (
            {"optimizer": keras.optimizers.SGD(0.1)},
            "another model or optimizer.*Received: optimizer with",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            fit_small(tmp_path / "dense", 2, **options)
    best = training.BestCheckpoint(tmp_path / "best.weights.h5", "loss")
    fit(tmp_path / "toy", 1, callbacks=[best], stateful=[best])
    for options, words in (
        ({"frozen": ("words",), "stateful": [best]}, "Received: optimizer with"),
        ({"stateful": []}, "argument"),
    ):
        with pytest.raises(ValueError, match=words):
            fit(tmp_path / "toy", 2, **options)


def test_run_that_was_stopped_early_stays_stopped(tmp_path):
    class StopAfter(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.stop_training = epoch == 1

    first, history, _ = fit(tmp_path, 5, callbacks=[StopAfter()])
    again, history_again, _ = fit(tmp_path, 5, seed=3)
    assert history.epoch == history_again.epoch == [0, 1]
    assert_equal_weights(first, again)


def limited(folder, minutes, epochs, every_steps=500, callbacks=lambda checkpoint: []):
    """Trains on endless data, epochs of eight batches, with a time limit."""
    batches = tf.data.Dataset.from_tensors((np.ones((4, 2)), np.ones((4, 3)))).repeat()
    limit = training.TimeLimit(minutes)
    inputs = keras.Input((2,))
    model = keras.Model(inputs, keras.layers.Dense(3)(inputs))
    model.compile(training.AdamW(0.1), "mse", run_eagerly=True)
    checkpoint = training.Checkpoint(folder, every_steps, callbacks=[limit])
    history = model.fit(
        checkpoint.dataset(batches.skip), epochs=epochs, steps_per_epoch=8, verbose=0,
        shuffle=False, callbacks=[*callbacks(checkpoint), limit, checkpoint],
    )  # fmt: skip
    return history.epoch, checkpoint.step, limit.seconds_per_step


def test_run_that_a_time_limit_ended_goes_on_with_a_greater_one(tmp_path):
    assert limited(tmp_path, 1e-9, 3)[:2] == ([0], 1)
    assert limited(tmp_path, 1e-9, 3)[:2] == ([0], 1), "the same limit"
    assert limited(tmp_path, 60.0, 3)[:2] == ([0, 1, 2], 17)
    assert limited(tmp_path, None, 3)[:2] == ([0, 1, 2], 17), "ended by itself"


def test_run_that_goes_on_and_is_interrupted_goes_on_again(tmp_path):
    limited(tmp_path, 1e-9, 3)
    with pytest.raises(KeyboardInterrupt):
        limited(tmp_path, 60.0, 3, every_steps=1, callbacks=lambda _: [Stop(1, 3)])
    assert limited(tmp_path, 60.0, 3)[:2] == ([0, 1, 2], 17)


def test_executions_of_several_steps(tmp_path):
    data = rows(8)
    whole, _ = fit_small(tmp_path / "one", x=data, execution=4)
    with pytest.raises(KeyboardInterrupt):
        fit_small(tmp_path / "two", x=data, execution=4, stop=3)
    assert training.Checkpoint(tmp_path / "two").step_in_epoch == 4
    with pytest.raises(ValueError, match=r"of an epoch \(8\), of which 4 .*execution=8"):
        fit_small(tmp_path / "two", x=data, execution=8)
    resumed, checkpoint = fit_small(tmp_path / "two", x=data, execution=2)
    assert (checkpoint.step, int(resumed.optimizer.iterations)) == (16, 16)
    assert_equal_weights(whole, resumed)
    with pytest.raises(ValueError, match="must divide the number of steps"):
        fit_small(tmp_path / "three", x=rows(10), execution=4)
