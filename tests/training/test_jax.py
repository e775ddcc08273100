import numpy as np
import pytest

from tests import fresh_python
from tests.training import masque_batches

pytestmark = pytest.mark.slow  # tests.decoding.test_jax is the quick one


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jax")
    fresh_python.run("-m", "tests.training.jax_masque", folder, KERAS_BACKEND="jax")
    with np.load(folder / "outputs.npz") as archive:
        return folder, dict(archive)


def test_masque_trains_on_jax_where_tensorflow_is_not_imported(trained):
    loss, validation = (trained[1][f"history/{name}"] for name in ("loss", "val_loss"))
    assert np.isfinite(loss).all() and np.isfinite(validation).all()
    assert loss[-1] < 0.8 * loss[0] and validation[-1] < validation[0]


def test_weights_trained_on_jax_give_the_same_outputs_in_tensorflow(trained):
    folder, outputs = trained
    model = masque_batches.model(seed=5, dropout=0.1)
    model.load_weights(folder / "masque.weights.h5")
    x = masque_batches.rows(1, seed=9)[0]
    for name, value in model.predict(x, batch_size=8, verbose=0).items():
        np.testing.assert_allclose(value, outputs[name], rtol=2e-4, atol=2e-5, err_msg=name)
