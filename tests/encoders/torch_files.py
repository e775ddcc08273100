"""Files in PyTorch's forms, written without PyTorch."""

import collections
import io
import pickle
import sys
import types
import zipfile
from contextlib import contextmanager

import numpy as np

KINDS = {
    "<f4": "FloatStorage", "<f8": "DoubleStorage", "<f2": "HalfStorage", "<i8": "LongStorage",
    "|b1": "BoolStorage", "bf16": "BFloat16Storage",
}  # fmt: skip


class Tensor:
    """A view of a storage; `kind` overrides the storage's type."""

    def __init__(self, numbers, kind=None, offset=0, shape=None, strides=None):
        self.numbers = np.asarray(numbers, order="C")
        self.kind = kind or KINDS[self.numbers.dtype.str]
        self.offset = offset
        self.shape = tuple(self.numbers.shape if shape is None else shape)
        if strides is None:
            strides = np.cumprod([1, *self.shape[:0:-1]])[::-1].tolist() if self.shape else ()
        self.strides = tuple(strides)


class Storage:
    def __init__(self, tensor):
        self.tensor = tensor


@contextmanager
def torch_modules():
    """Stand-ins for torch, so that pickles can name what PyTorch's name."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")

    def _rebuild_tensor_v2(*arguments):
        raise AssertionError("never called")

    _rebuild_tensor_v2.__module__ = "torch._utils"
    _rebuild_tensor_v2.__qualname__ = "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = _rebuild_tensor_v2
    for name in KINDS.values():
        setattr(torch, name, type(name, (), {"__module__": "torch"}))
    before = {name: sys.modules.get(name) for name in ("torch", "torch._utils")}
    sys.modules.update({"torch": torch, "torch._utils": utils})
    try:
        yield torch, utils
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def pickled(content, legacy=False):
    """The pickle of nested dictionaries of `Tensor`, and the storages by key."""
    storages = {}
    with torch_modules() as (torch, utils):

        class Pickler(pickle.Pickler):
            def persistent_id(self, thing):
                if not isinstance(thing, Storage):
                    return None
                key = str(len(storages))
                storages[key] = thing.tensor.numbers
                kind = getattr(torch, thing.tensor.kind)
                pid = ("storage", kind, key, "cpu", thing.tensor.numbers.size)
                return (*pid, None) if legacy else pid

            def reducer_override(self, thing):
                if not isinstance(thing, Tensor):
                    return NotImplemented
                view = (thing.offset, thing.shape, thing.strides)
                hooks = (False, collections.OrderedDict())
                return utils._rebuild_tensor_v2, (Storage(thing), *view, *hooks)

        buffer = io.BytesIO()
        Pickler(buffer, protocol=2).dump(content)
    return buffer.getvalue(), storages


def write(path, content, legacy=False, data=None):
    """Writes a file of `torch.save`; `data` overrides the pickle."""
    result, storages = pickled(content, legacy)
    data = result if data is None else data
    if legacy:
        parts = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
        with open(path, "wb") as file:
            for part in parts:
                pickle.dump(part, file, protocol=2)
            file.write(data)
            pickle.dump(list(storages), file, protocol=2)
            for numbers in storages.values():
                file.write(numbers.size.to_bytes(8, "little") + numbers.tobytes())
        return path
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("weights/data.pkl", data)
        archive.writestr("weights/byteorder", "little")
        for key, numbers in storages.items():
            archive.writestr(f"weights/data/{key}", numbers.tobytes())
        archive.writestr("weights/version", "3\n")
    return path


def cove_weights(prefix="", seed=0, dim=4, units=3):
    """The weights of CoVe, by PyTorch's names."""
    random = np.random.default_rng(seed)
    result = collections.OrderedDict()
    for layer in (0, 1):
        for direction in ("", "_reverse"):
            shapes = {
                "weight_ih": (4 * units, 2 * units if layer else dim),
                "weight_hh": (4 * units, units),
                "bias_ih": (4 * units,),
                "bias_hh": (4 * units,),
            }
            for name, shape in shapes.items():
                value = random.normal(0, 0.7, shape).astype("float32")
                result[f"{prefix}{name}_l{layer}{direction}"] = value
    return result


def tensors(values):
    return collections.OrderedDict((name, Tensor(value)) for name, value in values.items())
