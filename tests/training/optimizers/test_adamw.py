import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.training.adam_reference import AdamReference
from tfmrc.training import SGD, Adamax, AdamW, LossScale
from tfmrc.training.optimizers.updates import clip_by_global_norm
from tfmrc.training.schedules.warmup_cosine import warmup_cosine

SHAPES = {"kernel": (3, 4), "bias": (4,), "gamma": (4,), "table": (6, 2), "copy_bias": (2,)}
SPARED = {"bias", "gamma", "copy_bias"}


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def make(rng):
    values = {k: rng.normal(size=s).astype("float32") for k, s in SHAPES.items()}
    return values, [keras.Variable(v, name=k) for k, v in values.items()]


def gradients(rng, scale):
    return {k: (scale * rng.normal(size=s)).astype("float32") for k, s in SHAPES.items()}


def averages(optimizer):
    return optimizer._model_variables_moving_average


@pytest.mark.parametrize("scale", [0.001, 3.0])
def test_eight_updates_against_float64(rng, scale):
    values, variables = make(rng)
    schedule = warmup_cosine(0.05, 3, 10)
    optimizer = AdamW(schedule, weight_decay=0.1, use_ema=True, ema_momentum=0.9)
    reference = AdamReference(
        values,
        lambda t: float(0.05 * t / 3 if t < 3 else 0.025 * (1 + np.cos(np.pi * (t - 3) / 7))),
        decay=0.1,
        spared=SPARED,
        clip=1.0,
        momentum=0.9,
    )
    for _ in range(8):
        step = gradients(rng, scale)
        optimizer.apply([keras.ops.array(g) for g in step.values()], variables)
        reference.update(step)
    # Keras computes 1 - beta_2^t in float32: its first updates are right to 7e-6 of the rate
    for variable, average in zip(variables, averages(optimizer), strict=True):
        np.testing.assert_allclose(variable.numpy(), reference.p[variable.name], atol=2e-6)
        np.testing.assert_allclose(average.numpy(), reference.average[variable.name], atol=2e-6)
    assert all(norm > 1 for norm in reference.norms) == (scale == 3.0)


def test_decay_spares_biases_and_normalisation_by_the_last_part_of_the_path():
    inputs = keras.Input((3, 4))
    x = keras.layers.LayerNormalization(name="kernel")(inputs)
    x = keras.layers.GRU(3, name="bias")(x)
    x = keras.layers.BatchNormalization()(x)
    x = keras.layers.Dense(2, name="scale_head")(x)
    model = keras.Model(inputs, x)
    optimizer = AdamW()
    optimizer.build(model.trainable_variables)
    assert [v.path for v in optimizer.decayed] == [
        "bias/gru_cell/kernel",
        "bias/gru_cell/recurrent_kernel",
        "scale_head/kernel",
    ]
    assert AdamW(weight_decay=None).decayed == []


def test_an_embedding_trained_by_fit_equals_the_reference(rng):
    """Repeated words, clipping on, through `model.fit`."""
    ids = np.array([[1, 1, 2], [3, 1, 1]])
    target = rng.normal(size=(2, 3, 2)).astype("float32") * 10
    model = keras.Sequential([keras.Input((3,)), keras.layers.Embedding(5, 2)])
    averaged = {"use_ema": True, "ema_momentum": 0.5}
    model.compile(AdamW(0.1, weight_decay=0.0, clip_norm=0.5, **averaged), "mse")
    start = model.get_weights()[0]
    reference = AdamReference(
        {"table": start}, lambda t: 0.1, decay=0.0, spared=set(), clip=0.5, momentum=0.5
    )
    for _ in range(4):
        gradient = np.zeros((5, 2))
        error = reference.p["table"][ids] - target
        np.add.at(gradient, ids, 2 * error / error.size)
        reference.update({"table": gradient})
    model.fit(ids, target, epochs=4, batch_size=2, verbose=0)
    assert min(reference.norms) > 0.5
    np.testing.assert_allclose(model.get_weights()[0], reference.average["table"], atol=5e-6)


def test_clipping_spreads_what_is_not_finite():
    first, second = clip_by_global_norm([tf.constant([1.0]), tf.constant([np.inf])], 1.0)
    assert not np.isfinite(second.numpy()).any()
    assert np.isnan(clip_by_global_norm([tf.constant([1.0, np.nan])], 1.0)[0].numpy()).all()
    assert first.numpy() == 0


