import numpy as np
import pytest

from tests import fresh_python
from tests.models.test_san import SMALL, batch
from tests.training.jax_san import LENGTHS
from tfmrc.models import SAN


@pytest.mark.slow
def test_san_trains_on_jax_and_gives_the_same_outputs_in_tensorflow(tmp_path):
    fresh_python.run("-m", "tests.training.jax_san", tmp_path, KERAS_BACKEND="jax")
    with np.load(tmp_path / "outputs.npz") as archive:
        outputs = dict(archive)
    loss = outputs.pop("loss")
    assert np.isfinite(loss).all() and loss[-1] < 0.9 * loss[0]
    model = SAN(**SMALL)
    model.load_weights(tmp_path / "san.weights.h5")
    found = model.predict(batch(LENGTHS), verbose=0)
    for name, value in outputs.items():
        np.testing.assert_allclose(np.exp(found[name]), np.exp(value), rtol=2e-4, atol=1e-5)
