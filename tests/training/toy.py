"""A small model and batches with the outputs, losses and sample weights of Masque."""

import random

import keras
import numpy as np

from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.models.base import Model

PASSAGES, WORDS, VOCABULARY = 3, 4, 12


def batches(count, size=8, seed=0):
    """Batches of (x, y, sample_weight); few answerable examples, repeated words, PAD."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        ids = rng.integers(0, VOCABULARY, (size, WORDS)).astype("int32")
        target = np.where(ids % 5 == 0, 0, ids).astype("int32")
        answerable = np.zeros(size, "float32")
        answerable[: size // 4 + 1] = 1
        valid = (rng.random((size, PASSAGES)) < 0.7).astype("float32")
        yield (
            {"ids": ids, "target_ids": target},
            {
                "decoder": target,
                "ranker": (rng.random((size, PASSAGES)) < 0.3).astype("float32"),
                "classifier": answerable,
            },
            {
                "decoder": answerable * size / answerable.sum(),
                "ranker": valid * valid.size / valid.sum(),
                "classifier": np.ones(size, "float32"),
            },
        )


def model(dropout=0.0, dtype=None, seed=1):
    random.seed(seed)  # initial weights; `keras.utils.set_random_seed` would import TensorFlow
    options = {"dtype": dtype}
    ids = keras.Input((WORDS,), dtype="int32", name="ids")
    target = keras.Input((WORDS,), dtype="int32", name="target_ids")
    x = keras.layers.Embedding(VOCABULARY, 6, name="words", **options)(ids)
    x = Dropout(dropout, seed=3, name="dropout", **options)(x)
    x = keras.layers.Dense(6, "gelu", name="hidden", **options)(x)
    x = keras.layers.LayerNormalization(name="normalisation", **options)(x)
    logits = keras.layers.Dense(VOCABULARY, name="output", **options)(x)
    log_p = keras.ops.log_softmax(keras.ops.cast(logits, "float32"))
    picked = keras.ops.take_along_axis(log_p, target[..., None], axis=-1)[..., 0]
    first = keras.layers.Flatten()(x)
    outputs = {
        "decoder": picked,
        "ranker": keras.layers.Dense(PASSAGES, name="ranker", **options)(first),
        "classifier": keras.layers.Dense(1, name="classifier", **options)(first)[:, 0],
    }
    return keras.Model({"ids": ids, "target_ids": target}, outputs)


def dataset(count, size=8, seed=0):
    import tensorflow as tf

    rows = list(batches(count, size, seed))
    stacked = tf.nest.map_structure(lambda *leaves: np.concatenate(leaves), *rows)
    return tf.data.Dataset.from_tensor_slices(stacked).batch(size, drop_remainder=True)


class Doubled(Model):
    """A model of two outputs, each of which has a running mean of its loss."""

    def __init__(self, *, name="doubled"):
        inputs = keras.Input((2,), name="inputs")
        single = keras.layers.Dense(1)(inputs)
        super().__init__(
            inputs=inputs, outputs={"single": single, "doubled": 2.0 * single}, name=name
        )
