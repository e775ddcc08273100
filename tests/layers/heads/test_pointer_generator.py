import math

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import Compared, arrays, close, same_gradients
from tests.reference import pointer_generator as reference
from tests.reference.basic import Array, sigmoid
from tfmrc.layers import PointerGenerator
from tfmrc.ops.ids import BOS, EOS, PAD, UNK
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.testing import run_layer_test

# G = 6 generable ids. The question has three positions, followed by two passages of three
# positions, each beginning with BOS. Extended ids from 6 on are first occurrences.
G, J, K, L, T, D, W = 6, 3, 2, 3, 4, 4, 5
S = J + K * L
SOURCE = np.array(
    [
        [5, 7, 0, 0, 7, 11, 0, 13, 5],  # 7: question and passages; 11, 13: passages alone
        [6, 0, 0, 0, 4, 6, 0, 0, 0],  # the second passage is missing
        [0, 0, 0, 0, 10, 4, 0, 10, 0],  # no question
        [6, 7, 8, 0, 0, 0, 0, 0, 0],  # no passage
    ],
    "int32",
)
# Known words of the source that are not generable anywhere; 10 and 13 are unknown words.
GENERABLE = np.array(
    [
        [0, 1, 0, 0, 0, 1, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0, 0, 0],
    ],
    bool,
)
TARGETS = np.array([[7, 11, 13, EOS], [6, 4, UNK, EOS], [10, 4, 5, EOS], [8, 5, 6, EOS]], "int32")
BETA = sigmoid(np.random.default_rng(9).normal(size=(4, K)))
SHAPES = {
    "states": (4, T, D),
    "question": (4, J, D),
    "passages": (4, K * L, D),
    "hidden": (4, T, W),
    "rows": (4, S, W),
    "table": (G, W),
}


def call(layer, x, prior=True, **more):
    """Computes scores from `hidden`, as the model's projection and embedding do."""
    beta = x.get("beta", BETA.astype("float32"))
    return layer(
        x["states"],
        [x["question"], x["passages"]],
        source_ids=SOURCE,
        common_logits=ops.matmul(x["hidden"], ops.transpose(x["table"])),
        source_logits=ops.matmul(x["hidden"], ops.transpose(x["rows"], (0, 2, 1))),
        source_generable=GENERABLE,
        log_priors=[None, ops.repeat(ops.log(beta), L, axis=1)] if prior else None,
        **more,
    )


def step(v: dict[str, Array], b: int, t: int, prior: bool = True) -> reference.Step:
    """The reference's step, its projection being the identity on `hidden`."""
    rows: dict[int, Array | None] = {
        word: v["table"][word] for word in range(G) if word not in (PAD, BOS)
    }
    for position in range(S):
        if SOURCE[b, position] == G + position:
            rows[G + position] = v["rows"][b, position] if GENERABLE[b, position] else None
    layer = {
        "question": weights.additive(weights.below(v, "copy_attention_0")),
        "passages": weights.additive(weights.below(v, "copy_attention_1")),
        "generation": {"kernel": np.eye(W), "bias": np.zeros(W)},
        "mixture": weights.linear(v, "mixture"),
    }
    beta = (v["beta"] if "beta" in v else BETA)[b] if prior else None
    state, question = v["states"][b, t], v["question"][b]
    passages = v["passages"][b].reshape(K, L, D)
    flat = SOURCE[b, J:]
    alpha_q = reference.attention(
        reference.additive_scores(question, state, layer["question"]), SOURCE[b, :J] != PAD
    )
    alpha_p = reference.attention(
        reference.additive_scores(v["passages"][b], state, layer["passages"]), flat != PAD
    )
    if beta is not None:
        alpha_p = reference.combined(alpha_p, beta, L)
    of_vocabulary = reference.generation(v["hidden"][b, t], rows=rows, **layer["generation"])
    of_mixture = reference.mixture_weights(
        state,
        reference.context(alpha_q, question),
        reference.context(alpha_p, passages.reshape(-1, D)),
        there=(True, bool(alpha_q.sum()), bool(alpha_p.sum())),
        **layer["mixture"],
    )
    merged = reference.mixture(
        of_mixture,
        of_vocabulary,
        reference.copy(alpha_q, SOURCE[b, :J]),
        reference.copy(alpha_p, flat),
    )
    return reference.Step(merged, of_mixture, of_vocabulary, alpha_q, alpha_p)


@pytest.fixture(scope="module")
def built():
    compared = Compared(PointerGenerator(2), arrays(SHAPES), call=call)
    return compared.layer, compared.inputs, compared.variables, compared.values


def test_layer():
    a = arrays(SHAPES)
    run_layer_test(
        PointerGenerator,
        {"num_sources": 2, "initializer": 0.5},
        {
            "states": a["states"],
            "memories": [a["question"], a["passages"]],
            "source_ids": SOURCE,
            "common_logits": a["hidden"] @ a["table"].T,
            "source_logits": np.einsum("btw,bsw->bts", a["hidden"], a["rows"]),
            "source_generable": GENERABLE,
            "target_ids": TARGETS,
        },
        axes={
            "states": "B T d",
            "memories": ["B J d", "B KL d"],
            "source_ids": "B S",
            "common_logits": "B T G",
            "source_logits": "B T S",
            "source_generable": "B S",
            "target_ids": "B T",
        },
        output_axes={
            "log_mixture": "B T m",
            "log_attentions": ["B T J", "B T KL"],
            "common_logits": "B T G",
            "source_logits": "B T S",
            "log_normalizer": "B T",
            "log_parts": "B T m",
            "log_probability": "B T",
        },
        padded=("T",),
        expected_num_trainable_weights=10,
    )


