"""Models on Keras' JAX backend, without TensorFlow: they train there, and TensorFlow agrees.

Masque trains in `tests/training/test_jax.py`; `tests/decoding/test_jax.py` is the quick test.
"""

import numpy as np
import pytest

from tests import fresh_python
from tests.models import duals, examples, predicted, questions

MODELS = {
    "masque": lambda: examples.small(num_decoder_blocks=1, initializer_stddev=0.2),
    "daanet": lambda: duals.small(num_lstm_layers=1, tasks=("ask",)),
    "maxout_pointer_qg": lambda: questions.small(num_layers=1),
}
PROGRAM = """
import sys
import keras
import numpy as np
from tests.models import duals, examples, questions
from tfmrc.losses import SequenceNLL
assert keras.backend.backend() == "jax"
name = sys.argv[1]
if name == "masque":
    model = examples.small(num_decoder_blocks=1, initializer_stddev=0.2)
    x, direction = examples.batch(examples.FOUR), model
    source, y = examples.source_only(x), {}
elif name == "daanet":
    model = duals.small(num_lstm_layers=1, tasks=("ask",))
    x, direction = duals.batch(duals.FOUR), model.asking
    source, y = duals.source(x, "ask"), {"ask": x["question_target_ids"]}
else:
    model = questions.small(num_layers=1)
    x, direction = questions.batch(questions.FOUR), model
    source, y = questions.source_only(x), {"decoder": x["target_ids"]}
if y:
    model.compile("adam", {output: SequenceNLL() for output in y})
    first, second = model.fit(x, y, batch_size=4, epochs=2, verbose=0).history["loss"]
    assert second < first
assert "tensorflow" not in sys.modules, "TensorFlow was imported"
found = direction.generate(direction.encode(source), 4, num_beams=2)
model.save_weights(sys.argv[2])
outputs = {output: np.array(value) for output, value in model(x).items()}
sources = {f"source/{n}": a for n, a in source.items()} | {f"x/{n}": a for n, a in x.items()}
np.savez(sys.argv[3], ids=np.array(found.ids), score=np.array(found.score), **outputs, **sources)
"""


def test_predictions_have_the_order_of_the_data_on_both_backends():
    predicted.check()
    assert fresh_python.run("-m", "tests.models.predicted", KERAS_BACKEND="jax") == "jax"


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_jax_trains_and_tensorflow_gives_the_same_outputs_and_words(tmp_path, name):
    weights, file = tmp_path / "model.weights.h5", tmp_path / "numbers.npz"
    fresh_python.run("-c", PROGRAM, name, weights, file, KERAS_BACKEND="jax")
    with np.load(file) as archive:
        numbers = dict(archive)
    model = MODELS[name]()
    model.load_weights(weights)
    direction = model.asking if name == "daanet" else model
    x, source = (
        {n.removeprefix(prefix): a for n, a in numbers.items() if n.startswith(prefix)}
        for prefix in ("x/", "source/")
    )
    for output, value in model(x).items():
        np.testing.assert_allclose(value, numbers[output], rtol=1e-4, atol=2e-5)
    found = direction.generate(direction.encode(source), 4, num_beams=2)
    np.testing.assert_array_equal(found.ids, numbers["ids"])
    np.testing.assert_allclose(found.score, numbers["score"], rtol=1e-4)
