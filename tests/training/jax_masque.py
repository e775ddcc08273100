"""Trains the small Masque on JAX; TensorFlow must not be imported.

Arguments: the folder for `masque.weights.h5` and `outputs.npz`.
"""

import sys

import keras
import numpy as np

from tests.training import masque_batches
from tfmrc import training


def main(folder):
    model = masque_batches.model(dropout=0.1)
    model.compile(
        **training.masque(steps=60, learning_rate=0.01, warmup_steps=5, ema=0.9, model=model)
    )
    x, y, weight = masque_batches.rows(6)
    validation = masque_batches.rows(1, seed=9)
    history = model.fit(
        x,
        y,
        sample_weight=weight,
        batch_size=8,
        epochs=5,
        shuffle=False,
        validation_data=validation,
        validation_batch_size=8,
        callbacks=training.callbacks(folder + "/run", every_steps=4),
        verbose=0,
    ).history
    model.save_weights(folder + "/masque.weights.h5")
    outputs = model.predict(validation[0], batch_size=8, verbose=0)
    losses = {f"history/{name}": np.array(values) for name, values in history.items()}
    np.savez(folder + "/outputs.npz", **outputs, **losses)
    if keras.backend.backend() != "jax" or "tensorflow" in sys.modules:
        raise RuntimeError(f"Not on JAX alone. Received: backend={keras.backend.backend()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
