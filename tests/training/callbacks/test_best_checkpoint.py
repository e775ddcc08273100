import keras
import numpy as np
import pytest

from tfmrc import training


class Scripted(keras.callbacks.Callback):
    """Sets the weight and the number of each epoch."""

    def __init__(self, values):
        super().__init__()
        self.values = values

    def on_epoch_end(self, epoch, logs=None):
        self.model.layers[-1].kernel.assign([[float(epoch)]])
        logs["score"] = self.values[epoch]


def run(path, values, optimizer=None, epochs=None, **arguments):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.compile(optimizer or keras.optimizers.SGD(0.0), "mse", run_eagerly=True)
    best = training.BestCheckpoint(path, "score", **arguments)
    history = model.fit(
        np.ones((2, 1)),
        np.zeros((2, 1)),
        epochs=epochs or len(values),
        verbose=0,
        callbacks=[Scripted(values), best],
    )
    return float(model.get_weights()[0][0, 0]), best, len(history.epoch)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "best.weights.h5"


@pytest.mark.parametrize(
    "mode, values, kept",
    [("max", [1, 3, 2, 3], 1), ("min", [3, 1, 2, 1], 1), ("max", [1, 2, 5], 2)],
)
def test_weights_of_the_first_best_epoch_are_restored(path, mode, values, kept):
    weight, best, epochs = run(path, values, mode=mode)
    assert (weight, best.best_epoch, best.best) == (kept, kept, values[kept])
    assert epochs == len(values)


def test_stops_after_patience(path):
    assert run(path, [1, 5, 4, 4, 9], mode="max", patience=2)[2] == 4
    assert run(path, [1, 5, 4, 6, 5, 5, 9], mode="max", patience=2)[2] == 6


def test_nan_is_never_best(path):
    nan = float("nan")
    _, best, epochs = run(path, [nan, 2.0, nan, nan], patience=2)
    assert (best.best_epoch, epochs) == (1, 4)


def test_averages_are_what_is_kept(path):
    optimizer = training.AdamW(0.1, weight_decay=None, use_ema=True, ema_momentum=0.5)
    weight, best, _ = run(path, [1, 0], optimizer, mode="max")
    averages_at_epoch_0 = weight
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.load_weights(path)
    assert float(model.get_weights()[0][0, 0]) == averages_at_epoch_0
    assert averages_at_epoch_0 not in (0.0, 1.0)  # the scripted weights themselves


def test_state_goes_on_with_the_weights_that_it_counts_on(path):
    one = run(path, [3, 1, 2])[1]
    two = training.BestCheckpoint(path, patience=3)
    two.set_state(one.get_state())
    assert (two.best, two.best_epoch, two.wait) == (1, 1, 1)
    path.unlink()
    with pytest.raises(ValueError, match=f"{path} is missing"):
        training.BestCheckpoint(path).set_state(one.get_state())


@pytest.mark.parametrize(
    ("perplexities", "kept"), [([9, 5, 4, 3, 6, 7], 4), ([1, 2, 3, 4, 5, 6], 3), ([2, 9], 1)]
)
def test_of_the_four_best_epochs_the_last_one_is_kept(path, perplexities, kept):
    """The rule of Zhao et al. 2018."""
    weight, best, _ = run(path, perplexities, among=4)
    assert (weight, best.best_epoch, best.best) == (kept, kept, min(perplexities))
    assert kept == max(np.argsort(perplexities, kind="stable")[:4])
    resumed = training.BestCheckpoint(path, "score", among=4)
    resumed.set_state(best.get_state())
    assert resumed.values == sorted(perplexities)[:4] and resumed.best_epoch == kept


@pytest.mark.parametrize("frequency, validated", [(2, [1, 3]), ([3], [2])])
def test_epochs_without_validation_are_passed_over(path, frequency, validated):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.compile(keras.optimizers.SGD(0.1), "mse", run_eagerly=True)
    best = training.BestCheckpoint(path, patience=5)
    x, y = np.ones((2, 1)), np.zeros((2, 1))
    history = model.fit(
        x, y, epochs=4, verbose=0, validation_data=(x, y), validation_freq=frequency,
        callbacks=[best],
    )  # fmt: skip
    losses = history.history["val_loss"]
    assert len(history.epoch) == 4 and len(losses) == len(validated)
    assert best.best_epoch == validated[int(np.argmin(losses))] and best.best == min(losses)
    assert model.evaluate(x, y, verbose=0) == pytest.approx(min(losses))


@pytest.mark.parametrize("monitor", ["val_score", "score"])
def test_a_number_that_no_log_has_is_an_error_of_the_first_epoch(path, monitor):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.compile(keras.optimizers.SGD(0.1), "mse", run_eagerly=True)
    best = training.BestCheckpoint(path, monitor)
    x, y = np.ones((2, 1)), np.zeros((2, 1))
    with pytest.raises(KeyError, match=monitor):
        model.fit(x, y, epochs=2, verbose=0, validation_data=(x, y), callbacks=[best])


@pytest.mark.parametrize("ema", [False, True])
def test_layers_with_lora_can_be_trained_after_the_best_weights_are_loaded(path, ema):
    """Keras loads an update of zeros, which has no gradient."""

    def adapted(with_lora=True):
        inputs = keras.Input((3,))
        dense = keras.layers.Dense(2, use_bias=False, name="dense")
        model = keras.Model(inputs, dense(inputs))
        if with_lora:
            dense.enable_lora(1)
        optimizer = training.AdamW(0.1, use_ema=ema, ema_momentum=0.5)
        model.compile(optimizer, "mse", run_eagerly=True)
        return model

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(8, 3)), rng.normal(size=(8, 2))
    model = adapted()
    best = training.BestCheckpoint(path, "loss")
    model.fit(x, y, epochs=3, verbose=0, callbacks=[best])
    outputs = model.predict(x, verbose=0)
    assert all(np.any(w != 0) for w in map(keras.ops.convert_to_numpy, model.trainable_variables))
    for other in (adapted(), adapted(with_lora=False)):  # also one whose update is merged
        training.load_weights(other, path)
        np.testing.assert_allclose(other.predict(x, verbose=0), outputs, rtol=1e-5, atol=1e-6)
    kernel = keras.ops.convert_to_numpy(model.layers[-1]._kernel)
    losses = model.fit(x, y, epochs=3, verbose=0).history["loss"]
    assert losses[2] < losses[1] < losses[0]
    np.testing.assert_array_equal(model.layers[-1]._kernel, kernel)
