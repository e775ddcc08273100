import keras
import numpy as np
import pytest
import tensorflow as tf

from tfmrc.ops.attention import attend
from tfmrc.ops.dropout import keep_mask
from tfmrc.ops.masking import mask_bias

SCALE = 0.5
SHAPES = {"queries": (2, 3, 5, 4), "keys": (2, 3, 4, 6), "values": (2, 3, 6, 4)}


def arrays(dtype="float32"):
    draw = np.random.default_rng(0)
    return [draw.normal(size=shape).astype(dtype) for shape in SHAPES.values()]


def bias():
    mask = np.random.default_rng(1).random((2, 1, 1, 6)) > 0.3
    mask[1] = False  # a text without a real position
    return mask_bias(mask)


def by_steps(queries, keys, values, rate, seed):
    weights = tf.nn.softmax(tf.matmul(queries, keys) * SCALE + bias())
    if rate:
        kept = keep_mask((2, 3, 5, 6), rate, seed)
        weights = tf.where(kept, weights / (1 - rate), 0.0)
    return tf.matmul(weights, values)


def with_gradients(function, inputs):
    inputs = [tf.convert_to_tensor(each) for each in inputs]
    shares = np.random.default_rng(2).normal(size=SHAPES["queries"])
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(*inputs)
        total = tf.reduce_sum(tf.cast(result, "float32") * shares.astype("float32"))
    return [result, *tape.gradient(total, inputs)]


def in_numpy(queries, keys, values, kept, rate):
    """The formula in float64; `kept` is the mask of dropout."""
    scores = SCALE * queries @ keys + np.array(bias(), "float64")
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return (weights * kept / (1 - rate)) @ values


@pytest.mark.parametrize("rate", [0.0, 0.4])
def test_result_and_gradients_of_training_against_numpy(rate):
    """By central differences, with padding and a text that is all padding."""
    seed = keras.random.SeedGenerator
    kept = np.array(keep_mask((2, 3, 5, 6), rate, seed(3)), "float64") if rate else 1.0
    inputs = arrays()
    inputs[2][1] = 0.0  # as values at padding are
    result, *gradients = with_gradients(
        lambda *x: attend(*x, bias(), SCALE, True, rate, seed(3)), inputs
    )
    exact = [each.astype("float64") for each in inputs]
    np.testing.assert_allclose(result, in_numpy(*exact, kept, rate), atol=2e-6)
    shares = np.random.default_rng(2).normal(size=SHAPES["queries"])
    for number, shape in enumerate(SHAPES.values()):
        for cell in np.ndindex(*shape):
            if number == 2 and cell[0] == 1:
                continue  # padding does not pass a gradient on
            ends = []
            for step in (1e-5, -1e-5):
                moved = [each.copy() for each in exact]
                moved[number][cell] += step
                ends.append((in_numpy(*moved, kept, rate) * shares).sum())
            expected = (ends[0] - ends[1]) / 2e-5
            found = float(gradients[number][cell])
            assert found == pytest.approx(expected, rel=1e-4, abs=1e-5), (number, cell)


def test_without_padding_and_outside_training():
    queries, keys, values = arrays()
    weights = tf.nn.softmax(tf.matmul(queries, keys))
    result = attend(queries, keys, values, 0.0, 1.0, rate=0.5)
    np.testing.assert_allclose(result, tf.matmul(weights, values), atol=2e-6)


def forms_of_bias():
    draw = np.random.default_rng(4)
    return [bias(), 0.0, *(draw.normal(size=shape).astype("float32") for shape in ((6,), (5, 6)))]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(("known", "gpu"), [(True, False), (False, False), (True, True)])
def test_few_queries_against_numpy(number, known, gpu, monkeypatch):
    """As vectors if their number is known and no GPU is there, and as a matrix otherwise."""
    monkeypatch.setattr("tfmrc.ops.attention.has_gpu", lambda: gpu)
    given = forms_of_bias()[number]
    inputs = arrays()
    inputs[2][1] = 0.0  # as values at padding are: `bias()` leaves the second text nothing else
    scores = SCALE * inputs[0].astype("float64") @ inputs[1] + np.array(given, "float64")
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ inputs[2]

    queries = tf.TensorSpec((2, 3, 5 if known else None, 4))
    run = tf.function(
        lambda queries: attend(queries, *inputs[1:], given, SCALE),
        input_signature=[queries],
        autograph=False,
    )
    np.testing.assert_allclose(run(inputs[0]), expected, atol=2e-6)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float16", 0.06), ("bfloat16", 0.06), ("float32", 2e-6)]
)
@pytest.mark.parametrize("training", [False, True])
def test_precisions(dtype, tolerance, training):
    inputs = [tf.cast(each, dtype) for each in arrays()]
    mine = with_gradients(lambda *x: attend(*x, bias(), SCALE, training), inputs)
    theirs = with_gradients(lambda *x: by_steps(*x, 0.0, None), arrays())
    for one, other in zip(mine, theirs, strict=True):
        assert one.dtype == dtype
        np.testing.assert_allclose(tf.cast(one, "float32"), other, atol=tolerance)


def test_float16_scales_before_a_product_that_would_be_too_large():
    queries, values = np.full((1, 4), 200.0), np.array([[1.0], [3.0]])
    keys = np.array([[200.0, 100.0]] * 4)  # products of 160,000 and 80,000, scores of 160 and 80
    inputs = [tf.constant(each, "float16") for each in (queries, keys, values)]
    np.testing.assert_allclose(attend(*inputs, 0.0, 1e-3), [[1.0]])


@pytest.mark.parametrize("leading", [(), (6,), (1, 2, 3)])
def test_any_number_of_leading_axes(leading):
    """Each of them is an attention of its own."""
    inputs = arrays()
    rows = [each.reshape(6, *each.shape[2:]) for each in inputs]
    if not leading:
        rows = [each[0] for each in rows]
    shaped = [each.reshape(*leading, *each.shape[-2:]) for each in rows]
    tensors = [tf.constant(each) for each in (*shaped, *rows)]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        mine = attend(*tensors[:3], 0.0, SCALE, True)
        weights = tf.nn.softmax(tf.matmul(tensors[3], tensors[4]) * SCALE)
        theirs = tf.matmul(weights, tensors[5])
        total = tf.reduce_sum(mine**2) + tf.reduce_sum(theirs**2)
    found = tape.gradient(total, tensors)
    np.testing.assert_allclose(tf.reshape(mine, theirs.shape), theirs, atol=2e-6)
    for one, other in zip(found[:3], found[3:], strict=True):
        np.testing.assert_allclose(tf.reshape(one, other.shape), other, atol=1e-5)
