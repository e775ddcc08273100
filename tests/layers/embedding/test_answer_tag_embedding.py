"""Answer tags beside word vectors."""

import keras
import numpy as np
import pytest

from tfmrc.layers import AnswerTagEmbedding
from tfmrc.testing import run_layer_test

WORDS = np.random.default_rng(0).normal(size=(3, 4, 5)).astype("float32")
TAGS = np.array([[0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]], "int32")


def test_layer():
    run_layer_test(
        AnswerTagEmbedding,
        {"dim": 3, "initializer": 0.5},
        {"words": WORDS, "answer_tags": TAGS},
        axes={"words": "B M w", "answer_tags": "B M"},
        output_axes="B M d",
        padded=("M",),
        expected_output_shape=(3, 4, 8),
        expected_num_trainable_weights=1,
    )


@pytest.mark.equation("qg-01")
def test_each_word_carries_its_tag():
    layer = AnswerTagEmbedding(3, initializer=0.5)
    got = np.array(layer(WORDS, TAGS))
    tags = keras.ops.convert_to_numpy(layer.tags)
    np.testing.assert_array_equal(got[..., :5], WORDS)
    for b, t in np.ndindex(TAGS.shape):
        np.testing.assert_array_equal(got[b, t, 5:], tags[TAGS[b, t]])
    assert not np.array_equal(tags[0], tags[1])
