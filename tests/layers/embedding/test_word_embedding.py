import numpy as np
import pytest
from keras import ops

from tests.layers import weights
from tests.layers.agreement import close
from tfmrc.layers import WordEmbedding
from tfmrc.testing import gradients, run_layer_test

IDS = np.array([[2, 5, 9, 0], [1, 3, 9, 4]], "int32")


def built(trainable=True):
    layer = WordEmbedding(vocabulary_size=10, dim=3, embeddings_trainable=trainable)
    weights.randomise(layer)
    return layer, np.concatenate([ops.convert_to_numpy(w) for w in (layer.special, layer.words)])


@pytest.mark.parametrize("trainable", [False, True])
def test_layer(trainable):
    run_layer_test(
        WordEmbedding,
        {"vocabulary_size": 10, "dim": 3, "embeddings_trainable": trainable},
        {"x": IDS},
        axes={"x": "B N"},
        output_axes="B N d",
        padded=("N",),
        expected_output_shape=(2, 4, 3),
        expected_num_trainable_weights=1 + trainable,
        expected_num_non_trainable_weights=1 - trainable,
    )


def test_rows_and_zeros_for_padding():
    layer, table = built()
    table[0] = 0.0
    np.testing.assert_allclose(layer(IDS), table[IDS], atol=1e-7)
    np.testing.assert_array_equal(np.array(layer(IDS))[0, 3], 0.0)


@pytest.mark.equation("masque-13")
def test_in_reverse_the_rows_themselves_score():
    layer, table = built()
    hidden = np.random.default_rng(0).normal(size=(2, 3, 3)).astype("float32")
    for rows in (4, 7, 10):
        close(layer(hidden, num_rows=rows), hidden @ table[:rows].T)
        prepared = layer.first_rows(rows)
        close(layer(hidden, num_rows=rows, rows=prepared), hidden @ table[:rows].T)


@pytest.mark.parametrize("trainable", [False, True])
def test_what_is_trained(trainable):
    layer, _ = built(trainable)
    mix = np.random.default_rng(0).normal(size=(2, 4, 3)).astype("float32")
    both = [layer.special, layer.words] if trainable else [layer.special]
    assert layer.trainable_variables == both
    result = gradients(lambda: ops.sum(layer(IDS) * mix), [layer.special, layer.words])
    expected = np.zeros((10, 3))
    for position, word in np.ndenumerate(IDS):
        if word != 0:
            expected[word] += mix[position]
    close(result[0], expected[:4])
    close(result[1], expected[4:])
