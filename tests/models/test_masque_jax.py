"""Masque on Keras' JAX backend: trains without TensorFlow, and its weights go over."""

import numpy as np
import pytest

from tests import fresh_python
from tests.models import examples

PROGRAM = """
import sys
import numpy as np
from tests.models import examples, test_masque_training as training
import keras
from tfmrc.layers import Highway
from tfmrc.testing import run_layer_test
x = examples.batch(examples.FOUR)
y, weight = examples.labels(examples.FOUR, x)
model = examples.small(num_decoder_blocks=1, initializer_stddev=0.2)
training.compiled(model, 1e-3)
history = model.fit(x, y, sample_weight=weight, batch_size=4, epochs=2, verbose=0)
assert keras.backend.backend() == "jax"
assert "tensorflow" not in sys.modules, "TensorFlow was imported"
outputs = {name: np.array(value) for name, value in model(x).items()}
varied = np.random.default_rng(0).normal(size=(2, 3, 8)).astype("float32")
run_layer_test(Highway, {}, {"x": varied}, precisions=())
memory = model.encode(examples.source_only(x))
found = model.generate(memory, 4, num_beams=2)
model.save_weights(sys.argv[1])
np.savez(sys.argv[2], ids=np.array(found.ids), score=np.array(found.score),
         losses=history.history["loss"], **outputs)
"""


@pytest.fixture(scope="module")
def trained_by_jax(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jax")
    weights, numbers = folder / "masque.weights.h5", folder / "numbers.npz"
    fresh_python.run("-c", PROGRAM, weights, numbers, KERAS_BACKEND="jax")
    return weights, np.load(numbers)


def test_jax_trains_and_tensorflow_gives_the_same_outputs(trained_by_jax):
    weights, numbers = trained_by_jax
    assert np.isfinite(numbers["losses"]).all()
    assert numbers["losses"][1] < numbers["losses"][0]
    model = examples.small(num_decoder_blocks=1, initializer_stddev=0.2)
    model.load_weights(weights)
    x = examples.batch(examples.FOUR)
    for part, value in model(x).items():
        np.testing.assert_allclose(value, numbers[part], rtol=1e-4, atol=2e-5)
    found = model.generate(model.encode(examples.source_only(x)), 4, num_beams=2)
    np.testing.assert_array_equal(found.ids, numbers["ids"])
    np.testing.assert_allclose(found.score, numbers["score"], rtol=1e-4)
