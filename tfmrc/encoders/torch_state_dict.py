"""Safe reader of PyTorch weights, which runs no code from pickles."""

import os
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import ml_dtypes  # with Keras; gives NumPy the type of bfloat16
import numpy as np

from tfmrc.utils.optional import optional_import

STORAGES: dict[str, str | type] = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "BFloat16Storage": ml_dtypes.bfloat16,
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
}


def read_state_dict(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Reads the tensors of a PyTorch or safetensors file.

    A file of `torch.save` is a pickle, which can run any code when it is unpickled. Only tensors,
    ordered dictionaries and plain values are allowed here; a file that refers to anything else is
    rejected before the call. Both PyTorch formats are supported: zip archives (since 1.6) and the
    legacy format of the published CoVe weights.

    Args:
        path: str or path. A file of `torch.save(module.state_dict(), ...)`, or a `.safetensors`
            file.

    Returns:
        A dict from name to array. Names in nested dictionaries are joined by dots; other values
        are left out. bfloat16 becomes float32.

    Raises:
        ValueError: If the file is not a state dict, or is truncated.
        pickle.UnpicklingError: If the file refers to anything that is not allowed.

    Example:
        >>> from tfmrc.encoders import read_state_dict
        >>> read_state_dict("wmtlstm-b142a7f2.pth")["weight_ih_l0"].shape  # doctest: +SKIP
        (1200, 300)
    """
    path = Path(path)
    if path.suffix == ".safetensors":
        with optional_import("safetensors"):
            from safetensors.numpy import load_file
        return {name: _float32(array) for name, array in load_file(path).items()}
    with open(path, "rb") as file:
        is_zip = file.read(4) == b"PK\x03\x04"
        file.seek(0)
        content, storages = _zip(file, path) if is_zip else _legacy(file, path)
    return {name: _view(tensor, storages[tensor.storage.key]) for name, tensor in _tensors(content)}


class _Storage(NamedTuple):
    """A storage, whose numbers are read later; tensors are views of storages."""

    dtype: str | type
    key: str
    size: int

    def read(self, file: IO[bytes]) -> np.ndarray:
        dtype = np.dtype(self.dtype)
        return np.frombuffer(file.read(self.size * dtype.itemsize), dtype, self.size)


class _Tensor(NamedTuple):
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _rebuild_tensor(
    storage: _Storage, offset: int, shape: Sequence[int], strides: Sequence[int], *_: object
) -> _Tensor:
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


_ADMITTED: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor"): _rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
    ("torch._utils", "_rebuild_parameter"): lambda data, *_: data,
    **{("torch", name): dtype for name, dtype in STORAGES.items()},
}


# The pure Python unpickler, of which the meaning of an operation can be changed.
_PythonUnpickler: Any = getattr(pickle, "_Unpickler")  # noqa: B009


class _Unpickler(_PythonUnpickler):
    """An unpickler that allows only tensors, ordered dictionaries and plain values."""

    dispatch: dict[int, Any] = dict(_PythonUnpickler.dispatch)

    def load_build(self) -> None:
        self.stack.pop()  # the metadata of a state dict; objects are never modified by a pickle

    dispatch[pickle.BUILD[0]] = load_build

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ADMITTED:
            raise pickle.UnpicklingError(
                f"The file refers to {module}.{name}, which is not allowed; save only the state "
                "dict (torch.save(module.state_dict(), path)), or use safetensors."
            )
        return _ADMITTED[module, name]

    def persistent_load(self, pid: Sequence[Any]) -> _Storage:
        _, dtype, key, _, size, *_ = pid
        return _Storage(dtype, str(key), int(size))


def _zip(file: IO[bytes], path: Path) -> tuple[Any, dict[str, np.ndarray]]:
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(names) != 1:
            raise ValueError(f"{path} is not a PyTorch state dict: it has no data.pkl.")
        root = names[0].removesuffix("data.pkl")
        with archive.open(names[0]) as part:
            content = _Unpickler(part).load()
        storages = {}
        for storage in {tensor.storage for _, tensor in _tensors(content)}:
            with archive.open(f"{root}data/{storage.key}") as part:
                storages[storage.key] = storage.read(part)
    return content, storages


def _legacy(file: IO[bytes], path: Path) -> tuple[Any, dict[str, np.ndarray]]:
    for _ in range(3):  # a magic number, the protocol and the sizes of C's types
        _Unpickler(file).load()
    content = _Unpickler(file).load()
    keys = _Unpickler(file).load()
    known = {tensor.storage.key: tensor.storage for _, tensor in _tensors(content)}
    storages = {}
    for key in keys:
        file.read(8)  # the size, which the storage has too
        storages[key] = known[key].read(file)
    return content, storages


def _tensors(content: Mapping[str, Any]) -> Iterator[tuple[str, _Tensor]]:
    """Yields all tensors of nested dictionaries with their joined names."""
    for name, value in content.items():
        if isinstance(value, _Tensor):
            yield str(name), value
        elif isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", tensor) for inner, tensor in _tensors(value))


def _view(tensor: _Tensor, numbers: np.ndarray) -> np.ndarray:
    """Returns a copy of a tensor's view of its storage, after checking the bounds."""
    _, offset, shape, strides = tensor
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    count: int = np.prod(shape, dtype=object)  # of any size
    inside = min((*shape, *strides, offset)) >= 0 and count <= numbers.size
    if not inside or (count and last >= numbers.size):
        raise ValueError(f"A tensor reaches beyond its storage. Received: {tensor}")
    bytes_apart = [stride * numbers.itemsize for stride in strides]
    return _float32(np.lib.stride_tricks.as_strided(numbers[offset:], shape, bytes_apart).copy())


def _float32(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype == ml_dtypes.bfloat16 else array
