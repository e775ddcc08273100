"""SAN's lexicon encoding against word-by-word sums in float64."""

import numpy as np
import pytest

from tests.layers import weights
from tests.layers.agreement import Compared, arrays, close
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
    compared = Compared(layer, arrays({"x": (3, 4)}))
    assert compared.run().shape == layer.compute_output_shape((3, 4)) == (3, 2)
    compared.check(lambda v: reference.feed_forward(v["x"], v))


@pytest.mark.equation("san-03", "san-04")
def test_alignment():
    compared = Compared(AlignedEmbedding(dim=4), arrays(SHAPES), scale=1.0, question_mask=MASK)

    def right(v):
        kernel, texts = v["projection/kernel"], zip(v["passage"], v["question"], MASK, strict=True)
        return np.stack([reference.aligned(*text, kernel) for text in texts])

    compared.check(right)
    assert not np.array(compared.run()[1]).any(), "a question without words"


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
    axes = {"passage": "B N w", "question": "B M w", "question_mask": "B M", "exact_match": "B N k"}
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
