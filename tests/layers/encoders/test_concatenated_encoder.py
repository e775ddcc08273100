"""The encoder of three blocks against loops in float64."""

import numpy as np
import pytest
from keras import Variable, ops

from tests.layers.agreement import Compared, arrays, close
from tests.reference import daanet as reference
from tfmrc.layers import ConcatenatedEncoder
from tfmrc.layers.encoders.concatenated_encoder import BLOCKS
from tfmrc.testing import gradients, run_layer_test

X = arrays({"x": (3, 4, 6)})["x"]
LENGTHS = (4, 2, 0)
MASK = np.arange(4) < np.array(LENGTHS)[:, None]
SIZES = {"hidden_dim": 6, "num_lstm_layers": 2, "num_heads": 2}
FORMS = pytest.mark.parametrize(
    ("causal", "in_series", "blocks"),
    [
        (False, False, BLOCKS),
        (True, False, BLOCKS),
        (False, True, BLOCKS),
        (True, True, BLOCKS),
        (True, False, ("feed_forward", "self_attention")),
        (False, False, ("feed_forward", "lstm")),
    ],
)


def built(**options):
    return Compared(ConcatenatedEncoder(**SIZES, **options), {"x": X}, padding_mask=MASK)


def expected(layer, v):
    rows = np.zeros((*MASK.shape, 6 * len(layer.blocks)))
    for row, x, n in zip(rows, v["x"], LENGTHS, strict=True):
        if n:
            row[:n] = reference.encoder(x[:n], v, 2, layer.causal, layer.in_series)
    return rows


@pytest.mark.parametrize("causal", [False, True])
def test_layer(causal):
    run_layer_test(
        ConcatenatedEncoder,
        {**SIZES, "causal": causal},
        {"x": X, "padding_mask": MASK},
        axes={"x": "B n d", "padding_mask": "B n"},
        output_axes="B n o",
        expected_output_shape=(3, 4, 18),
        expected_num_trainable_weights=4 + (1 if causal else 2) * 6 + 1 + 6,
    )


@FORMS
@pytest.mark.equation("daanet-05")
def test_values_and_gradients(causal, in_series, blocks):
    compared = built(causal=causal, in_series=in_series, blocks=blocks)
    compared.check(lambda v: expected(compared.layer, v), real=[MASK], positions=2)


@FORMS
def test_padding_and_later_words(causal, in_series, blocks):
    layer, x = built(causal=causal, in_series=in_series, blocks=blocks).layer, Variable(X)
    for row, length in enumerate(LENGTHS):
        for position in range(length):
            (result,) = gradients(
                lambda row=row, position=position: ops.sum(layer(x, MASK)[row, position] ** 2), [x]
            )
            seen = position + 1 if causal else length
            assert np.any(result[row, position]) and not np.any(result[row, seen:])
            others = [other for other in range(3) if other != row]
            assert not np.any(result[others])


@pytest.mark.parametrize("in_series", [False, True])
def test_steps_equal_the_whole(in_series):
    layer = built(causal=True, in_series=in_series).layer
    whole = np.array(layer(X))
    cache = layer.init_cache(3, 2, 7)
    for t in range(4):
        y, cache = layer.decode_step(np.repeat(X[:, None, t], 2, axis=1), cache, t)
        for beam in range(2):
            close(y[:, beam], whole[:, t])
