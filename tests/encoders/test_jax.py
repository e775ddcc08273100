import keras
import numpy as np
import pytest

from tests import fresh_python
from tests.encoders.jax_encoder import IDS, PIECES, SEGMENTS, make


@pytest.mark.slow
def test_on_jax_as_on_tensorflow(tmp_path) -> None:
    model = make()
    model.save_weights(tmp_path / "model.weights.h5")
    expected = model.predict([IDS, SEGMENTS, PIECES], verbose=0)
    weights, out = tmp_path / "model.weights.h5", tmp_path / "out.npz"
    fresh_python.run("-m", "tests.encoders.jax_encoder", weights, out, KERAS_BACKEND="jax")
    with np.load(out) as archive:
        np.testing.assert_allclose(archive["outputs"], expected, atol=1e-5)
        losses, moved = archive["losses"], [str(path) for path in archive["moved"]]
    assert np.isfinite(losses).all() and losses[-10:].mean() < 0.5 * losses[0]
    kernels = [path for path in moved if path.endswith("kernel")]
    assert any("transformer_layer_1/" in path for path in kernels)
    assert not any("transformer_layer_0/" in path or "embedding" in path for path in kernels)
    keras.backend.clear_session()
