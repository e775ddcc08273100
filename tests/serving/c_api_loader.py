"""Runs a SavedModel through TensorFlow's C API alone: the way that TensorFlow Serving loads it.

    python c_api_loader.py FOLDER [SIGNATURE] < requests.jsonl > answers.jsonl

Neither Python's TensorFlow nor tfmrc is imported. The shared libraries are those of the pip
packages tensorflow and tensorflow-text. Each line of the input is a JSON object from a signature
input's name to nested lists; each line of the output is a JSON object with `outputs` or with
`error` and its `code`. Bytes that are not UTF-8 travel as lone surrogates (Python's
`surrogateescape`).
"""

import ctypes
import importlib.util
import json
import sys
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np

STRING, TSTRING_SIZE = 7, 24
DTYPES = {1: "<f4", 3: "<i4", 9: "<i8", 10: "?"}


def folder_of(package):
    return Path(importlib.util.find_spec(package).origin).parent


@cache
def library():
    for name in ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2"):
        loaded = ctypes.CDLL(str(folder_of("tensorflow") / name), mode=ctypes.RTLD_GLOBAL)
    return loaded


def call(name, *values, returns=ctypes.c_int64):
    """Calls a function of the API; pointers are ints, and every int is passed as 64 bits."""
    function = getattr(library(), name)
    function.restype = returns
    return function(*(ctypes.c_int64(v) if isinstance(v, int) else v for v in values))


@cache
def status():
    return call("TF_NewStatus")


def check():
    if code := call("TF_GetCode", status(), returns=ctypes.c_int):
        message = call("TF_Message", status(), returns=ctypes.c_char_p)
        raise RuntimeError(code, message.decode("utf-8", "replace"))


def fields(message):
    """Yields number and value of each field of a protocol buffer, of ints and bytes only."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = message[at], at + 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    while at < len(message):
        number, wire = divmod(varint(), 8)
        size = varint()
        if wire:
            size, at = message[at : at + size], at + size
        yield number, size


def signature(meta_graph, name):
    """Returns the tensors of a signature's inputs and outputs, from a serialized MetaGraphDef."""
    entries = [dict(fields(entry)) for number, entry in fields(meta_graph) if number == 5]
    [chosen] = [entry[2] for entry in entries if entry[1].decode() == name]
    sides = {1: {}, 2: {}}
    for side, item in fields(chosen):
        if side in sides:
            pair = dict(fields(item))
            sides[side][pair[1].decode()] = next(v for n, v in fields(pair[2]) if n == 1)
    return sides.values()


class SavedModel:
    """A loaded SavedModel whose signature takes strings."""

    def __init__(self, folder, name="serving_default"):
        self.graph, meta_graph = call("TF_NewGraph"), call("TF_NewBuffer")
        options, tags = call("TF_NewSessionOptions"), (ctypes.c_char_p * 1)(b"serve")
        places = (folder.encode(), tags, 1, self.graph, meta_graph, status())
        self.session = call("TF_LoadSessionFromSavedModel", options, None, *places)
        check()
        data, length = (ctypes.c_int64 * 2).from_address(meta_graph)
        self.inputs, self.outputs = signature(ctypes.string_at(data, length), name)

    def _places(self, tensors):
        """Returns an array of `TF_Output`, each an operation and the index of its output."""
        places = []
        for operation, _, index in (tensor.partition(b":") for tensor in tensors):
            places += [call("TF_GraphOperationByName", self.graph, operation), int(index or 0)]
        return (ctypes.c_int64 * len(places))(*places)

    def __call__(self, values):
        feeds = [string_tensor(values[name]) for name in self.inputs]
        fetched = (ctypes.c_int64 * len(self.outputs))()
        fed = (self._places(self.inputs.values()), (ctypes.c_int64 * len(feeds))(*feeds))
        asked = (self._places(self.outputs.values()), fetched, len(fetched))
        rest = (None, 0, None, status())
        call("TF_SessionRun", self.session, None, *fed, len(feeds), *asked, *rest)
        check()
        found = {name: value_of(tensor) for name, tensor in zip(self.outputs, fetched, strict=True)}
        for tensor in (*feeds, *fetched):
            call("TF_DeleteTensor", tensor)
        return found


def string_tensor(value):
    array = np.array(value, dtype=object)
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    size = TSTRING_SIZE * array.size
    tensor = call("TF_AllocateTensor", STRING, shape, array.ndim, size)
    for at, text in zip(count(call("TF_TensorData", tensor), TSTRING_SIZE), array.flat):
        encoded = text.encode("utf-8", "surrogateescape")
        call("TF_StringInit", at)
        call("TF_StringCopy", at, encoded, len(encoded))
    return tensor


def value_of(tensor):
    rank = call("TF_NumDims", tensor, returns=ctypes.c_int)
    shape = [call("TF_Dim", tensor, axis) for axis in range(rank)]
    start, size = call("TF_TensorData", tensor), call("TF_TensorByteSize", tensor)
    kind = call("TF_TensorType", tensor, returns=ctypes.c_int)
    if kind == STRING:
        places = range(start, start + size, TSTRING_SIZE)
        array = np.array([string_at(place) for place in places], dtype=object)
    else:
        array = np.frombuffer(ctypes.string_at(start, size), DTYPES[kind])
    return array.reshape(shape).tolist()


def string_at(place):
    data, size = call("TF_StringGetDataPointer", place), call("TF_StringGetSize", place)
    return ctypes.string_at(data, size).decode("utf-8", "surrogateescape")


def main():
    for path in sorted(folder_of("tensorflow_text").glob("python/ops/*.so")):
        call("TF_LoadLibrary", str(path).encode(), status())
    model = SavedModel(*sys.argv[1:])
    for line in sys.stdin:
        try:
            answer = {"outputs": model(json.loads(line))}
        except RuntimeError as error:
            answer = dict(zip(("code", "error"), error.args, strict=True))
        print(json.dumps(answer), flush=True)
    assert not {"tensorflow", "tfmrc", "keras"} & set(sys.modules)


if __name__ == "__main__":
    main()
