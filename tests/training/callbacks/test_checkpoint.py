import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.training import toy
from tfmrc import training
from tfmrc.training.callbacks import (
    checkpoint as checkpoint_module,
    progress as progress_module,
    time_limit as time_limit_module,
)
from tfmrc.training.callbacks.state_file import BrokenStateError, read_state


def fit(folder, epochs, seed=1, callbacks=(), units=None, graph=False, stateful=(), **arguments):
    """Trains a small model; eagerly, which takes a fifth of the time, unless `graph`."""
    model = toy.model(dropout=0.2, seed=seed)
    if units is not None:
        keras.utils.set_random_seed(seed)
        inputs = keras.Input((2,))
        model = keras.Model(inputs, keras.layers.Dense(units)(inputs))
        model.compile(training.AdamW(0.1), "mse")
        data = (np.ones((4, 2)), np.ones((4, units)))
        x, y = data
    else:
        model.compile(
            **training.masque(steps=40, learning_rate=0.03, warmup_steps=2, ema=0.9, model=model),
            run_eagerly=not graph,
        )
        x, y = toy.dataset(4), None
    checkpoint = training.Checkpoint(folder, callbacks=stateful, **arguments)
    history = model.fit(
        x, y, epochs=epochs, shuffle=False, verbose=0, callbacks=[*callbacks, checkpoint]
    )
    return model, history, checkpoint


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class Stop(keras.callbacks.Callback):
    def __init__(self, epoch, batch):
        super().__init__()
        self.place, self.epoch = (epoch, batch), 0

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_begin(self, batch, logs=None):
        if (self.epoch, batch) == self.place:
            raise KeyboardInterrupt


def test_steps_between_checkpoints_and_how_many_are_kept(tmp_path):
    fit(tmp_path, 2, every_steps=3, keep=10)
    assert names(tmp_path) == [
        "step-0000000003-00000.npz",
        "step-0000000004-00001.npz",
        "step-0000000007-00001.npz",
        "step-0000000008-00002.npz",
    ]
    fit(tmp_path, 3, every_steps=None)
    assert names(tmp_path) == ["step-0000000008-00002.npz", "step-0000000012-00003.npz"]


def test_a_checkpoint_is_read_once_for_its_properties(tmp_path, monkeypatch):
    _, _, checkpoint = fit(tmp_path, 1, every_steps=3)
    read = []
    monkeypatch.setattr(
        checkpoint_module, "read_state", lambda path: read.append(path) or read_state(path)
    )
    for _ in range(2):
        assert (checkpoint.step, checkpoint.epoch, checkpoint.step_in_epoch) == (4, 1, 0)
    assert len(read) == 1
    checkpoint.newest.unlink()
    assert (checkpoint.step, checkpoint.epoch, checkpoint.step_in_epoch) == (3, 0, 3)
    assert len(read) == 2


def test_seconds_between_checkpoints(tmp_path):
    fit(tmp_path, 1, every_steps=None, every_seconds=1e-9, keep=10)
    assert len(names(tmp_path)) == 5  # after each of the four steps, and after the epoch


