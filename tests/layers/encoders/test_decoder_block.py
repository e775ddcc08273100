import keras
import numpy as np
import pytest
from keras import ops

from tests.layers import weights
from tests.layers.agreement import Compared, arrays, close
from tests.reference import transformer
from tfmrc.layers import RecurrentDecoderBlock, TransformerDecoderBlock
from tfmrc.testing import run_layer_test

# Of the second example the passages are padding altogether, of the third the question is.
QUESTION_MASK = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 0]], bool)
PASSAGE_MASK = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)
MASKS = [QUESTION_MASK, PASSAGE_MASK]
SHAPES = {"x": (3, 4, 4), "question": (3, 3, 4), "passages": (3, 5, 4)}
KINDS = [TransformerDecoderBlock, RecurrentDecoderBlock]


def some(kind, **more):
    return kind(**{"num_heads": 2, "intermediate_dim": 5, "num_memories": 2, **more})


@pytest.mark.parametrize("kind", KINDS)
def test_layer(kind):
    inputs = arrays(SHAPES)
    run_layer_test(
        kind,
        {
            "num_heads": 2,
            "intermediate_dim": 5,
            "num_memories": 2,
            "dropout": 0.2,
            "initializer": 0.5,
        },
        {
            "x": inputs["x"],
            "memories": [inputs["question"], inputs["passages"]],
            "memory_masks": MASKS,
        },
        axes={
            "x": "B T d",
            "memories": ["B J d", "B S d"],
            "memory_masks": ["B J", "B S"],
        },
        output_axes="B T d",
        padded=("T", "J", "S"),
        expected_output_shape=(3, 4, 4),
        expected_num_trainable_weights=2 * 8 + 3 * 2 + 4 + 2
        + (8 if kind is TransformerDecoderBlock else 3),
        without_gradient=("key/bias",),
    )  # fmt: skip


def reference(v):
    block = weights.decoder_block(v)
    return np.stack(
        [
            transformer.decoder_block(
                v["x"][b], v["question"][b], QUESTION_MASK[b], v["passages"][b], PASSAGE_MASK[b],
                block, 2, weights.EPSILON,
            )
            for b in range(3)
        ]
    )  # fmt: skip


@pytest.mark.equation("masque-01")
def test_values_and_gradients():
    def call(layer, x):
        return layer(x["x"], [x["question"], x["passages"]], MASKS)

    layer = some(TransformerDecoderBlock)
    Compared(layer, arrays(SHAPES), call=call).check(reference, positions=4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compiled", [False, True])
def test_steps_give_what_the_whole_sequence_gives(kind, compiled):
    layer, inputs = some(kind), arrays(SHAPES)
    memories = [inputs["question"], inputs["passages"]]
    layer(inputs["x"], memories, MASKS)
    weights.randomise(layer)
    beams = np.stack([inputs["x"], inputs["x"][::-1] * 0.7], axis=1)  # [B, W, T, d]
    whole = [np.array(layer(beams[:, w], memories, MASKS)) for w in range(2)]
    projected = layer.project(memories, MASKS)
    for w in range(2):
        close(layer(beams[:, w], memories, MASKS, projected=projected), whole[w])
    cache = layer.init_cache(3, 2, 7, 4)
    shapes = keras.tree.map_structure(lambda leaf: tuple(leaf.shape), cache)

    def step(x, cache, t):
        return layer.decode_step(x, cache, t, projected)

    if compiled:
        import tensorflow as tf

        step = tf.function(step, autograph=False)
    for t in range(4):
        y, cache = step(ops.convert_to_tensor(beams[:, :, t]), cache, ops.convert_to_tensor(t))
        assert keras.tree.map_structure(lambda leaf: tuple(leaf.shape), cache) == shapes
        for w in range(2):
            close(y[:, w], whole[w][:, t])


@pytest.mark.parametrize("kind", KINDS)
def test_leaves_of_the_cache_have_examples_and_beams_first(kind):
    layer, inputs = some(kind), arrays(SHAPES)
    layer(inputs["x"], [inputs["question"], inputs["passages"]], MASKS)
    for leaf in keras.tree.flatten(layer.init_cache(3, 2, 7, 4)):
        assert tuple(leaf.shape)[:2] == (3, 2)
