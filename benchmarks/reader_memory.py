"""Peak memory and time of reading one long text: tfmrc and transformers, eager and with SDPA.

    python -m benchmarks.reader_memory READER --peer PYTHON

READER is a reader in Hugging Face's form that reads as much at once, such as one of ModernBERT;
PYTHON has transformers and PyTorch. Each side reads the same random subwords in a process of its
own. The memory is the greatest resident size while it reads, minus the size before (Linux).
"""

import argparse
import sys
from pathlib import Path

from benchmarks.measuring import answer_of, print_head, print_row

COMMON = """
import json, sys, time
import numpy as np
from benchmarks.measuring import memory
folder, length, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ids = np.random.default_rng(0).integers(300, 600, (1, length))
def measure(read):
    read(ids[:, :64])
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
    before, start = memory(), time.perf_counter()
    read(ids)
    result = {"seconds": time.perf_counter() - start, "mib": memory("VmHWM") - before}
    print(json.dumps(result))
"""
OURS = """
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(threads)
from tfmrc.predictors import load_hugging_face
model = load_hugging_face(folder).model
spec = tf.TensorSpec([1, None], tf.int32)
@tf.function(input_signature=[spec], autograph=False)
def scores(ids):
    return model.scores({"encoder_ids": ids, "segment_ids": tf.zeros_like(ids)})
measure(lambda ids: scores(tf.constant(ids, tf.int32)).numpy())
"""
PEER = """
import torch
from transformers import AutoModelForQuestionAnswering
torch.set_num_threads(threads)
model = AutoModelForQuestionAnswering.from_pretrained(folder, attn_implementation=KIND).eval()
def read(ids):
    with torch.inference_mode():
        model(input_ids=torch.tensor(ids))
measure(read)
"""
SIDES = {
    "tfmrc": COMMON + OURS,
    "transformers, SDPA": COMMON + PEER.replace("KIND", "'sdpa'"),
    "transformers, eager": COMMON + PEER.replace("KIND", "'eager'"),
}


def main() -> None:
    """Measures all sides and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reader", type=Path)
    parser.add_argument("--peer", default=sys.executable, help="a Python with transformers")
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 2048, 8192])
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--sides", nargs="+", default=list(SIDES), choices=list(SIDES))
    arguments = parser.parse_args()
    print_head("subwords", "side", "MiB", "seconds")
    for length in arguments.lengths:
        for side in arguments.sides:
            python = sys.executable if side == "tfmrc" else arguments.peer
            words = [python, "-c", SIDES[side], arguments.reader, length, arguments.cores]
            command = ["taskset", "-c", f"0-{arguments.cores - 1}", *words]
            result = answer_of(*command, HF_HUB_OFFLINE="1")
            print_row(f"{length:,}", side, f"{result['mib']:,.0f}", f"{result['seconds']:.2f}")


if __name__ == "__main__":
    main()
