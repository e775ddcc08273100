"""Runs a SavedModel through TensorFlow's C API alone: the way that TensorFlow Serving loads it.

    python c_api_loader.py FOLDER [SIGNATURE] < requests.jsonl > answers.jsonl

Standard library only; neither Python's TensorFlow nor tfmrc is imported. The shared libraries are
those of the pip packages tensorflow and tensorflow-text. Each line of the input is a JSON object
from a signature input's name to nested lists; each line of the output is a JSON object with
`outputs` or with `error` and its `code`. Bytes that are not UTF-8 travel as lone surrogates
(Python's `surrogateescape`).
"""

import ctypes
import importlib.util
import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FLOAT, INT32, STRING, INT64, BOOL = 1, 3, 7, 9, 10
PACKING = {FLOAT: "f", INT32: "i", INT64: "q", BOOL: "?"}
TSTRING_SIZE = 24


class Error(RuntimeError):
    """A status other than OK."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


class Output(ctypes.Structure):
    """`TF_Output`: one output of one operation of a graph."""

    _fields_ = [("operation", ctypes.c_void_p), ("index", ctypes.c_int)]


class Buffer(ctypes.Structure):
    """`TF_Buffer`."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("deallocator", ctypes.c_void_p),
    ]


# Result type and argument types of the functions used. P: pointer, S: char*, I: int, Z: size_t,
# L: int64.
FUNCTIONS = {
    "TF_NewStatus": "P",
    "TF_GetCode": "IP",
    "TF_Message": "SP",
    "TF_LoadLibrary": "PSP",
    "TF_Version": "S",
    "TF_NewGraph": "P",
    "TF_NewSessionOptions": "P",
    "TF_NewBuffer": "P",
    "TF_LoadSessionFromSavedModel": "PPPSPIPPP",
    "TF_GraphOperationByName": "PPS",
    "TF_AllocateTensor": "PIPIZ",
    "TF_DeleteTensor": "VP",
    "TF_TensorData": "PP",
    "TF_TensorType": "IP",
    "TF_NumDims": "IP",
    "TF_Dim": "LPI",
    "TF_TensorByteSize": "ZP",
    "TF_StringInit": "VP",
    "TF_StringCopy": "VPSZ",
    "TF_StringGetDataPointer": "PP",
    "TF_StringGetSize": "ZP",
    "TF_SessionRun": "VPPPPIPPIPIPP",
}
TYPES = {
    "V": None,
    "P": ctypes.c_void_p,
    "S": ctypes.c_char_p,
    "I": ctypes.c_int,
    "Z": ctypes.c_size_t,
    "L": ctypes.c_int64,
}


def package_folder(name: str) -> Path:
    """Folder of an installed package, found without importing it."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise SystemExit(f"The package {name} is not installed: its shared libraries are needed.")
    return Path(found.origin).parent


def load_tensorflow() -> ctypes.CDLL:
    """The C API with its types declared, tensorflow-text's operations loaded into it."""
    folder = package_folder("tensorflow")
    ctypes.CDLL(str(folder / "libtensorflow_framework.so.2"), mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(folder / "libtensorflow_cc.so.2"), mode=ctypes.RTLD_GLOBAL)
    for name, types in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = TYPES[types[0]]
        function.argtypes = [TYPES[letter] for letter in types[1:]]
    status = library.TF_NewStatus()
    for path in sorted(package_folder("tensorflow_text").glob("python/ops/*.so")):
        library.TF_LoadLibrary(str(path).encode(), status)
        check(library, status)
    return library


def check(library: ctypes.CDLL, status: int) -> None:
    """Raises `Error` unless the status is OK."""
    code = library.TF_GetCode(status)
    if code:
        raise Error(code, library.TF_Message(status).decode("utf-8", "replace"))


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Numbers and values of a protocol buffer's fields: ints or, length-delimited, bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        number, wire = key >> 3, key & 7
        if wire == 0:
            yield number, varint()
            continue
        size = varint() if wire == 2 else 8 if wire == 1 else 4
        yield number, message[at : at + size]
        at += size


def signature(meta_graph: bytes, name: str) -> tuple[dict[str, str], dict[str, str]]:
    """Tensor names of a signature's inputs and outputs, out of a serialised MetaGraphDef."""
    for number, entry in fields(meta_graph):
        if number != 5:
            continue
        pair = dict(fields(entry))
        if pair[1].decode() != name:
            continue
        sides: tuple[dict[str, str], dict[str, str]] = ({}, {})
        for side, item in fields(pair[2]):
            if side in (1, 2):
                item = dict(fields(item))
                sides[side - 1][item[1].decode()] = dict(fields(item[2]))[1].decode()
        return sides
    raise Error(5, f"The SavedModel has no signature {name!r}.")


def shape_of(value: Any) -> list[int]:
    """Shape of nested lists."""
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        value = value[0] if value else None
    return shape


