"""An encoder on JAX: outputs, and some training steps with remat; TensorFlow computes no model.

Arguments: the file of weights to read, the file for the outputs.
"""

import sys

import keras
import numpy as np

IDS = np.array([[[2, 7, 8, 3, 9, 3], [2, 7, 8, 3, 0, 0]], [[2, 5, 3, 6, 6, 3], [0] * 6]])
SEGMENTS = np.array([[[0, 0, 0, 0, 1, 1], [0] * 6], [[0, 0, 0, 1, 1, 1], [0] * 6]])
PIECES = np.array([[[1, 2], [4, 1], [7, 1]], [[1, 1], [3, 2], [0, 0]]])
TARGET = np.array([[1.0, -1.0, 0.5], [0.3, 0.7, 0.0]])[..., None]


def make(**options):
    from tfmrc.encoders import BackboneEncoder

    sizes = {"vocabulary_size": 12, "num_layers": 2, "num_heads": 2, "hidden_dim": 8}
    sizes |= {"intermediate_dim": 12, "max_sequence_length": 16, "dropout": 0.1}
    layer = BackboneEncoder("bert", sizes, layers="mix", pooling="mean", **options)
    ids = keras.Input((None, None), dtype="int32")
    segments = keras.Input((None, None), dtype="int32")
    pieces = keras.Input((None, 2), dtype="int32")
    words = layer.words(layer(ids, segments), pieces)
    return keras.Model([ids, segments, pieces], keras.layers.Dense(1, name="head")(words))


def main(weights, out):
    if keras.backend.backend() != "jax":
        raise RuntimeError(f"Received: backend={keras.backend.backend()}")
    batch = [IDS, SEGMENTS, PIECES]
    model = make(trainable_layers=1, remat=True)
    model.load_weights(weights)
    outputs = model.predict(batch, verbose=0)
    before = {v.path: v.numpy() for v in model.variables if "seed" not in v.path}
    model.compile("adam", "mse")
    losses = model.fit(batch, TARGET, epochs=60, batch_size=2, verbose=0).history["loss"]
    moved = [v.path for v in model.variables if (before.get(v.path, 0) != v.numpy()).any()]
    np.savez(out, outputs=outputs, losses=losses, moved=moved)


if __name__ == "__main__":
    main(*sys.argv[1:])
