"""The settings of glibc's memory allocator, in processes of their own, since they are global."""

import json
import platform

import pytest

from tests import fresh_python

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="settings of glibc")

# The pages of 4 KiB that are new to the process when it makes a tensor, after a pass over a data
# set; first without the settings of tfmrc, then with those of its data sets.
PROGRAM = """
import json, os, resource
import tensorflow as tf
from tfmrc import data, memory, preprocessing

examples = list(data.load_corpus("train"))[:4]
batches = preprocessing.SANPreprocessor.from_examples(examples).dataset(examples, batch_size=4)

def pages(mib):
    for _ in batches:
        pass
    make = lambda: float(tf.reduce_sum(tf.fill([mib, 256, 1024], 2.0) * 3.0))
    for _ in range(20):
        make()
    start = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        make()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - start) // 20

os.environ["TFMRC_KEEP_FREED_MEMORY"] = "0"
found = {"calls, off": [memory.keep_freed_memory(), memory.reuse_freed_memory()], "off": pages(8)}
os.environ["TFMRC_KEEP_FREED_MEMORY"] = "1"
print(json.dumps(found | {"on": pages(8)}))
"""
COMMAND = """
import json, sys
from tfmrc import cli, memory

found = {"before": "tensorflow" in sys.modules}
keep = memory.keep_freed_memory
cli.keep_freed_memory = lambda: found.update(kept=keep(), still="tensorflow" in sys.modules)
cli._import_tensorflow()
print(json.dumps(found | {"after": "tensorflow" in sys.modules, "reused": memory._kept}))
"""


def result(program: str) -> dict:
    return json.loads(fresh_python.run("-c", program).splitlines()[-1])


def test_a_data_set_leaves_the_memory_of_tensors_reusable() -> None:
    """`from_generator` sets a limit of 128 KiB, so that each tensor is made of new pages."""
    found = result(PROGRAM)
    assert found["calls, off"] == [False, False]
    assert found["off"] > 2000
    assert found["on"] < 200


def test_a_command_keeps_freed_memory_from_before_tensorflow_is_imported() -> None:
    found = result(COMMAND)
    assert found == {"before": False, "kept": True, "still": False, "after": True, "reused": True}
