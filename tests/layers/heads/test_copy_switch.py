"""The switch between generating and copying against a merged distribution, in float64."""

import math

import numpy as np
import pytest

from tests.layers.agreement import Compared, arrays
from tests.reference import daanet as reference
from tests.reference.basic import softmax
from tfmrc.layers import CopySwitch
from tfmrc.ops.ids import EOS, PAD, UNK
from tfmrc.ops.masking import LOG_ZERO, masked_log_softmax
from tfmrc.testing import run_layer_test

# G = 6 ids can be generated; from 6 on: the first positions of words in the context.
G, T = 6, 4
SOURCE = np.array([[5, 7, 4, 7, 10], [6, 6, 0, 0, 0], [0, 0, 0, 0, 0]])
# Generable alone; in both; in the context alone, several times; in neither.
TARGETS = np.array([[7, 5, 10, EOS], [6, 5, UNK, EOS], [5, UNK, 4, EOS]])
X = arrays({"folded": (3, T, 4), "previous": (3, T, 5), "logits": (3, T, G), "scores": (3, T, 5)})


def call(layer, x, **more):
    log_attention = masked_log_softmax(x["scores"], (SOURCE != PAD)[:, None, :])
    folded, previous = x["folded"], x["previous"]
    return layer(folded, previous, x["logits"], log_attention, source_ids=SOURCE, **more)


@pytest.fixture(scope="module")
def compared():
    return Compared(CopySwitch(), X, call=call)


def merged(v, x, b, t, copy=True):
    """The distribution of one step over all extended ids."""
    words = [w for w in range(G) if w not in (0, 2)]
    chances = softmax(x["logits"][b, t][words].astype(float))
    of_vocabulary = dict(zip(words, chances.tolist(), strict=True))
    if not copy:
        return of_vocabulary
    attention = softmax(x["scores"][b, t].astype(float), SOURCE[b] != PAD)
    of_context = reference.context(attention, SOURCE[b])
    share = reference.switch(
        x["folded"][b, t], x["previous"][b, t], v["switch/kernel"], v["switch/bias"]
    )
    return reference.mixture(share, of_vocabulary, of_context)


def test_layer():
    attention = np.log(softmax(X["scores"])).astype("float32")
    run_layer_test(
        CopySwitch,
        {},
        {
            "folded": X["folded"],
            "previous": X["previous"],
            "common_logits": X["logits"],
            "log_attention": attention,
            "source_ids": np.array([[5, 7, 4, 7, 10]] * 3),
            "target_ids": TARGETS,
        },
        expected_num_trainable_weights=2,
    )


@pytest.mark.equation("daanet-12", "daanet-13", "daanet-14", "daanet-15")
def test_targets_against_the_merged_distribution(compared):
    def log_probabilities(v):
        places = np.ndindex(3, T)
        values = [math.log(merged(v, v, b, t)[int(TARGETS[b, t])]) for b, t in places]
        return np.reshape(values, (3, T))

    def run():
        return compared.run(target_ids=TARGETS)["log_probability"]

    compared.check(log_probabilities, run, positions=8, tolerance=2e-5)


def test_nothing_is_copied_from_an_empty_source(compared):
    assert (np.array(compared.run()["log_mixture"])[2] == [0.0, LOG_ZERO]).all()


@pytest.mark.equation("daanet-12", "daanet-14")
def test_distribution_of_a_step(compared):
    v, layer = compared.values, compared.layer
    result = np.exp(layer.distribution(compared.run(), SOURCE))
    np.testing.assert_allclose(result.sum(-1), 1.0, atol=1e-5)
    for b, t in np.ndindex(3, T):
        right = merged(v, X, b, t)
        for word in range(G + 5):
            assert result[b, t, word] == pytest.approx(right.get(word, 0.0), abs=1e-6)


def test_without_copying_what_only_the_context_holds_is_unknown():
    layer = CopySwitch(copy=False)
    parts = call(layer, X, target_ids=TARGETS)
    assert not layer.weights
    result = np.exp(layer.distribution(parts, SOURCE))
    for b, t in np.ndindex(3, T):
        right = merged({}, X, b, t, copy=False)
        target = int(TARGETS[b, t])
        p = right[target if target < G else UNK]
        assert float(parts["log_probability"][b, t]) == pytest.approx(math.log(p), abs=2e-5)
        assert result[b, t, G:].sum() == 0.0
