import keras
import numpy as np
import pytest

from tests.training import toy
from tfmrc import training
from tfmrc.training.callbacks.ema_weights import average_pairs


def compiled(wrapper=lambda optimizer: optimizer):
    """Returns a small model; it runs eagerly, which takes a fifth of the time."""
    model = toy.model()
    arguments = training.masque(steps=20, learning_rate=0.05, warmup_steps=1, ema=0.9, model=model)
    arguments["optimizer"] = wrapper(arguments["optimizer"])
    model.compile(**arguments, run_eagerly=True)
    return model


def steps(model, count=3):
    for x, y, weight in toy.batches(count):
        model.train_on_batch(x, y, weight)
    return model


def weights(model):
    return [np.array(w) for w in model.get_weights()]


def assert_equal(first, second):
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("wrapper", [lambda o: o, training.LossScale], ids=["plain", "scaled"])
def test_averages_in_the_block_and_the_same_bits_after_an_error(wrapper):
    model = steps(compiled(wrapper))
    averages = [keras.ops.convert_to_numpy(a) for _, a in average_pairs(model)]
    before, slots = weights(model), [v.numpy() for v in model.optimizer.variables]
    with pytest.raises(KeyError), training.ema_weights(model) as lent:
        assert lent is model
        assert_equal(weights(model), averages)
        with training.ema_weights(model):
            assert_equal(weights(model), averages)
        assert_equal(weights(model), averages)
        raise KeyError
    assert_equal(weights(model), before)
    assert_equal([v.numpy() for v in model.optimizer.variables], slots)
    assert max(np.abs(a - b).max() for a, b in zip(before, averages, strict=True)) > 1e-3


def test_weights_without_an_average_stay():
    """Before the first update all of them, then those that are not trained."""
    inputs = keras.Input((2,))
    frozen = keras.layers.Dense(2, trainable=False)
    model = keras.Model(inputs, keras.layers.Dense(1)(frozen(inputs)))
    model.compile(training.AdamW(0.1, use_ema=True), "mse", run_eagerly=True)
    before, kernel = weights(model), weights(frozen)
    with training.ema_weights(model):
        assert_equal(weights(model), before)
    model.train_on_batch(np.ones((2, 2)), np.ones((2, 1)))
    with training.ema_weights(model):
        assert len(average_pairs(model)) == 2
        assert_equal(weights(frozen), kernel)


def test_validation_in_fit_uses_the_averages_and_leaves_no_trace():
    validation = next(toy.batches(1, seed=5))
    recorded = {}

    class Record(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            with training.ema_weights(self.model):
                x, y, weight = validation
                own = self.model.test_on_batch(x, y, weight, return_dict=True)
            recorded[epoch] = (logs["val_loss"], own["loss"])

    def fitted(callbacks, validation_data):
        model = compiled()
        model.fit(
            toy.dataset(4),
            epochs=2,
            shuffle=False,
            validation_data=validation_data,
            callbacks=callbacks,
            verbose=0,
        )
        return model

    averaged = fitted([training.EMAWeights(), Record()], validation)
    for seen, own in recorded.values():
        assert seen == pytest.approx(own, rel=1e-6)
    assert len(recorded) == 2
    bare = fitted([], None)
    assert_equal(weights(averaged), weights(bare))
    assert_equal(
        [v.numpy() for v in averaged.optimizer.variables],
        [v.numpy() for v in bare.optimizer.variables],
    )


def test_evaluate_and_predict_with_the_callback():
    model = steps(compiled())
    x, y, weight = next(toy.batches(1, seed=5))
    before = weights(model)
    with training.ema_weights(model):
        expected = model.predict(x, verbose=0)
    got = model.predict(x, verbose=0, callbacks=[training.EMAWeights()])
    np.testing.assert_array_equal(got["ranker"], expected["ranker"])
    assert_equal(weights(model), before)


def test_saved_weights_have_no_optimizer_and_leave_the_readers_alone(tmp_path):
    path = tmp_path / "new" / "best.weights.h5"
    model = steps(compiled())
    with training.ema_weights(model):
        training.save_weights(model, path)
        averages = weights(model)
    assert [p.name for p in path.parent.iterdir()] == ["best.weights.h5"]
    bare = toy.model(seed=8)
    bare.load_weights(path)
    assert_equal(weights(bare), averages)
    other = steps(compiled(), 2)
    slots = [v.numpy() for v in other.optimizer.variables]
    training.load_weights(other, path)
    assert_equal(weights(other), averages)
    assert_equal([v.numpy() for v in other.optimizer.variables], slots)
