"""Training on JAX, where TensorFlow is not imported, and its weights in TensorFlow."""

import numpy as np
import pytest

from tests import fresh_python
from tests.models.spans import SMALL, batch
from tests.training import masque_batches, multipliers
from tests.training.jax_training import LENGTHS
from tfmrc.models import SAN

pytestmark = pytest.mark.slow  # tests.decoding.test_jax is the quick one


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jax")
    fresh_python.run("-m", "tests.training.jax_training", folder, KERAS_BACKEND="jax")
    with np.load(folder / "results.npz") as archive:
        results = dict(archive)

    def part(name):
        return {k.removeprefix(f"{name}/"): v for k, v in results.items() if k.startswith(name)}

    return folder, part


def test_masque(trained):
    outputs = trained[1]("masque")
    loss, validation = outputs.pop("loss"), outputs.pop("val_loss")
    assert np.isfinite(loss).all() and np.isfinite(validation).all()
    assert loss[-1] < 0.8 * loss[0] and validation[-1] < validation[0]
    model = masque_batches.model(seed=5, dropout=0.1)
    model.load_weights(trained[0] / "masque.weights.h5")
    found = model.predict(masque_batches.rows(1, seed=9)[0], batch_size=8, verbose=0)
    for name, value in outputs.items():
        np.testing.assert_allclose(found[name], value, rtol=2e-4, atol=2e-5, err_msg=name)


def test_san(trained):
    outputs = trained[1]("san")
    loss = outputs.pop("loss")
    assert np.isfinite(loss).all() and loss[-1] < 0.9 * loss[0]
    model = SAN(**SMALL)
    model.load_weights(trained[0] / "san.weights.h5")
    found = model.predict(batch(LENGTHS), verbose=0)
    for name, value in outputs.items():
        np.testing.assert_allclose(np.exp(found[name]), np.exp(value), rtol=2e-4, atol=1e-5)


def test_a_killed_run_and_numbers_that_are_not_finite(trained):
    results = trained[1]("resumed")
    assert results["kernels"] == 12 and results["step"] == 3
    np.testing.assert_array_equal(results["killed"], results["whole"])
    error = str(results["error"])
    assert "At step 5 the loss `loss` (nan)" in error and "step-0000000003" in error


@pytest.mark.parametrize("batches", [None, 2])
def test_learning_rates_of_their_own(trained, batches):
    found = trained[1](f"multipliers/{batches}")
    for number, value in enumerate(multipliers.updated(multipliers.RATES)):
        np.testing.assert_allclose(found[str(number)], value, rtol=2e-6)
