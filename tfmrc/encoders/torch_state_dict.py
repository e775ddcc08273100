"""Safe reader of PyTorch weights, which runs no code from pickles."""

import math
import os
import pickle
import struct
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["read_state_dict"]

ZIP = b"PK\x03\x04"
LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
LEGACY_PROTOCOL = 1001
MAX_PICKLE = 1 << 26  # bytes of a pickle, without the tensors' data
MAX_ENTRIES = 100_000
BFLOAT16 = "bfloat16"

STORAGES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "BFloat16Storage": BFLOAT16,
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
        ValueError: The file is damaged, has a different format, or would run code.
        FileNotFoundError: The file does not exist.
        ImportError: The file is a `.safetensors` file, and safetensors is not installed.

    Example:
        >>> from tfmrc.encoders import read_state_dict
        >>> read_state_dict("wmtlstm-b142a7f2.pth")["weight_ih_l0"].shape  # doctest: +SKIP
        (1200, 300)
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"The file of weights does not exist. Received: {path}")
    if path.suffix == ".safetensors":
        return _safetensors(path)
    try:
        with open(path, "rb") as file:
            is_zip = file.read(4) == ZIP
            file.seek(0)
            content, storages = _zip(path) if is_zip else _legacy(file)
        if not isinstance(content, Mapping):
            raise ValueError(f"expected a state dict. Received: {type(content).__name__}")
        return {name: _view(x, storages(x.storage)) for name, x in _tensors(content)}
    except _FAILURES as error:
        own = isinstance(error, ValueError | pickle.UnpicklingError)
        reason = str(error) if own else f"{type(error).__name__}: {error}"
        raise ValueError(
            f"{path} is not a PyTorch state dict that can be read safely: {reason}"
        ) from error


_FAILURES = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError, OverflowError,
    MemoryError, RuntimeError, ImportError, OSError, struct.error, zlib.error,
    pickle.UnpicklingError, zipfile.BadZipFile,
)  # fmt: skip


class _Storage(NamedTuple):
    """A storage, whose data is read later; tensors are views of storages."""

    kind: str
    key: str
    size: int


class _Tensor(NamedTuple):
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _rebuild_tensor(storage, offset, shape, strides, *_):
    if not isinstance(storage, _Storage):
        raise ValueError(f"a tensor without a storage: {storage!r}")
    return _Tensor(storage, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


def _rebuild_parameter(data, *_):
    return data


class _Kind:
    """Placeholder of a storage class such as `torch.FloatStorage`."""

    def __init__(self, name: str):
        self.name = name


_ADMITTED: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor"): _rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    **{("torch", name): _Kind(name) for name in STORAGES},
}


# The pure Python unpickler: the C one allocates memory as requested by the pickle.
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
                f"it refers to {module}.{name}, which is not allowed; save only the state dict "
                "(torch.save(module.state_dict(), path)), or use safetensors"
            )
        return _ADMITTED[module, name]

    def persistent_load(self, pid: Any) -> _Storage:
        tag, kind, key, _, size, *view = pid
        if tag != "storage" or not isinstance(kind, _Kind) or any(view):
            raise pickle.UnpicklingError(f"an unknown reference {pid!r}")
        return _Storage(kind.name, str(key), int(size))


def _zip(path: Path) -> tuple[Any, Any]:
    with zipfile.ZipFile(path) as archive:
        pickles = [info for info in archive.infolist() if info.filename.endswith("/data.pkl")]
        if len(pickles) != 1 or pickles[0].file_size > MAX_PICKLE:
            raise ValueError("expected one data.pkl in the archive")
        root = pickles[0].filename.removesuffix("data.pkl")
        names = set(archive.namelist())
        if f"{root}byteorder" in names and archive.read(f"{root}byteorder") != b"little":
            raise ValueError("the numbers are not little-endian")
        with archive.open(pickles[0]) as file:
            content = _Unpickler(file).load()
    read: dict[_Storage, np.ndarray] = {}

    def storage(wanted: _Storage) -> np.ndarray:
        if wanted not in read:
            with zipfile.ZipFile(path) as archive:
                info = archive.getinfo(f"{root}data/{wanted.key}")
                if info.file_size != wanted.size * _item_size(wanted.kind):
                    raise ValueError(f"storage {wanted.key} has {info.file_size} bytes")
                read[wanted] = _numbers(wanted, archive.read(info))
        return read[wanted]

    return content, storage


