"""`model.predict` of a dataset whose batches differ in length; the same on every backend."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfmrc import models
from tfmrc.ops import LOG_ZERO
from tfmrc.predictors.process import check_backend

BATCHES = ([[1, 2, 3], [4, 5, 0]], [[6, 7]], [[8, 1, 2, 3], [4, 0, 0, 0]])


class Rows(models.Model):
    """The number of each id, as a log-probability would be given."""

    def __init__(self, *, name="rows"):
        ids = keras.Input((None,), dtype="int32", name="ids")
        rows = keras.ops.cast(ids, "float32")
        super().__init__(inputs={"ids": ids}, outputs={"end": rows}, name=name)


def check() -> None:
    """Compares the rows with the batches."""
    spec = ({"ids": tf.TensorSpec([None, None], tf.int32)},)
    dataset = tf.data.Dataset.from_generator(
        lambda: (({"ids": np.array(ids, "int32")},) for ids in BATCHES), output_signature=spec
    )
    model, seen = Rows(), []
    note = keras.callbacks.LambdaCallback(
        on_predict_batch_end=lambda batch, logs: seen.append(logs["end"].shape)
    )
    found = model.predict(dataset, verbose=0, callbacks=[note])["end"]
    assert seen == [(2, 3), (1, 2), (2, 4)] and isinstance(found, np.ndarray)
    expected = [row + [LOG_ZERO] * (4 - len(row)) for ids in BATCHES for row in ids]
    np.testing.assert_array_equal(found, np.array(expected, "float32"))
    assert len(model.predict(dataset, steps=1, verbose=0)["end"]) == 2


if __name__ == "__main__":
    check()
    with pytest.raises(RuntimeError, match="KERAS_BACKEND=tensorflow.*Received: backend='jax'"):
        check_backend()
    print("jax")
