import keras
import pytest

from tfmrc.ops.portable import has_gpu, is_portable, portable


def test_contexts_nest_and_end_after_an_error():
    assert not is_portable()
    with portable():
        assert is_portable()
        with portable():
            assert is_portable()
        assert is_portable()
    assert not is_portable()
    with pytest.raises(KeyError), portable():
        raise KeyError
    assert not is_portable()
    with portable():
        assert is_portable()


@pytest.mark.parametrize(
    ("devices", "found"), [(["cpu:0"], False), (["cpu:0", "GPU:0"], True), ([], False)]
)
def test_devices(monkeypatch, devices, found):
    monkeypatch.setattr(keras.distribution, "list_devices", lambda: devices)
    assert has_gpu() is found
