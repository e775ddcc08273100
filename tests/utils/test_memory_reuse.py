"""The settings of glibc's memory allocator, in processes of their own, since they are global."""

import json
import platform

import pytest

from tests import fresh_python

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="settings of glibc")

# How many of 40 blocks of 8 MiB glibc maps anew, after a pass over a data set; first without the
# settings of tfmrc, then with those of its data sets. A free block may serve a few of them.
PROGRAM = """
import ctypes, json, os
from tfmrc import data, preprocessing
from tfmrc.utils import memory

class Mallinfo2(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Mallinfo2
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
examples = list(data.load_corpus("train"))[:4]
batches = preprocessing.SANPreprocessor.from_examples(examples).dataset(examples, batch_size=4)

def mapped():
    for _ in batches:
        pass
    before = libc.mallinfo2().hblks
    blocks = [libc.malloc(2**23) for _ in range(40)]
    found = libc.mallinfo2().hblks - before
    for block in blocks:
        libc.free(block)
    return found

os.environ["TFMRC_KEEP_FREED_MEMORY"] = "0"
found = {"calls, off": [memory.keep_freed_memory(), memory.reuse_freed_memory()], "off": mapped()}
os.environ["TFMRC_KEEP_FREED_MEMORY"] = "1"
print(json.dumps(found | {"on": mapped()}))
"""


def result(said: str) -> dict:
    return json.loads(said.splitlines()[-1])


def test_a_data_set_leaves_the_memory_of_tensors_reusable() -> None:
    """`from_generator` sets a limit of 128 KiB, so that each larger block is mapped anew."""
    found = result(fresh_python.forked("-c", PROGRAM))
    assert found["calls, off"] == [False, False]
    assert found["off"] >= 20
    assert found["on"] == 0
