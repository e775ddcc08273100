"""Outputs of a model for a dataset whose batches differ in length."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import keras
import numpy as np

from tfmrc.ops.masking import LOG_ZERO


def predict_dataset(
    model: keras.Model,
    dataset: Any,
    batch_size: int | None = None,
    verbose: int | str = "auto",
    steps: int | None = None,
    callbacks: Any = None,
) -> Any:
    """Returns the outputs of all batches as arrays, as `keras.Model.predict` does for one length.

    Keras returns a `RaggedTensor` for batches of several lengths on TensorFlow, and fails on JAX.

    Args:
        model: `keras.Model`. The model.
        dataset: `tf.data.Dataset`. Batches of inputs, or of inputs, labels and weights.
        batch_size, verbose, steps, callbacks: As for `keras.Model.predict`.
    """
    if not isinstance(callbacks, keras.callbacks.CallbackList):
        size = int(dataset.cardinality()) if steps is None else steps
        callbacks = keras.callbacks.CallbackList(
            callbacks,
            add_progbar=verbose != 0,
            verbose=verbose,
            epochs=1,
            steps=size if size >= 0 else None,
            model=model,
        )
    model.stop_predicting = False
    callbacks.on_predict_begin()
    results = []
    for step, batch in enumerate(islice(dataset.as_numpy_iterator(), steps)):
        callbacks.on_predict_batch_begin(step)
        results.append(model.predict_on_batch(keras.utils.unpack_x_y_sample_weight(batch)[0]))
        callbacks.on_predict_batch_end(step, {"outputs": results[-1]})
        if model.stop_predicting:
            break
    callbacks.on_predict_end()
    return keras.tree.map_structure(lambda *arrays: _joined(arrays), *results)


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Joins arrays `[B, ..]`, filled with `LOG_ZERO`, which log-probabilities have at padding."""
    sizes = np.max([array.shape[1:] for array in arrays], axis=0)
    missing = ([(0, 0), *zip(0 * sizes, sizes - a.shape[1:], strict=True)] for a in arrays)
    padded = [
        np.pad(array, widths, constant_values=LOG_ZERO)
        for array, widths in zip(arrays, missing, strict=True)
    ]
    return np.concatenate(padded)
