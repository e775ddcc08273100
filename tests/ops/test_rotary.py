import numpy as np

from tfmrc.ops.rotary import rotate


def test_pairs_of_features_are_complex_numbers_that_are_turned():
    x = np.random.default_rng(0).normal(size=(2, 3, 50, 8))
    turned = (x[..., :4] + 1j * x[..., 4:]) * np.exp(
        1j * np.arange(50)[:, None] * 100.0 ** -np.linspace(0, 0.75, 4)
    )
    expected = np.concatenate([turned.real, turned.imag], axis=-1)
    np.testing.assert_allclose(rotate(x.astype("float32"), 100.0), expected, atol=1e-5)
