import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import Compared, arrays
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


@pytest.fixture(scope="module")
def compared():
    return Compared(AdditiveAttention(), arrays(SHAPES), scale=0.8, memory_mask=MASK)


def run(compared, **more):
    log_weights, context = compared.run(**more)
    return ops.exp(log_weights), context


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


@pytest.mark.equation("masque-14", "masque-15", "masque-16")
def test_values_and_gradients(compared):
    compared.check(expected, lambda: run(compared))


def test_a_memory_of_padding_gives_zeros(compared):
    np.testing.assert_array_equal(np.array(compared.run()[1])[1], 0.0)


@pytest.mark.equation("masque-15")
def test_one_softmax_over_all_passages(compared):
    alpha = np.array(run(compared)[0])
    np.testing.assert_allclose(alpha[0].sum(-1), 1.0, atol=1e-6)
    assert 0 < alpha[0, 0].reshape(K, L).sum(-1)[0] < 1  # a passage alone does not sum to one
    np.testing.assert_array_equal(alpha[1], 0.0)


@pytest.mark.equation("masque-21")
def test_combined_attention_and_its_gradient_to_the_relevance():
    compared = Compared(AdditiveAttention(), arrays(SHAPES), scale=0.8, memory_mask=MASK)
    compared.variables["beta"], compared.values["beta"] = Variable(BETA.astype("float32")), BETA

    def combined():
        beta = ops.repeat(ops.log(compared.variables["beta"]), L, axis=1)
        return run(compared, log_prior=beta)

    compared.check(lambda v: expected(v, v["beta"]), combined)


@pytest.mark.equation("masque-21")
def test_relevance_near_zero_keeps_its_passage_out(compared):
    prior = np.zeros((2, K * L), "float32")
    prior[:, 4:] = LOG_ZERO
    alpha = np.array(run(compared, log_prior=prior)[0])
    np.testing.assert_array_equal(alpha[0, :, 4], 0.0)
    np.testing.assert_allclose(alpha[0].sum(-1), 1.0, atol=1e-6)


def test_projection_made_once_gives_the_same(compared):
    projected = compared.layer.project(compared.inputs["memory"])
    for found, right in zip(run(compared, projected=projected), run(compared), strict=True):
        np.testing.assert_allclose(found, right, atol=1e-6)