def _legacy(file: Any) -> tuple[Any, Any]:
    if _Unpickler(file).load() != LEGACY_MAGIC:
        raise ValueError("the file has neither of PyTorch's formats")
    if _Unpickler(file).load() != LEGACY_PROTOCOL or not _Unpickler(file).load()["little_endian"]:
        raise ValueError("the protocol is not 1001, or the file is not little-endian")
    content = _Unpickler(file).load()
    keys = _Unpickler(file).load()
    known: dict[str, _Storage] = {}
    for _, tensor in _tensors(content if isinstance(content, Mapping) else {}):
        if known.setdefault(tensor.storage.key, tensor.storage) != tensor.storage:
            raise ValueError(f"storage {tensor.storage.key} is described in two ways")
    read: dict[str, np.ndarray] = {}
    for key in keys:
        size = int.from_bytes(file.read(8), "little")
        if key not in known or known[key].size != size:
            raise ValueError(f"storage {key} has {size} numbers")
        wanted = known[key]
        read[key] = _numbers(wanted, file.read(size * _item_size(wanted.kind)))
    return content, lambda wanted: read[wanted.key]


def _item_size(kind: str) -> int:
    return 2 if STORAGES[kind] == BFLOAT16 else np.dtype(STORAGES[kind]).itemsize


def _numbers(storage: _Storage, content: bytes) -> np.ndarray:
    if len(content) != storage.size * _item_size(storage.kind):
        raise ValueError(f"storage {storage.key} is truncated")
    if STORAGES[storage.kind] == BFLOAT16:
        return (np.frombuffer(content, "<u2").astype("<u4") << 16).view("<f4")
    return np.frombuffer(content, STORAGES[storage.kind])


def _tensors(content: Any) -> Iterator[tuple[str, _Tensor]]:
    """Yields all tensors of nested dictionaries with their joined names."""
    waiting, visited = [("", content)], 0
    while waiting:
        prefix, mapping = waiting.pop()
        for name, value in mapping.items():
            visited += 1
            if visited > MAX_ENTRIES:
                raise ValueError(f"it has more than {MAX_ENTRIES} entries")
            if isinstance(value, _Tensor):
                yield f"{prefix}{name}", value
            elif isinstance(value, Mapping) and value:
                waiting.append((f"{prefix}{name}.", value))


def _view(tensor: _Tensor, numbers: np.ndarray) -> np.ndarray:
    """Returns a copy of a tensor's view of its storage, after checking the bounds."""
    shape, strides = tensor.shape, tensor.strides
    count = math.prod(shape)
    last = tensor.offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if min((*shape, *strides, tensor.offset), default=0) < 0 or count > numbers.size:
        raise ValueError(f"a tensor of shape {shape} is larger than its storage")
    if count and last >= numbers.size:
        raise ValueError(f"a tensor of shape {shape} reaches beyond its storage")
    step = numbers.itemsize
    view = np.lib.stride_tricks.as_strided(
        numbers[tensor.offset :] if count else numbers[:0], shape, [s * step for s in strides]
    )
    return np.array(view)


def _safetensors(path: Path) -> dict[str, np.ndarray]:
    import ml_dtypes  # with Keras; gives NumPy the type of bfloat16

    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError as error:
        raise ImportError(
            f"{path} needs the package safetensors: pip install safetensors"
        ) from error
    try:
        arrays = load_file(path)
    except (SafetensorError, KeyError, TypeError, OSError) as error:
        raise ValueError(f"{path} is not a safetensors file, or is damaged: {error}") from error
    return {
        name: array.astype(np.float32) if array.dtype == ml_dtypes.bfloat16 else array
        for name, array in arrays.items()
    }