@pytest.mark.equation("masque-13", "masque-17", "masque-18", "masque-19", "masque-20", "masque-21")
@pytest.mark.parametrize("prior", [True, False])
def test_targets_have_the_probability_of_the_whole_distribution(built, prior):
    layer, inputs, _, values = built
    parts = call(layer, inputs, prior, target_ids=TARGETS)
    got = np.array(parts["log_probability"])
    for b, t in np.ndindex(TARGETS.shape):
        right = step(values, b, t, prior)
        assert got[b, t] == pytest.approx(math.log(right.probabilities[TARGETS[b, t]]), rel=1e-5)
        close(np.exp(parts["log_mixture"])[b, t], right.mixture)
        close(np.exp(parts["log_attentions"][0])[b, t], right.question_attention)
        close(np.exp(parts["log_attentions"][1])[b, t], right.passage_attention)


@pytest.mark.equation("masque-19")
@pytest.mark.parametrize("prior", [True, False])
def test_distribution_is_the_brute_force_one_and_sums_to_one(built, prior):
    layer, inputs, _, values = built
    log_p = np.array(layer.distribution(call(layer, inputs, prior), SOURCE))
    assert log_p.shape == (4, T, G + S)
    np.testing.assert_allclose(np.exp(log_p).sum(-1), 1.0, atol=1e-5)
    for b, t in np.ndindex(4, T):
        right = step(values, b, t, prior).probabilities
        for word in range(G + S):
            p = right.get(word, 0.0) if word != PAD else 0.0
            if p:
                assert log_p[b, t, word] == pytest.approx(math.log(p), rel=1e-4, abs=1e-5)
            else:
                assert log_p[b, t, word] == np.float32(LOG_ZERO)


@pytest.mark.equation("masque-20")
def test_missing_source_has_no_weight_in_the_mixture(built):
    layer, inputs, _, _ = built
    mixture = np.exp(call(layer, inputs)["log_mixture"])
    np.testing.assert_allclose(mixture.sum(-1), 1.0, atol=1e-6)
    np.testing.assert_array_equal(mixture[2, :, 1], 0.0)  # no question
    np.testing.assert_array_equal(mixture[3, :, 2], 0.0)  # no passage
    assert (mixture[:2] > 0).all()


def test_each_part_says_where_a_word_comes_from(built):
    layer, inputs, _, values = built
    parts = call(layer, inputs, target_ids=TARGETS)
    shares = np.exp(parts["log_parts"])
    for b, t in np.ndindex(TARGETS.shape):
        right, word = step(values, b, t), int(TARGETS[b, t])
        copied = [
            reference.copy(right.question_attention, SOURCE[b, :J]).get(word, 0.0),
            reference.copy(right.passage_attention, SOURCE[b, J:]).get(word, 0.0),
        ]
        each = right.mixture * [right.generation.get(word, 0.0), *copied]
        np.testing.assert_allclose(shares[b, t], each, atol=1e-6)


def test_what_nobody_can_say_is_impossible_and_pad_and_bos_are_never_said(built):
    layer, inputs, _, _ = built
    for word in (PAD, BOS, G + 2, G + S - 1):  # two special ids, two positions that begin no word
        targets = np.full((4, T), word, "int32")
        got = np.array(call(layer, inputs, target_ids=targets)["log_probability"])
        if word == G + 2:
            got = got[:3]  # the last example's third question word does occur there
        np.testing.assert_array_equal(got, np.float32(LOG_ZERO))


@pytest.mark.equation("masque-13")
def test_word_without_a_row_is_copied_and_never_generated(built):
    layer, inputs, _, _ = built
    parts = call(layer, inputs, target_ids=np.full((4, T), 13, "int32"))
    np.testing.assert_array_equal(np.exp(parts["log_parts"])[0, :, 0], 0.0)
    assert (np.exp(parts["log_parts"])[0, :, 2] > 0).all()


@pytest.mark.equation("masque-13", "masque-19", "masque-20", "masque-21")
def test_gradients(built):
    layer, inputs, _, _ = built
    beta = Variable(BETA.astype("float32"))
    variables = {**inputs, "beta": beta, **weights.named(layer)}
    mix = np.random.default_rng(1).normal(size=TARGETS.shape)

    def scalar():
        parts = call(layer, {**inputs, "beta": beta}, target_ids=TARGETS)
        return ops.sum(parts["log_probability"] * mix.astype("float32"))

    def total(v):
        return sum(
            mix[b, t] * math.log(step(v, b, t).probabilities[int(TARGETS[b, t])])
            for b, t in np.ndindex(TARGETS.shape)
        )

    same_gradients(scalar, variables, total, positions=4)


def test_projection_made_once_gives_the_same(built):
    layer, inputs, _, _ = built
    projected = layer.project([inputs["question"], inputs["passages"]])
    instance, given = (
        call(layer, inputs, target_ids=TARGETS, projected=p)["log_probability"]
        for p in (None, projected)
    )
    np.testing.assert_allclose(instance, given, atol=1e-6)
