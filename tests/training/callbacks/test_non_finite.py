"""A loss or gradient that is not finite ends a training, and the last good checkpoint loads."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.training import toy
from tfmrc import training
from tfmrc.training.callbacks.state_file import read_state

BATCHES = 4


def compiled(seed=1, **options):
    model = toy.model(seed=seed)
    options = {"learning_rate": 0.03, "warmup_steps": 2, "ema": 0.9, **options}
    model.compile(**training.masque(model=model, steps=40, **options), run_eagerly=True)
    return model


def broken_data(step, part):
    """Three epochs of batches, with labels that are no numbers in one of them."""
    batches = list(toy.batches(BATCHES)) * 3
    x, y, weight = batches[step - 1]
    batches[step - 1] = (x, {**y, part: np.full_like(y[part], np.nan)}, weight)
    stacked = tf.nest.map_structure(lambda *leaves: np.concatenate(leaves), *batches)
    return tf.data.Dataset.from_tensor_slices(stacked).batch(8)


def test_the_error_names_step_term_and_checkpoint(tmp_path):
    run = training.callbacks(tmp_path, monitor=None, every_steps=2)
    with pytest.raises(training.NonFiniteError) as error:
        compiled().fit(
            broken_data(7, "ranker"), epochs=3, steps_per_epoch=BATCHES, verbose=0, callbacks=run
        )
    newest = tmp_path / "checkpoints" / "step-0000000006-00001.npz"
    assert "At step 7 the loss `ranker_loss` (nan)" in str(error.value)
    assert f"The last good checkpoint is {newest};" in str(error.value)
    assert (error.value.step, error.value.checkpoint) == (7, newest)
    arrays, facts = read_state(newest)
    assert facts["step"] == 6 and all(np.isfinite(array).all() for array in arrays.values())
    # The checkpoint is the state of an unbroken run, and training continues from it.
    model = compiled(seed=9)
    run = training.callbacks(tmp_path, monitor=None, every_steps=2)
    history = model.fit(
        toy.dataset(BATCHES).repeat(), epochs=3, steps_per_epoch=BATCHES, verbose=0, callbacks=run
    )
    assert history.epoch == [0, 1, 2] and np.isfinite(history.history["loss"]).all()


class InfiniteGradient(keras.layers.Layer):
    """The square root of 0: finite itself, with an infinite gradient."""

    def build(self, shape):
        self.root = self.add_weight(shape=(), initializer="zeros", name="root")

    def call(self, x):
        return x + keras.ops.sqrt(self.root)


def test_a_gradient_is_found_before_it_reaches_a_loss_or_a_checkpoint(tmp_path):
    inputs = keras.Input((2,))
    outputs = keras.layers.Dense(1, name="dense")(InfiniteGradient(name="roots")(inputs))
    model = keras.Model(inputs, outputs)
    model.compile("sgd", "mse")
    checkpoint = training.Checkpoint(tmp_path, every_steps=1)
    callbacks = [training.StopOnNonFinite(checkpoint), checkpoint]
    with pytest.raises(training.NonFiniteError, match="step 1 the gradient of .*roots/root"):
        model.fit(np.ones((4, 2)), np.ones((4, 1)), batch_size=2, verbose=0, callbacks=callbacks)
    assert not list(tmp_path.iterdir())


def test_a_model_in_float16_stops_when_its_numbers_overflow(tmp_path):
    class Explode(keras.callbacks.Callback):
        """After the second step, what a far too high learning rate does to the weights."""

        def on_train_batch_begin(self, batch, logs=None):
            if batch == 2:
                for variable in self.model.trainable_variables:
                    variable.assign(variable * 1e6)

    model = toy.model(dtype="mixed_float16")
    arguments = training.masque(model=model, steps=200, warmup_steps=2)
    model.compile(**arguments, run_eagerly=True)
    run = training.callbacks(tmp_path, monitor=None, every_steps=1)
    with pytest.raises(training.NonFiniteError, match="At step 3 the loss `.*_loss` .(nan|inf)"):
        model.fit(toy.dataset(4), verbose=0, callbacks=[Explode(), *run])
    assert run.checkpoint.step == 2
    for path in (tmp_path / "checkpoints").iterdir():
        for array in read_state(path)[0].values():
            assert np.isfinite(np.asarray(array, "float32")).all()


def test_metrics_and_skipped_updates_are_no_error():
    stop = training.StopOnNonFinite()
    stop.on_train_batch_end(0, {"loss": 1.0, "accuracy": float("nan")})
    scaled = toy.model()
    arguments = training.masque(model=scaled, steps=40, warmup_steps=2)
    arguments["optimizer"] = training.LossScale(arguments["optimizer"], initial_scale=2.0**127)
    scaled.compile(**arguments, run_eagerly=True)
    history = scaled.fit(toy.dataset(2), verbose=0, callbacks=[stop])
    assert int(scaled.optimizer.inner_optimizer.iterations) < 2  # at least one was left out
    assert np.isfinite(history.history["loss"]).all()
