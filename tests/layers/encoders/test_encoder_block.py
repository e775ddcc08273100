import numpy as np
import pytest
from keras import ops

from tests.layers import weights
from tests.layers.agreement import Compared, arrays, close
from tests.reference import transformer
from tests.reference.recurrent import lstm
from tfmrc.layers import RecurrentEncoderBlock, TransformerEncoderBlock
from tfmrc.testing import run_layer_test

# The second example is padding altogether.
MASK = np.array([[1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], bool)
KINDS = [TransformerEncoderBlock, RecurrentEncoderBlock]


@pytest.mark.parametrize("kind", KINDS)
def test_layer(kind):
    run_layer_test(
        kind,
        {"num_heads": 2, "intermediate_dim": 5, "dropout": 0.2, "initializer": 0.5},
        {**arrays({"x": (3, 4, 4)}), "padding_mask": MASK},
        axes={"x": "B N d", "padding_mask": "B N"},
        output_axes="B N d",
        padded=("N",),
        expected_output_shape=(3, 4, 4),
        expected_num_trainable_weights=8 + 4 + (4 if kind is TransformerEncoderBlock else 6),
        without_gradient=("key/bias",),
    )


def reference(v):
    block = weights.encoder_block(v)
    return np.stack(
        [
            transformer.encoder_block(x, mask, block, 2, weights.EPSILON)
            for x, mask in zip(v["x"], MASK, strict=True)
        ]
    )


@pytest.mark.equation("masque-01")
def test_values_and_gradients():
    layer = TransformerEncoderBlock(num_heads=2, intermediate_dim=5)
    compared = Compared(layer, arrays({"x": (3, 4, 4)}), padding_mask=MASK)
    compared.check(reference, positions=6)


@pytest.mark.parametrize("kind", KINDS)
def test_passages_of_an_example_do_not_see_each_other(kind):
    layer = kind(num_heads=2, intermediate_dim=5)
    x = arrays({"x": (2, 3, 4, 4)})["x"]
    mask = np.stack([MASK, MASK[::-1]])
    together = np.array(layer(x, padding_mask=mask))
    weights.randomise(layer)
    together = np.array(layer(x, padding_mask=mask))
    for b, k in np.ndindex(2, 3):
        alone = layer(x[b, k : k + 1], padding_mask=mask[b, k : k + 1])
        close(together[b, k][mask[b, k]], np.array(alone)[0][mask[b, k]])


def test_backward_direction_of_the_recurrent_block_begins_at_the_last_real_word():
    layer = RecurrentEncoderBlock(num_heads=2, intermediate_dim=5)
    x = arrays({"x": (3, 4, 4)})["x"]
    layer(x, padding_mask=MASK)
    weights.randomise(layer)
    got = np.array(layer.run_second(ops.convert_to_tensor(x), MASK))
    for b, length in ((0, 3), (2, 4)):
        words = x[b, :length].astype(float)
        ahead, back = (direction.get_weights() for direction in layer.second.directions)
        begin = np.zeros(2), np.zeros(2)
        forward, _ = lstm(words, *ahead, *begin)
        backward, _ = lstm(words[::-1], *back, *begin)
        close(got[b, :length], np.concatenate([forward[1:], backward[:0:-1]], -1))


def test_weights_of_the_recurrent_block_are_drawn_as_wide_as_asked():
    layer = RecurrentEncoderBlock(num_heads=2, intermediate_dim=2, initializer=0.3)
    layer.build((2, 3, 40))
    kernels = [np.array(d.cell.kernel) for d in layer.second.directions]
    assert [kernel.std() for kernel in kernels] == pytest.approx([0.3] * 2, rel=0.1)
    assert np.abs(kernels[0] - kernels[1]).mean() > 0.1
