import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import arrays, close, same_gradients
from tests.reference import pointer_generator as reference
from tfmrc.layers import AdditiveAttention
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.testing import run_layer_test

K, L = 3, 2  # three passages of two words are the memory
MASK = np.array([[1, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]], bool)
SHAPES = {"query": (2, 4, 3), "memory": (2, K * L, 3)}
BETA = np.array([[0.9, 0.5, 0.03], [0.2, 0.3, 0.4]])


def expected(v, beta=None):
    """Weights [B, T, S] and contexts [B, T, d]."""
    alphas, contexts = [], []
    for b in range(2):
        for t in range(4):
            scores = reference.additive_scores(
                v["memory"][b], v["query"][b, t], weights.additive(v_layer(v))
            )
            alpha = reference.attention(scores, MASK[b])
            if beta is not None:
                alpha = reference.combined(alpha, beta[b], L)
            alphas.append(alpha)
            contexts.append(reference.context(alpha, v["memory"][b]))
    return np.reshape(alphas, (2, 4, -1)), np.reshape(contexts, (2, 4, -1))


def v_layer(v):
    """The layer's own memory and query projections beside inputs of the same names."""
    return {name: a for name, a in v.items() if name not in ("memory", "query")}


def built():
    layer = AdditiveAttention()
    inputs = {name: Variable(a) for name, a in arrays(SHAPES).items()}
    layer(**inputs, memory_mask=MASK)
    weights.randomise(layer, scale=0.8)
    variables = {**inputs, **weights.named(layer)}
    values = {name: ops.convert_to_numpy(v).astype(float) for name, v in variables.items()}
    return layer, inputs, variables, values


def test_layer():
    run_layer_test(
        AdditiveAttention,
        {"initializer": 0.5},
        {**arrays(SHAPES), "memory_mask": MASK},
        axes={"query": "B T d", "memory": "B S d", "memory_mask": "B S"},
        output_axes=["B T S", "B T d"],
        padded=("T", "S"),
        expected_output_shape=[(2, 4, 6), (2, 4, 3)],
        expected_num_trainable_weights=4,
    )


@pytest.mark.equation("masque-14")
@pytest.mark.equation("masque-15")
@pytest.mark.equation("masque-16")
def test_values_and_gradients():
    layer, inputs, variables, values = built()
    log_weights, context = layer(**inputs, memory_mask=MASK)
    alpha, right = expected(values)
    close(np.exp(log_weights), alpha)
    close(context, right)
    np.testing.assert_array_equal(np.array(context)[1], 0.0)
    random = np.random.default_rng(1)
    mixes = random.normal(size=(2, 4, 6)), random.normal(size=(2, 4, 3))

    def scalar():
        log_weights, context = layer(**inputs, memory_mask=MASK)
        return ops.sum(ops.exp(log_weights) * mixes[0].astype("float32")) + ops.sum(
            context * mixes[1].astype("float32")
        )

    same_gradients(
        scalar,
        variables,
        lambda v: float(sum((a * m).sum() for a, m in zip(expected(v), mixes, strict=True))),
    )


@pytest.mark.equation("masque-15")
def test_one_softmax_over_all_passages():
    layer, inputs, _, _ = built()
    alpha = np.exp(layer(**inputs, memory_mask=MASK)[0])
    np.testing.assert_allclose(alpha[0].sum(-1), 1.0, atol=1e-6)
    assert 0 < alpha[0, 0].reshape(K, L).sum(-1)[0] < 1  # a passage alone does not sum to one
    np.testing.assert_array_equal(alpha[1], 0.0)


@pytest.mark.equation("masque-21")
def test_combined_attention_and_its_gradient_to_the_relevance():
    layer, inputs, variables, values = built()
    beta = Variable(BETA.astype("float32"))

    def run():
        prior = ops.repeat(ops.log(beta), L, axis=1)
        return layer(**inputs, memory_mask=MASK, log_prior=prior)

    log_weights, context = run()
    alpha, right = expected(values, BETA)
    close(np.exp(log_weights), alpha)
    close(context, right)
    mix = np.random.default_rng(1).normal(size=(2, 4, 6))
    same_gradients(
        lambda: ops.sum(ops.exp(run()[0]) * mix.astype("float32")),
        {**variables, "beta": beta},
        lambda v: float(
            (expected({n: a for n, a in v.items() if n != "beta"}, v["beta"])[0] * mix).sum()
        ),
    )


@pytest.mark.equation("masque-21")
def test_relevance_near_zero_keeps_its_passage_out():
    layer, inputs, _, _ = built()
    prior = np.zeros((2, K * L), "float32")
    prior[:, 4:] = LOG_ZERO
    alpha = np.exp(layer(**inputs, memory_mask=MASK, log_prior=prior)[0])
    np.testing.assert_array_equal(alpha[0, :, 4], 0.0)
    np.testing.assert_allclose(alpha[0].sum(-1), 1.0, atol=1e-6)


def test_projection_made_once_gives_the_same():
    layer, inputs, _, _ = built()
    instance = layer(**inputs, memory_mask=MASK)
    given = layer(**inputs, memory_mask=MASK, projected=layer.project(inputs["memory"]))
    for left, right in zip(instance, given, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-6)
