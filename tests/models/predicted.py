"""`model.predict` of a dataset whose batches differ in length; the same on every backend."""

import keras
import numpy as np
import pytest

import tfmrc
from tfmrc import data, models, preprocessing
from tfmrc.ops import LOG_ZERO

PASSAGES = ("An owl flew at night.", "No.", "Then a cat", "So it goes, so it goes.", "An owl flew.")


def check() -> tuple[models.SAN, preprocessing.SANPreprocessor]:
    """Compares the rows with the outputs of the examples alone."""
    examples = [data.Example(str(n), "Who flew?", (text,)) for n, text in enumerate(PASSAGES)]
    preprocessor = preprocessing.SANPreprocessor.from_examples(examples)
    sizes = {"word_dim": 4, "units": 2, "align_dim": 2}
    model = models.SAN(**preprocessor.model_kwargs(), **sizes)
    seen = []
    note = keras.callbacks.LambdaCallback(
        on_predict_batch_end=lambda batch, logs: seen.append(logs["end"].shape)
    )
    dataset = preprocessor.dataset(examples, 2)
    found = model.predict(dataset, verbose=0, callbacks=[note])
    assert seen == [(2, 6), (2, 8), (1, 4)]
    for name, rows in found.items():
        assert isinstance(rows, np.ndarray) and rows.shape == (5, 8)
        for row, example in zip(rows, examples, strict=True):
            alone = model.predict(preprocessor.dataset([example], 1), verbose=0)[name][0]
            np.testing.assert_allclose(row[: len(alone)], alone, atol=1e-5)
            assert (row[len(alone) :] == LOG_ZERO).all()
    assert len(model.predict(dataset, steps=1, verbose=0)["end"]) == 2
    return model, preprocessor


if __name__ == "__main__":
    predictor = tfmrc.Predictor(*check())
    with pytest.raises(RuntimeError, match="KERAS_BACKEND=tensorflow.*Received: backend='jax'"):
        predictor.answer(question="Who flew?", passages=PASSAGES)
    print("jax")
