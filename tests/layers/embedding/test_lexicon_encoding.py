"""SAN's lexicon encoding against word-by-word sums in float64."""

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers import weights
from tests.layers.agreement import arrays, close, same_gradients
from tests.reference import san as reference
from tfmrc.layers import AlignedEmbedding, FeedForward, LexiconEncoding
from tfmrc.testing import run_layer_test

SHAPES = {"passage": (2, 4, 3), "question": (2, 3, 3)}
MASK = np.array([[1, 1, 0], [0, 0, 0]], bool)
MATCH = np.random.default_rng(2).integers(0, 2, (2, 4, 3)).astype("float32")
POS, NER = (np.random.default_rng(n).integers(0, 4, (2, 4)).astype("int32") for n in (3, 4))
TAGS = {"num_pos": 3, "pos_dim": 2, "num_ner": 3, "ner_dim": 2}


@pytest.mark.equation("san-01")
def test_rectified_feed_forward():
    layer = FeedForward(5, output_dim=2, activation="relu")
    x = Variable(arrays({"x": (3, 4)})["x"])
    assert layer(x).shape == layer.compute_output_shape((3, 4)) == (3, 2)
    weights.randomise(layer)
    variables = {"x": x, **weights.named(layer)}
    values = {name: ops.convert_to_numpy(v).astype(float) for name, v in variables.items()}
    close(layer(x), reference.feed_forward(values["x"], values))
    same_gradients(
        lambda: ops.sum(layer(x) ** 2),
        variables,
        lambda v: float((reference.feed_forward(v["x"], v) ** 2).sum()),
    )


@pytest.mark.equation("san-03", "san-04")
def test_alignment():
    layer = AlignedEmbedding(dim=4)
    inputs = {name: Variable(a) for name, a in arrays(SHAPES).items()}
    layer(**inputs, question_mask=MASK)
    weights.randomise(layer, scale=1.0)
    variables = {**inputs, "kernel": layer.projection.kernel}

    def right(v):
        return np.stack(
            [
                reference.aligned(v["passage"][b], v["question"][b], MASK[b], v["kernel"])
                for b in range(2)
            ]
        )

    values = {name: ops.convert_to_numpy(v).astype(float) for name, v in variables.items()}
    got = layer(**inputs, question_mask=MASK)
    close(got, right(values))
    assert not np.array(got[1]).any(), "a question without words"
    mix = np.random.default_rng(1).normal(size=(2, 4, 4)).astype("float32")
    same_gradients(
        lambda: ops.sum(layer(**inputs, question_mask=MASK) * mix),
        variables,
        lambda v: float((right(v) * mix).sum()),
    )


def test_parts_of_a_passage_word():
    layer = LexiconEncoding(units=4, align_dim=2, **TAGS)
    inputs = arrays(SHAPES)
    extra = {"exact_match": MATCH, "pos_ids": POS, "ner_ids": NER}
    layer(**inputs, question_mask=MASK, **extra)
    weights.randomise(layer)
    v = weights.values(layer)
    passage, question = layer(**inputs, question_mask=MASK, **extra)
    for b in range(2):
        words = np.concatenate(
            [
                inputs["passage"][b],
                reference.aligned(
                    inputs["passage"][b],
                    inputs["question"][b],
                    MASK[b],
                    v["alignment/projection/kernel"],
                ),
                MATCH[b],
                v["pos_embedding/embeddings"][POS[b]],
                v["ner_embedding/embeddings"][NER[b]],
            ],
            -1,
        )
        close(passage[b], reference.feed_forward(words, weights.below(v, "passage_network")))
        close(
            question[b],
            reference.feed_forward(inputs["question"][b], weights.below(v, "question_network")),
        )


@pytest.mark.parametrize("tags", [True, False])
def test_layer(tags):
    inputs = {**arrays(SHAPES), "question_mask": np.ones((2, 3), bool), "exact_match": MATCH}
    axes = {
        "passage": "B N w",
        "question": "B M w",
        "question_mask": "B M",
        "exact_match": "B N k",
    }
    if tags:
        inputs |= {"pos_ids": POS, "ner_ids": NER}
        axes |= {"pos_ids": "B N", "ner_ids": "B N"}
    run_layer_test(
        LexiconEncoding,
        {"units": 4, "align_dim": 2, "initializer": 0.5, **(TAGS if tags else {})},
        inputs,
        axes=axes,
        output_axes=("B N u", "B M u"),
        padded=("M",),
        expected_output_shape=((2, 4, 4), (2, 3, 4)),
        expected_num_trainable_weights=9 + 2 * tags,
    )