def test_norm_of_half_precision_gradients_does_not_overflow():
    (clipped,) = clip_by_global_norm([tf.constant([300.0, 400.0], tf.float16)], 5.0)
    np.testing.assert_allclose(clipped.numpy(), [3, 4], rtol=1e-3)
    assert clipped.dtype == tf.float16


def test_a_loss_scale_is_taken_out_before_clipping(rng):
    """A fixed and a dynamic one, which leaves out an update that is not finite."""
    step = rng.normal(size=(3,)).astype("float32") * 5
    plain, fixed, dynamic = (keras.Variable(np.ones(3, "float32"), name="kernel") for _ in range(3))
    AdamW(0.1, epsilon=1.0).apply([keras.ops.array(step)], [plain])
    optimizer = AdamW(0.1, epsilon=1.0, loss_scale_factor=64.0)
    optimizer.apply([keras.ops.array(step * 64)], [fixed])
    wrapped = LossScale(AdamW(0.1, epsilon=1.0), initial_scale=1024.0)
    wrapped.build([dynamic])
    wrapped.apply([keras.ops.array(step * 1024)], [dynamic])
    wrapped.apply([keras.ops.array(step * np.inf)], [dynamic])
    for scaled in (fixed, dynamic):
        np.testing.assert_allclose(plain.numpy(), scaled.numpy(), rtol=1e-6)
    assert float(wrapped.dynamic_scale) == 512


def test_config_round_trip_with_a_schedule():
    optimizer = AdamW(warmup_cosine(1e-3, 2, 10), clip_norm=0.5, no_decay="none", weight_decay=0.2)
    copy = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert copy.get_config() == optimizer.get_config()
    assert copy.no_decay == "none" and copy.clip_norm == 0.5


@pytest.mark.parametrize("optimizer", [lambda: AdamW(0.1), lambda: SGD(0.1)])
def test_the_end_of_data_of_unknown_length_is_no_update(optimizer):
    """TensorFlow runs what needs no data before it finds the end: the count of the updates."""
    data = tf.data.Dataset.from_tensors((np.ones((2, 1)), np.zeros((2, 1)))).repeat(3)
    inputs = keras.Input((1,))
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    model.compile(optimizer(), "mse")
    model.fit(data.filter(lambda x, y: True), epochs=2, verbose=0)
    assert int(model.optimizer.iterations) == 6


def test_accumulated_gradients_over_epochs_of_unknown_length():
    """Each sum of three crosses the ends of epochs of five batches."""
    x = np.arange(1.0, 6.0).reshape(5, 1, 1)
    data = tf.data.Dataset.from_tensor_slices((x, np.zeros_like(x)))
    weights = []
    for each in (data, data.filter(lambda x, y: True)):
        inputs = keras.Input((1,))
        dense = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
        model = keras.Model(inputs, dense(inputs))
        model.compile(SGD(0.01, 0.0, False, gradient_accumulation_steps=3), "mse")
        model.fit(each, epochs=3, verbose=0)
        weights.append(model.get_weights()[0])
    np.testing.assert_array_equal(*weights)


@pytest.mark.parametrize("kind", [AdamW, SGD, Adamax])
@pytest.mark.parametrize(("momentum", "is_ripe"), [(0.9995, False), (0.5, True)])
def test_an_average_that_is_nearly_the_first_weights_is_not_left(kind, momentum, is_ripe, recwarn):
    weight = keras.Variable([1.0, -2.0], name="kernel")
    optimizer = kind(0.1, use_ema=True, ema_momentum=momentum)
    for _ in range(5):
        optimizer.apply([keras.ops.array([0.3, 0.1])], [weight])
    trained, (average,) = weight.numpy(), averages(optimizer)
    optimizer.finalize_variable_values([weight])
    np.testing.assert_array_equal(weight.numpy(), average.numpy() if is_ripe else trained)
    assert any("100% those of the first update" in str(w.message) for w in recwarn) != is_ripe


def test_without_an_update_the_weights_stay():
    """Fewer batches than are accumulated: the averages are still 0."""
    weight = keras.Variable([1.0, -2.0], name="kernel")
    optimizer = AdamW(0.1, use_ema=True, ema_momentum=0.1, gradient_accumulation_steps=3)
    optimizer.apply([keras.ops.array([0.3, 0.1])], [weight])
    with pytest.warns(UserWarning, match="After 0 updates"):
        optimizer.finalize_variable_values([weight])
    np.testing.assert_array_equal(weight.numpy(), [1.0, -2.0])
