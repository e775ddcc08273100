"""CoVe beside a float64 reference and torch.nn.LSTM; files of PyTorch, harmless and not."""

import collections
import json
import os
import pickle
import subprocess

import numpy as np
import pytest
from keras import ops

from tests.encoders import torch_files
from tests.encoders.torch_files import Tensor, cove_weights, tensors
from tests.reference.recurrent import cove as reference
from tfmrc.encoders import CoVe, load_cove, read_state_dict
from tfmrc.testing import run_layer_test

DIM = 4


@pytest.mark.parametrize(("legacy", "prefix"), [(False, ""), (True, "rnn.")])
def test_values(tmp_path, legacy, prefix):
    values = cove_weights()
    path = torch_files.write(tmp_path / "cove.pth", tensors(cove_weights(prefix)), legacy)
    cove = load_cove(path)
    assert not cove.trainable_variables
    random = np.random.default_rng(1)
    x = random.normal(size=(3, 5, DIM)).astype("float32")
    lengths = [5, 2, 0]
    mask = np.arange(5) < np.array(lengths)[:, None]
    layers = [ops.convert_to_numpy(layer) for layer in cove.layers_of(x, mask)]
    for row, length in enumerate(lengths):
        for result, expected in zip(layers, reference(values, x[row, :length]), strict=True):
            np.testing.assert_allclose(result[row, :length], expected, atol=1e-6)
            assert not result[row, length:].any()
    np.testing.assert_array_equal(cove(x, mask), layers[-1])
    np.testing.assert_allclose(cove(x[None, :1], None)[0, 0], reference(values, x[0])[1], atol=1e-6)


def test_bfloat16_of_safetensors_becomes_float32(tmp_path):
    numbers = np.array([1.5, -2.0], "<f4")
    header = {"w": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}
    text = json.dumps(header).encode()
    half = (numbers.view("<u4") >> 16).astype("<u2").tobytes()
    path = tmp_path / "w.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + half)
    result = read_state_dict(path)["w"]
    assert result.dtype == np.float32 and result.tolist() == numbers.tolist()


def test_safetensors(tmp_path):
    from safetensors.numpy import save_file

    path = tmp_path / "cove.safetensors"
    save_file(dict(cove_weights()), path)
    by_torch = load_cove(torch_files.write(tmp_path / "cove.pth", tensors(cove_weights())))
    for ours, theirs in zip(load_cove(path).weights, by_torch.weights, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_layer():
    random = np.random.default_rng(0)
    run_layer_test(
        CoVe,
        {"units": 2, "input_dim": 3, "encoder_trainable": True},
        {
            "x": random.normal(size=(2, 4, 3)).astype("float32"),
            "padding_mask": np.ones((2, 4), bool),
        },
        axes={"x": "B N d", "padding_mask": "B N"},
        output_axes="B N e",
        padded=("N",),
        expected_output_shape=(2, 4, 4),
        expected_num_trainable_weights=12,
        expected_num_non_trainable_weights=0,
        precisions=(),  # those of `BidirectionalLSTM`
    )


# === Files ===


@pytest.mark.parametrize("legacy", [False, True])
def test_state_dicts(tmp_path, legacy):
    numbers = np.arange(12, dtype="float32")
    bits = (np.array([1.5, -2.0], "float32").view("<u4") >> 16).astype("<u2")
    content = {
        "step": 3,
        "model": collections.OrderedDict(
            a=Tensor(numbers, shape=(2, 3), strides=(1, 2), offset=4),
            b=Tensor(np.array([1, 2], "int64")),
            c=Tensor(np.array(2.5)),
            d=Tensor(bits, kind="BFloat16Storage"),
            e=Tensor(np.zeros((0, 3), "float32")),
            f=Tensor(np.array([True, False])),
        ),
    }
    result = read_state_dict(torch_files.write(tmp_path / "x.pt", content, legacy))
    assert sorted(result) == [f"model.{name}" for name in "abcdef"]
    assert result["model.a"].tolist() == [[4, 6, 8], [5, 7, 9]]
    assert result["model.b"].tolist() == [1, 2] and result["model.b"].dtype == "int64"
    assert result["model.c"].shape == () and result["model.c"] == 2.5
    assert result["model.d"].tolist() == [1.5, -2.0]
    assert result["model.e"].shape == (0, 3)
    assert result["model.f"].tolist() == [True, False]


class Attack:
    def __init__(self, function, *arguments):
        self.parts = function, arguments

    def __reduce__(self):
        return self.parts


def attacks(target):
    command = f"touch {target}"
    for thing in (
        Attack(os.system, command),
        Attack(subprocess.check_call, ["touch", str(target)]),
        Attack(pickle.loads, pickle.dumps(Attack(os.system, command))),
    ):
        for protocol in (0, 2, 4):
            yield pickle.dumps({"weight": thing}, protocol=protocol)
    yield b"cposix\nsystem\n(S'" + command.encode() + b"'\ntR."
    yield b"(S'" + command.encode() + b"'\niposix\nsystem\n."
    # Allowed names followed by attributes.
    yield b"\x80\x04\x8c\x0ctorch._utils\x8c\x1c_rebuild_tensor_v2.__class__\x93."
    yield b"\x80\x04\x8c\x0bcollections\x8c\x0c_sys.modules\x93."


def test_no_code_of_a_file_is_run(tmp_path):
    target = tmp_path / "proof"
    number = 0
    for data in attacks(target):
        for legacy in (False, True):
            path = torch_files.write(tmp_path / "evil.pt", {}, legacy, data)
            with pytest.raises(pickle.UnpicklingError, match="refers to .* not allowed"):
                read_state_dict(path)
            number += 1
        (tmp_path / "bare.pt").write_bytes(data)
        with pytest.raises(pickle.UnpicklingError, match="refers to .* not allowed"):
            read_state_dict(tmp_path / "bare.pt")
    assert number > 20 and not target.exists()


def test_tensors_beyond_their_storage(tmp_path):
    numbers = np.arange(4, dtype="float32")
    for tensor in (
        Tensor(numbers, shape=(5,), strides=(1,)),
        Tensor(numbers, shape=(2,), strides=(-1,), offset=3),
        Tensor(numbers, shape=(1 << 40,), strides=(0,)),
        Tensor(numbers, shape=(-1, -1), strides=(1, 1)),
    ):
        path = torch_files.write(tmp_path / "x.pt", {"a": tensor})
        with pytest.raises(ValueError, match="beyond its storage"):
            read_state_dict(path)
