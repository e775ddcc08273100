"""The character convolution against a loop over characters, in float64."""

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers.agreement import Compared, close
from tests.reference import daanet as reference
from tfmrc.layers import CharacterEmbedding
from tfmrc.testing import run_layer_test

SIZES = {"num_characters": 7, "dim": 3, "output_dim": 4}
CHARACTERS = np.array(
    [[[1, 2, 3, 4], [6, 0, 0, 0], [5, 5, 0, 0]], [[2, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]]
)


@pytest.fixture(scope="module")
def compared():
    return Compared(CharacterEmbedding(**SIZES), {}, characters=CHARACTERS)


def expected(v):
    words = [
        reference.character_word(word, v["table"], v["kernel"], v["bias"])
        for word in CHARACTERS.reshape(-1, 4)
    ]
    return np.array(words).reshape(2, 3, 4)


def test_layer():
    run_layer_test(
        CharacterEmbedding,
        SIZES,
        {"characters": CHARACTERS},
        axes={"characters": "B n c"},
        output_axes="B n o",
        padded=("n", "c"),
        expected_output_shape=(2, 3, 4),
        expected_num_trainable_weights=3,
    )


@pytest.mark.equation("daanet-04")
def test_values_and_gradients(compared):
    compared.check(expected)


def test_the_row_of_padding_is_never_read(compared):
    other = CharacterEmbedding(**SIZES)
    other.set_weights([np.array(ops.convert_to_numpy(w)) for w in compared.layer.weights])
    table = np.array(ops.convert_to_numpy(compared.layer.table))
    table[0] += 100.0
    other.table.assign(table)
    np.testing.assert_array_equal(other(CHARACTERS), compared.layer(CHARACTERS))


def test_equal_to_a_convolution_of_keras(compared):
    x = Variable(ops.take(compared.layer.table, CHARACTERS[:1, 0], axis=0))
    result = ops.conv(x, compared.layer.kernel, padding="same") + compared.layer.bias
    close(compared.layer(CHARACTERS[:1, :1])[0], np.array(result).max(axis=1))