def test_more_epochs_go_on_where_the_run_stands(tmp_path):
    unbroken, history, _ = fit(tmp_path / "one", 4, graph=True)
    fit(tmp_path / "two", 2, graph=True)
    resumed, resumed_history, checkpoint = fit(tmp_path / "two", 4, seed=77, graph=True)
    for one, two in zip(unbroken.get_weights(), resumed.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    assert resumed_history.history == history.history
    assert resumed_history.epoch == [0, 1, 2, 3]
    assert (checkpoint.epoch, checkpoint.step) == (4, 16)


def test_one_model_fitted_twice_with_one_callback(tmp_path):
    unbroken, _, _ = fit(tmp_path / "one", 3)
    model, _, checkpoint = fit(tmp_path / "two", 1)
    model.fit(toy.dataset(4), epochs=3, shuffle=False, verbose=0, callbacks=[checkpoint])
    for one, two in zip(unbroken.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    model.fit(toy.dataset(4), epochs=1, shuffle=False, verbose=0)  # without it: a run of its own
    assert checkpoint.step == 12


def test_a_model_whose_resumed_run_was_broken_off_trains_another_run_from_its_start(tmp_path):
    model, _, checkpoint = fit(tmp_path, 2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(toy.dataset(4), epochs=3, verbose=0, callbacks=[Stop(2, 1), checkpoint])
    assert model.fit(toy.dataset(4), epochs=2, verbose=0).epoch == [0, 1]


def test_interrupted_epoch_counts_its_steps_and_its_losses_once(tmp_path):
    _, unbroken, _ = fit(tmp_path / "one", 2)
    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path / "two", 2, callbacks=[Stop(1, 3)], every_steps=1)
    seen = []
    count = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: seen.append(batch)
    )
    _, resumed, _ = fit(tmp_path / "two", 2, seed=5, callbacks=[count], every_steps=1)
    assert seen == [0, 1, 2, 3]  # three of them idle: progress shows the true place in the epoch
    assert resumed.history == unbroken.history


def test_broken_checkpoint_is_passed_over(tmp_path):
    fit(tmp_path, 2)
    newest = sorted(tmp_path.iterdir())[-1]
    newest.write_bytes(newest.read_bytes()[:500])
    with pytest.warns(UserWarning, match="Skipping a broken checkpoint"):
        assert training.Checkpoint(tmp_path).epoch == 1
    unbroken = fit(tmp_path / "other", 3)[0]
    with pytest.warns(UserWarning, match="Skipping"):
        resumed = fit(tmp_path, 3, seed=4)[0]
    for one, two in zip(unbroken.get_weights(), resumed.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_run_that_passed_over_a_broken_checkpoint_knows_its_own(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path, 2, callbacks=[Stop(1, 3)], every_steps=3)
    newest = sorted(tmp_path.iterdir())[-1]
    assert newest.name == "step-0000000007-00001.npz"
    newest.write_bytes(newest.read_bytes()[:-1])
    checkpoint = training.Checkpoint(tmp_path, every_steps=1, keep=1)
    model = toy.model(dropout=0.2)
    model.compile(**training.masque(steps=8, warmup_steps=2, model=model), run_eagerly=True)
    with pytest.warns(UserWarning, match="Skipping"):
        assert checkpoint.step == 4
        with pytest.raises(KeyboardInterrupt):
            model.fit(toy.dataset(4), epochs=2, verbose=0, callbacks=[Stop(1, 1), checkpoint])
    assert checkpoint.newest.name == "step-0000000005-00001.npz" and checkpoint.step == 5
    assert names(tmp_path) == [checkpoint.newest.name, f"{newest.name}.broken"]


def test_a_flipped_bit_is_passed_over_whatever_it_breaks(tmp_path):
    fit(tmp_path, 2)
    newest = sorted(tmp_path.iterdir())[-1]
    whole = newest.read_bytes()
    # The flags and the method of compression in the archive's first header: RuntimeError and
    # NotImplementedError of `zipfile`.
    for place, bit in ((6, 0), (6, 5), (8, 1), (8, 7), (len(whole) - 70, 3), (len(whole) // 2, 0)):
        changed = bytearray(whole)
        changed[place] ^= 1 << bit
        newest.write_bytes(bytes(changed))
        with pytest.warns(UserWarning, match="Skipping a broken checkpoint"):
            assert training.Checkpoint(tmp_path).epoch == 1


def test_only_broken_checkpoints_are_an_error(tmp_path):
    tmp_path.joinpath("step-0000000001-00000.npz").write_bytes(b"nothing")
    with (
        pytest.warns(UserWarning),
        pytest.raises(BrokenStateError, match="None of the checkpoints"),
    ):
        training.Checkpoint(tmp_path).step  # noqa: B018


def test_half_written_files_are_removed(tmp_path):
    tmp_path.joinpath(".step-0000000001-00000.npz.tmp").write_bytes(b"half")
    fit(tmp_path, 1)
    assert not any(name.startswith(".") for name in names(tmp_path))


def test_checkpoint_of_another_model(tmp_path):
    fit(tmp_path, 1, units=3)
    with pytest.raises(ValueError, match=r"shape \(2, 3\) where .*kernel has \(2, 4\)"):
        fit(tmp_path, 2, units=4)


def test_checkpoint_with_the_states_of_other_callbacks(tmp_path):
    best = training.BestCheckpoint(tmp_path / "best.weights.h5", "loss")
    limit = training.TimeLimit(None)
    fit(tmp_path / "run", 1, callbacks=[best, limit], stateful=[best])
    for given in ([], [limit], [best, limit]):
        with pytest.raises(ValueError, match=r"states of other callbacks.*\['BestCheckpoint'\]"):
            fit(tmp_path / "run", 2, stateful=given)


def test_run_that_was_stopped_early_stays_stopped(tmp_path):
    class StopAfter(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.stop_training = epoch == 1

    first, history, _ = fit(tmp_path, 5, callbacks=[StopAfter()])
    again, history_again, _ = fit(tmp_path, 5, seed=3)
    assert history.epoch == history_again.epoch == [0, 1]
    for one, two in zip(first.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


def test_run_that_a_time_limit_ended_goes_on_with_a_greater_one(tmp_path):
    import tensorflow as tf

    batches = tf.data.Dataset.from_tensors((np.ones((4, 2)), np.ones((4, 3)))).repeat()

    def limited(minutes, epochs):
        limit = training.TimeLimit(minutes)
        inputs = keras.Input((2,))
        model = keras.Model(inputs, keras.layers.Dense(3)(inputs))
        model.compile(training.AdamW(0.1), "mse", run_eagerly=True)
        checkpoint = training.Checkpoint(tmp_path, callbacks=[limit])
        history = model.fit(
            checkpoint.dataset(batches.skip), epochs=epochs, steps_per_epoch=4, verbose=0,
            shuffle=False, callbacks=[limit, checkpoint],
        )  # fmt: skip
        return history.epoch, checkpoint.step

    assert limited(1e-9, 3) == ([0], 1)
    assert limited(1e-9, 3) == ([0], 1), "the same limit"
    assert limited(60.0, 3) == ([0, 1, 2], 9)
    assert limited(None, 3) == ([0, 1, 2], 9), "ended by itself"


def test_steps_and_times_of_a_run_that_was_killed_within_an_epoch(tmp_path, capsys, monkeypatch):
    """`fit` counts the steps before the checkpoint again, in no time."""
    import tensorflow as tf

    batches = tf.data.Dataset.from_tensors((np.ones((4, 2)), np.ones((4, 3)))).repeat()

    class Clock:
        seconds = 0.0

        def monotonic(self):
            return self.seconds

    clock = Clock()
    for module in (progress_module, time_limit_module):
        monkeypatch.setattr(module, "time", clock)

    class Steps(keras.callbacks.Callback):
        """A real step takes two seconds; the run is killed after some."""

        def __init__(self, idle, last):
            super().__init__()
            self.idle, self.last = idle, last

        def on_train_batch_end(self, batch, logs=None):
            clock.seconds += 2.0 * (batch >= self.idle)
            if batch + 1 == self.last:
                raise KeyboardInterrupt

    def run(last=None):
        limit = training.TimeLimit(None)
        inputs = keras.Input((2,))
        model = keras.Model(inputs, keras.layers.Dense(3)(inputs))
        model.compile(training.AdamW(0.1), "mse", run_eagerly=True)
        checkpoint = training.Checkpoint(tmp_path, every_steps=5, callbacks=[limit])
        idle = checkpoint.step_in_epoch
        progress = training.Progress(1.5, first_step=checkpoint.step - idle, steps=8)
        model.fit(
            checkpoint.dataset(batches.skip), epochs=1, steps_per_epoch=8, verbose=0,
            shuffle=False, callbacks=[Steps(idle, last), progress, limit, checkpoint],
        )  # fmt: skip
        return limit.seconds_per_step, checkpoint.step

    with pytest.raises(KeyboardInterrupt):
        run(last=7)
    capsys.readouterr()
    assert run() == (2.0, 8)
    lines = [line.split(",")[0] for line in capsys.readouterr().out.splitlines()]
    assert lines == ["step 6 of 8", "step 7 of 8", "step 8 of 8"]


def test_standard_callbacks(tmp_path):
    run = training.callbacks(tmp_path, tensorboard=False, patience=1, every_steps=2)
    model = toy.model()
    model.compile(
        **training.masque(steps=40, learning_rate=0.03, warmup_steps=2, ema=0.9, model=model),
        run_eagerly=True,
    )
    x, y, weight = next(toy.batches(1, seed=4))
    model.fit(
        toy.dataset(4),
        epochs=2,
        shuffle=False,
        verbose=0,
        validation_data=(x, y, weight),
        callbacks=run,
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "best.weights.h5",
        "checkpoints",
        "log.csv",
    ]
    assert run.best.best_epoch in (0, 1)
    assert run.checkpoint.epoch == 2
    bare = training.callbacks(tmp_path, ema_weights=False, monitor=None)
    assert type(bare.ema_weights) is type(bare.best) is keras.callbacks.Callback


@pytest.mark.parametrize(
    "arguments, word",
    [({"every_steps": 0}, "every_steps=0"), ({"every_seconds": -1}, "every_seconds=-1"),
     ({"keep": 0}, "keep=0")],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(tmp_path, arguments, word):
    with pytest.raises(ValueError, match=f"Received: {word}"):
        training.Checkpoint(tmp_path, **arguments)


def _in_executions_of_four(folder, x, last=None, per_execution=4, **options):
    """Trains two epochs of a small model; the run is killed after batch `last` of the second."""
    inputs = keras.Input((2,))
    model = keras.Model(inputs, keras.layers.Dense(1, kernel_initializer="ones")(inputs))
    model.compile(training.AdamW(0.1), "mse", steps_per_execution=per_execution)
    checkpoint = training.Checkpoint(folder, every_steps=1)

    class Killed(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if checkpoint.epoch == 1 and batch == last:
                raise KeyboardInterrupt

    def run():
        run_folder = [checkpoint, Killed()]
        model.fit(x, epochs=2, verbose=0, shuffle=False, callbacks=run_folder, **options)

    if last is None:
        run()
    else:
        with pytest.raises(KeyboardInterrupt):
            run()
    return model, checkpoint


def test_an_epoch_that_ends_within_an_execution_counts_its_batches(tmp_path):
    values = np.random.default_rng(2).normal(size=(10, 1, 2)).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((values, values.sum(-1, keepdims=True) * 3))
    unbroken, checkpoint = _in_executions_of_four(tmp_path / "whole", data)
    assert (checkpoint.step, int(unbroken.optimizer.iterations)) == (20, 20)
    for last, expected in ((7, 8), (11, 10)):
        folder = tmp_path / str(last)
        _, checkpoint = _in_executions_of_four(folder, data, last)
        assert (checkpoint.step, checkpoint.step_in_epoch) == (10 + expected, expected)
        resumed, checkpoint = _in_executions_of_four(folder, data)
        assert (checkpoint.step, int(resumed.optimizer.iterations)) == (20, 20)
        for one, two in zip(unbroken.get_weights(), resumed.get_weights(), strict=True):
            np.testing.assert_array_equal(one, two)
    # Of data without an end Keras takes whole executions.
    model, checkpoint = _in_executions_of_four(
        tmp_path / "endless", data.repeat(), steps_per_epoch=10
    )
    assert (checkpoint.step, int(model.optimizer.iterations)) == (24, 24)


def test_an_epoch_of_unknown_length_counts_the_batches_of_its_last_execution(tmp_path):
    values = np.random.default_rng(2).normal(size=(10, 1, 2)).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((values, values.sum(-1, keepdims=True) * 3))
    data = data.filter(lambda x, y: True)
    unbroken, checkpoint = _in_executions_of_four(tmp_path / "whole", data)
    assert (checkpoint.step, int(unbroken.optimizer.iterations)) == (20, 20)
    _, checkpoint = _in_executions_of_four(tmp_path / "killed", data, 11)
    assert (checkpoint.step, checkpoint.step_in_epoch) == (20, 10)
    resumed, checkpoint = _in_executions_of_four(tmp_path / "killed", data)
    assert (checkpoint.step, int(resumed.optimizer.iterations)) == (20, 20)
    for one, two in zip(unbroken.get_weights(), resumed.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


def test_other_executions_within_an_epoch_are_refused(tmp_path):
    """Two executions of three passed over its four batches, and two were not trained."""
    values = np.random.default_rng(2).normal(size=(10, 1, 2)).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((values, values.sum(-1, keepdims=True) * 3))
    _in_executions_of_four(tmp_path, data, 3)
    with pytest.raises(ValueError, match="4 batches of the epoch .*steps_per_execution=4"):
        _in_executions_of_four(tmp_path, data, per_execution=3)
    resumed, checkpoint = _in_executions_of_four(tmp_path, data, per_execution=2)
    assert (checkpoint.step, int(resumed.optimizer.iterations)) == (20, 20)


@pytest.mark.parametrize("skipped", [1, 2])
def test_steps_that_a_loss_scale_skips_in_a_short_execution_are_counted(tmp_path, skipped):
    values = np.ones((10, 1, 2), "float32")
    values[10 - skipped :] = 1e30  # whose loss and gradient are infinite
    data = tf.data.Dataset.from_tensor_slices((values, np.ones((10, 1, 1), "float32")))
    inputs = keras.Input((2,))
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    optimizer = training.LossScale(keras.optimizers.SGD(0.01))
    model.compile(optimizer, "mse", steps_per_execution=4)
    checkpoint = training.Checkpoint(tmp_path)
    model.fit(data, epochs=2, verbose=0, callbacks=[checkpoint])
    assert int(optimizer.iterations) == 20 - 2 * skipped
    assert checkpoint.step == 20  # the first epoch tells Keras how many batches there are
