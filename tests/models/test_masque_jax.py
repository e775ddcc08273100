"""Masque on Keras' JAX backend, without TensorFlow: its weights and numbers go over.

It trains there in `tests/training/test_jax.py`; `tests/decoding/test_jax.py` is the quick test.
"""

import numpy as np
import pytest

from tests import fresh_python
from tests.models import examples
from tests.models.papers import masque_with_elmo
from tests.models.test_masque_elmo import batch

PROGRAM = """
import sys
import numpy as np
from tests.models import examples
import keras
x = examples.batch(examples.FOUR)
model = examples.small(num_decoder_blocks=1, initializer_stddev=0.2)
outputs = model.predict(x, batch_size=4, verbose=0)
assert keras.backend.backend() == "jax"
assert "tensorflow" not in sys.modules, "TensorFlow was imported"
memory = model.encode(examples.source_only(x))
found = model.generate(memory, 4, num_beams=2)
model.save_weights(sys.argv[1])
np.savez(sys.argv[2], ids=np.array(found.ids), score=np.array(found.score), **outputs)
"""


@pytest.mark.slow
def test_jax_and_tensorflow_give_the_same_outputs_and_answers(tmp_path):
    weights, file = tmp_path / "masque.weights.h5", tmp_path / "numbers.npz"
    fresh_python.run("-c", PROGRAM, weights, file, KERAS_BACKEND="jax")
    with np.load(file) as archive:
        numbers = dict(archive)
    model = examples.small(num_decoder_blocks=1, initializer_stddev=0.2)
    model.load_weights(weights)
    x = examples.batch(examples.FOUR)
    for part, value in model(x).items():
        np.testing.assert_allclose(value, numbers[part], rtol=1e-4, atol=2e-5)
    found = model.generate(model.encode(examples.source_only(x)), 4, num_beams=2)
    np.testing.assert_array_equal(found.ids, numbers["ids"])
    np.testing.assert_allclose(found.score, numbers["score"], rtol=1e-4)


WITH_ELMO = """
import sys
import keras
import numpy as np
from tests.models.papers import masque_with_elmo
assert keras.backend.backend() == "jax"
model, _ = masque_with_elmo()
model.load_weights(sys.argv[1])
inputs = dict(np.load(sys.argv[2]))
source = {name.removeprefix("source/"): a for name, a in inputs.items() if name[:7] == "source/"}
batch = {name: a for name, a in inputs.items() if name[:7] != "source/"}
found = model.generate(model.encode(source), 4, num_beams=2)
outputs = {part: np.array(value) for part, value in model(batch).items()}
np.savez(sys.argv[3], ids=np.array(found.ids), score=np.array(found.score), **outputs)
"""


@pytest.mark.slow
def test_elmo_in_masque_is_the_same_on_jax(tmp_path):
    model, preprocessor = masque_with_elmo()
    (x, _, _), source = batch(preprocessor)
    source = {name: source[name] for name in preprocessor.model_inputs}
    model.save_weights(tmp_path / "masque.weights.h5")
    arrays = {name: np.array(a) for name, a in x.items()}
    np.savez(
        tmp_path / "in.npz", **arrays, **{f"source/{n}": np.array(a) for n, a in source.items()}
    )
    files = [tmp_path / name for name in ("masque.weights.h5", "in.npz", "out.npz")]
    fresh_python.run("-c", WITH_ELMO, *files, KERAS_BACKEND="jax")
    with np.load(files[-1]) as archive:
        numbers = dict(archive)
    for part, value in model(x).items():
        np.testing.assert_allclose(value, numbers[part], rtol=1e-4, atol=2e-5)
    found = model.generate(model.encode(source), 4, num_beams=2)
    np.testing.assert_array_equal(found.ids, numbers["ids"])
    np.testing.assert_allclose(found.score, numbers["score"], rtol=1e-4)
