"""Trains a small SAN on JAX; TensorFlow must not be imported.

Arguments: the folder for `san.weights.h5` and `outputs.npz`.
"""

import sys

import keras
import numpy as np

from tests.models.test_san import SMALL, batch
from tfmrc import training
from tfmrc.models import SAN

LENGTHS = ((3, 5), (2, 3), (3, 4), (1, 5))


def main(folder):
    model = SAN(**{**SMALL, "dropout": 0.1}, seed=1)
    model.compile(**training.san(steps=80, steps_per_epoch=10, learning_rate=0.05, model=model))
    x = batch(LENGTHS)
    y = {"begin": np.array([0, 1, 2, 3]), "end": np.array([0, 2, 3, 4])}
    losses = model.fit(x, y, epochs=80, batch_size=4, verbose=0).history["loss"]
    model.save_weights(folder + "/san.weights.h5")
    outputs = model.predict(x, batch_size=4, verbose=0)
    np.savez(folder + "/outputs.npz", **outputs, loss=np.array(losses))
    if keras.backend.backend() != "jax" or "tensorflow" in sys.modules:
        raise RuntimeError(f"Not on JAX alone. Received: backend={keras.backend.backend()}")


if __name__ == "__main__":
    main(sys.argv[1])
