"""Trains small models on JAX, where TensorFlow must not be imported.

Argument: the folder for weights, and for `results.npz` with losses, outputs and errors.
"""

import sys

import keras
import numpy as np

from tests.models.spans import SMALL, batch
from tests.training import masque_batches, multipliers
from tfmrc import training
from tfmrc.models import SAN
from tfmrc.utils import keras_private

LENGTHS = ((3, 5), (2, 3), (3, 4), (1, 5))


def masque(folder):
    model = masque_batches.model(dropout=0.1)
    model.compile(
        **training.masque(steps=60, learning_rate=0.01, warmup_steps=5, ema=0.9, model=model)
    )
    x, y, weight = masque_batches.rows(6)
    validation = masque_batches.rows(1, seed=9)
    history = model.fit(
        x, y, sample_weight=weight, batch_size=8, epochs=5, shuffle=False, verbose=0,
        validation_data=validation, validation_batch_size=8,
        callbacks=training.callbacks(f"{folder}/masque", every_steps=4),
    ).history  # fmt: skip
    model.save_weights(f"{folder}/masque.weights.h5")
    outputs = model.predict(validation[0], batch_size=8, verbose=0)
    model.fit(x, y, sample_weight=weight, batch_size=8, verbose=0)  # goes on from the averages
    return outputs | {name: np.array(history[name]) for name in ("loss", "val_loss")}


def san(folder):
    model = SAN(**{**SMALL, "dropout": 0.1}, seed=1)
    model.compile(**training.san(steps=80, steps_per_epoch=10, learning_rate=0.05, model=model))
    y = {"begin": np.array([0, 1, 2, 3]), "end": np.array([0, 2, 3, 4])}
    history = model.fit(batch(LENGTHS), y, epochs=80, batch_size=4, verbose=0).history
    model.save_weights(f"{folder}/san.weights.h5")
    return model.predict(batch(LENGTHS), verbose=0) | {"loss": np.array(history["loss"])}


class Watch(keras.callbacks.Callback):
    """Compares the state that JAX keeps within an epoch with the variables of the model."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def on_train_batch_end(self, batch, logs=None):
        values = keras_private.trained_values(self.model)
        keras_private.sync_state(self.model)
        for value, variable in zip(values, self.model.trainable_variables, strict=True):
            np.testing.assert_array_equal(value, variable.value)
        self.seen.append(np.array(self.model.get_layer("dense").kernel).tobytes())


class Kill(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 4:
            raise KeyboardInterrupt


def resumed(folder):
    """Weights of a whole and of a killed run, and the error of one that is not finite."""
    x, y = np.ones((12, 2), "float32"), np.ones((12, 1), "float32")

    def fit(name, *callbacks, x=x):
        keras.utils.set_random_seed(1)  # imports TensorFlow
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="dense")])
        model.compile(training.AdamW(0.1), "mse")
        run = training.callbacks(f"{folder}/{name}", monitor=None, every_steps=3)
        model.fit(
            x, y, batch_size=2, epochs=2, shuffle=False, verbose=0, callbacks=[*run, *callbacks]
        )
        return np.concatenate([np.ravel(weight) for weight in model.get_weights()])

    watch = Watch()
    results = {"whole": fit("whole", watch), "kernels": np.array(len(set(watch.seen)))}
    try:
        fit("killed", Kill())
    except KeyboardInterrupt:
        results["step"] = np.array(training.Checkpoint(f"{folder}/killed/checkpoints").step)
    results["killed"] = fit("killed")
    wrong = x.copy()
    wrong[8:] = np.nan
    try:
        fit("wrong", x=wrong)
    except training.NonFiniteError as error:
        results["error"] = np.array(str(error))
    return results


def main(folder):
    results = {}
    for part in (masque, san, resumed):
        if keras.backend.backend() != "jax" or "tensorflow" in sys.modules:
            raise RuntimeError(f"Not on JAX alone. Received: backend={keras.backend.backend()}")
        results |= {f"{part.__name__}/{name}": x for name, x in part(folder).items()}
    for batches in (None, 2):
        found = multipliers.updated(multipliers.RATES, batches=batches)
        results |= {f"multipliers/{batches}/{n}": value for n, value in enumerate(found)}
    np.savez(f"{folder}/results.npz", **results)


if __name__ == "__main__":
    main(*sys.argv[1:])