def flatten(value: Any) -> list[Any]:
    """The leaves of nested lists."""
    if not isinstance(value, list):
        return [value]
    return [leaf for item in value for leaf in flatten(item)]


def nest(leaves: list[Any], shape: list[int]) -> Any:
    """Nested lists of a shape."""
    if not shape:
        return leaves[0]
    size = len(leaves) // shape[0] if shape[0] else 0
    return [nest(leaves[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


class SavedModel:
    """A loaded SavedModel whose signature takes strings."""

    def __init__(self, folder: str, signature_name: str = "serving_default"):
        self.library = library = load_tensorflow()
        self.status = library.TF_NewStatus()
        self.graph = library.TF_NewGraph()
        meta_graph = library.TF_NewBuffer()
        tags = (ctypes.c_char_p * 1)(b"serve")
        self.session = library.TF_LoadSessionFromSavedModel(
            library.TF_NewSessionOptions(),
            None,
            str(folder).encode(),
            ctypes.cast(tags, ctypes.c_void_p),
            1,
            self.graph,
            meta_graph,
            self.status,
        )
        check(library, self.status)
        buffer = Buffer.from_address(meta_graph)
        self.inputs, self.outputs = signature(
            ctypes.string_at(buffer.data, buffer.length), signature_name
        )

    def _places(self, tensor_names: list[str]) -> ctypes.Array:
        places = (Output * len(tensor_names))()
        for place, tensor_name in zip(places, tensor_names, strict=True):
            operation, _, index = tensor_name.partition(":")
            place.operation = self.library.TF_GraphOperationByName(self.graph, operation.encode())
            place.index = int(index or 0)
        return places

    def _string_tensor(self, value: Any) -> int:
        library, shape, leaves = self.library, shape_of(value), flatten(value)
        sizes = (ctypes.c_int64 * len(shape))(*shape)
        tensor = library.TF_AllocateTensor(
            STRING, ctypes.cast(sizes, ctypes.c_void_p), len(shape), TSTRING_SIZE * len(leaves)
        )
        start = library.TF_TensorData(tensor)
        for i, leaf in enumerate(leaves):
            encoded = leaf.encode("utf-8", "surrogateescape")
            library.TF_StringInit(start + i * TSTRING_SIZE)
            library.TF_StringCopy(start + i * TSTRING_SIZE, encoded, len(encoded))
        return tensor

    def _value(self, tensor: int) -> Any:
        library = self.library
        shape = [library.TF_Dim(tensor, i) for i in range(library.TF_NumDims(tensor))]
        start, kind = library.TF_TensorData(tensor), library.TF_TensorType(tensor)
        size = library.TF_TensorByteSize(tensor)
        leaves: list[Any]
        if kind == STRING:
            leaves = []  # two outputs may share their strings, so none is freed here
            for at in range(start, start + size, TSTRING_SIZE) if size else ():
                data = library.TF_StringGetDataPointer(at)
                raw = ctypes.string_at(data, library.TF_StringGetSize(at))
                leaves.append(raw.decode("utf-8", "surrogateescape"))
        elif kind in PACKING:
            letter = PACKING[kind]
            raw = ctypes.string_at(start, size) if size else b""
            leaves = list(struct.unpack(f"<{size // struct.calcsize(letter)}{letter}", raw))
        else:
            raise Error(3, f"An output of TensorFlow's data type {kind} is not supported here.")
        return nest(leaves, shape)

    def __call__(self, values: dict[str, Any]) -> dict[str, Any]:
        """Outputs of the signature by name."""
        if set(values) != set(self.inputs):
            raise Error(3, f"The inputs are {sorted(self.inputs)}. Received: {sorted(values)}")
        names = sorted(self.inputs)
        feeds = (ctypes.c_void_p * len(names))(*[self._string_tensor(values[n]) for n in names])
        keys = sorted(self.outputs)
        fetched = (ctypes.c_void_p * len(keys))()
        self.library.TF_SessionRun(
            self.session,
            None,
            self._places([self.inputs[n] for n in names]),
            feeds,
            len(names),
            self._places([self.outputs[k] for k in keys]),
            fetched,
            len(keys),
            None,
            0,
            None,
            self.status,
        )
        for tensor in feeds:
            self.library.TF_DeleteTensor(tensor)
        check(self.library, self.status)
        found = {key: self._value(tensor) for key, tensor in zip(keys, fetched, strict=True)}
        for tensor in fetched:
            self.library.TF_DeleteTensor(tensor)
        return found


def main() -> None:
    """Answers requests line by line."""
    model = SavedModel(*sys.argv[1:])
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = {"outputs": model(json.loads(line))}
        except Error as error:
            answer = {"error": str(error), "code": error.code}
        print(json.dumps(answer), flush=True)
    imported = {"tensorflow", "tfmrc", "keras"} & set(sys.modules)
    if imported:
        raise SystemExit(f"Imported although only the C API may be used: {sorted(imported)}")


if __name__ == "__main__":
    main()
