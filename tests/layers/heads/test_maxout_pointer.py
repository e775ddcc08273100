"""One softmax over generator and copy scores, against the whole merged distribution."""

import math

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers.agreement import arrays, same_gradients
from tests.reference import question_generation as reference
from tfmrc.layers import MaxoutPointer
from tfmrc.ops.ids import BOS, EOS, PAD, UNK
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.testing import run_layer_test

G, M, T = 7, 6, 5
# Extended ids from G on are first occurrences. The words 5 and 4 can be generated too.
SOURCE = np.array(
    [
        [5, 8, 5, 8, 0, 12],  # 5 and 8 occur twice; the fifth position has no word
        [7, 4, 4, 4, 0, 0],
        [0, 0, 0, 0, 0, 0],  # nothing to copy
    ],
    "int32",
)
# Only in the source; only in the vocabulary; in both; in neither (UNK); the end, in the last step.
TARGETS = np.array([[8, 6, 5, UNK, EOS], [7, 5, 4, UNK, EOS], [4, 5, 6, UNK, EOS]], "int32")
KINDS = ["source", "vocabulary", "both", "neither", "last step"]
INPUTS = arrays({"logits": (3, T, G), "scores": (3, T, M)})
INPUTS = {name: 2 * array for name, array in INPUTS.items()}
VARIANTS = pytest.mark.parametrize("combine", ["max", "sum", None])


def right(combine, b, t, v=INPUTS):
    logits, scores = (v[name][b, t].astype(float) for name in ("logits", "scores"))
    return reference.distribution(logits, scores, SOURCE[b], combine)


@pytest.mark.parametrize("combine", ["max", "sum"])
def test_layer(combine):
    run_layer_test(
        MaxoutPointer,
        {"combine": combine},
        {**INPUTS, "source_ids": SOURCE, "target_ids": TARGETS},
        axes={"logits": "B T G", "scores": "B T M", "source_ids": "B M", "target_ids": "B T"},
        output_axes={
            "logits": "B T G",
            "log_normalizer": "B T",
            "copy_scores": "B T M",
            "log_parts": "B T two",
            "log_probability": "B T",
        },
        padded=("T", "M"),
        expected_num_trainable_weights=0,
    )


@pytest.mark.equation("qg-08", "qg-13", "qg-14")
@pytest.mark.parametrize("kind", range(T), ids=KINDS)
@VARIANTS
def test_targets_of_every_kind_against_the_merged_distribution(combine, kind):
    parts = MaxoutPointer(combine)(**INPUTS, source_ids=SOURCE, target_ids=TARGETS)
    got = np.array(parts["log_probability"])[:, kind]
    for b in range(3):
        p = right(combine, b, kind).get(int(TARGETS[b, kind]), 0.0)
        if p:
            assert got[b] == pytest.approx(math.log(p), rel=1e-5, abs=1e-5)
        else:  # only without copying: a word of the source alone
            assert combine is None and TARGETS[b, kind] >= G
            assert got[b] == np.float32(LOG_ZERO)


@pytest.mark.equation("qg-08", "qg-13", "qg-14")
@VARIANTS
def test_distribution_of_a_step_is_the_merged_one_and_sums_to_one(combine):
    layer = MaxoutPointer(combine)
    log_p = np.array(layer.distribution(layer(**INPUTS, source_ids=SOURCE), SOURCE))
    assert log_p.shape == (3, T, G + M)
    np.testing.assert_allclose(np.exp(log_p).sum(-1), 1.0, atol=1e-5)
    for b, t in np.ndindex(3, T):
        p = right(combine, b, t)
        for word in range(G + M):
            if word in p:
                assert log_p[b, t, word] == pytest.approx(math.log(p[word]), rel=1e-4, abs=1e-5)
            else:
                assert log_p[b, t, word] == np.float32(LOG_ZERO)


def test_parts_say_what_is_generated_and_what_is_copied():
    parts = MaxoutPointer("max")(**INPUTS, source_ids=SOURCE, target_ids=TARGETS)
    shares = np.exp(parts["log_parts"])
    assert (shares[:2, 0, 0] == 0).all() and (shares[:2, 0, 1] > 0).all()  # source
    assert (shares[:, 1, 0] > 0).all() and shares[0, 1, 1] == shares[1, 1, 1] == 0  # vocabulary
    assert (shares[:2, 2] > 0).all()  # both
    assert (shares[:, 3, 0] > 0).all() and (shares[:, 3, 1] == 0).all()  # UNK
    np.testing.assert_allclose(shares.sum(-1), np.exp(parts["log_probability"]), rtol=1e-5)


@pytest.mark.equation("qg-08", "qg-13", "qg-14")
@pytest.mark.parametrize("combine", ["max", "sum"])
def test_gradients(combine):
    layer = MaxoutPointer(combine)
    inputs = {name: Variable(a) for name, a in INPUTS.items()}
    mix = np.random.default_rng(1).normal(size=TARGETS.shape)

    def scalar():
        parts = layer(inputs["logits"], inputs["scores"], SOURCE, TARGETS)
        possible = ops.where(TARGETS == 4, 0.0, parts["log_probability"])
        return ops.sum(possible * mix.astype("float32"))

    def total(v):
        return sum(
            mix[b, t] * math.log(right(combine, b, t, v)[int(TARGETS[b, t])])
            for b, t in np.ndindex(TARGETS.shape)
            if TARGETS[b, t] != 4
        )

    same_gradients(scalar, inputs, total, positions=60)


def test_maximum_and_sum_differ_where_a_word_stands_twice_alone():
    scores = np.log([[[1.0, 3.0, 2.0]]]).astype("float32")
    logits = np.full((1, 1, G), -1e4, "float32")
    logits[..., EOS] = 0.0
    expected = {"max": [3 / 6, 2 / 6], "sum": [3 / 6, 2 / 6]}
    source = np.array([[7, 9, 7]])  # 1 and 2: their maximum is 2, the sum of their logs log 2
    for combine, right_ones in expected.items():
        parts = MaxoutPointer(combine)(logits, scores, source, np.array([[9]]))
        assert np.exp(parts["log_probability"]) == pytest.approx(right_ones[0])
    scores[..., 0] = math.log(4.0)  # maximum 4, sum log 8
    for combine, word in (("max", 4 / 8), ("sum", 8 / 12)):
        parts = MaxoutPointer(combine)(logits, scores, source, np.array([[7]]))
        assert np.exp(parts["log_probability"]) == pytest.approx(word)


def test_pad_and_bos_are_impossible():
    for word in (PAD, BOS, G + 2, G + M):
        targets = np.full((3, T), word, "int32")
        parts = MaxoutPointer("max")(**INPUTS, source_ids=SOURCE, target_ids=targets)
        np.testing.assert_array_equal(parts["log_probability"], np.float32(LOG_ZERO))
