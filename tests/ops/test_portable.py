import keras
import pytest

from tfmrc.ops import portable as ops_portable
from tfmrc.ops.portable import has_gpu, is_portable, multiplies_bfloat16, portable


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


@pytest.mark.parametrize(
    ("flags", "devices", "found"),
    [
        ("fma avx512_bf16 avx512_vnni", ["cpu:0"], True),
        ("amx_bf16", ["cpu:0"], True),
        ("avx512f avx512_vnni", ["cpu:0"], False),
        ("amx_bf16", ["cpu:0", "gpu:0"], False),
        (None, ["cpu:0"], False),
    ],
)
def test_bfloat16_is_multiplied_where_the_processor_says_so(
    monkeypatch, tmp_path, flags, devices, found
):
    file = tmp_path / "cpuinfo"
    if flags is not None:
        file.write_text(f"model name\t: a CPU\nflags\t\t: {flags}\n")
    monkeypatch.setattr(ops_portable, "CPU_INFO", file)
    monkeypatch.setattr(keras.distribution, "list_devices", lambda: devices)
    assert multiplies_bfloat16() is found
