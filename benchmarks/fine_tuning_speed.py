"""Reading and fine-tuning steps of an extractive reader: tfmrc, transformers on PyTorch.

    python -m benchmarks.fine_tuning_speed READER --peer PYTHON

READER is a folder in Hugging Face's form; PYTHON has transformers 5.2 or older and PyTorch.
"reading" is from ids to scores, without dropout; a "fine-tuning step" is scores with dropout, loss,
gradients of all weights, their clipping and AdamW. All sides get the same random ids, without
padding or, with `--shortest`, of lengths from there to the greatest in equal steps, on one and on
two cores (`taskset`). Each side is a process of its own; they take turns, `--rounds` times.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.measuring import in_turns, print_head, print_row, shown

BATCHES, LENGTH = (1, 16), 160
COMMON = """
import json, os, sys, time
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
import numpy as np
settings = json.loads(sys.argv[1])
clock = getattr(time, settings["clock"])
draw = np.random.default_rng(0)
def ids_and_mask(batch):
    size = (batch, settings["length"])
    lengths = np.linspace(settings["length"], settings["shortest"], batch).astype(int)
    mask = np.arange(settings["length"]) < lengths[:, None]
    return np.where(mask, draw.integers(1000, 20000, size), 0), mask
def serve(works):
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        name, batch = json.loads(line)
        times = []
        for _ in range(settings["repeats"] + 2):
            start = clock()
            works[name](batch)
            times.append(clock() - start)
        print(sorted(times[2:])[settings["repeats"] // 2], file=answers, flush=True)
"""
TFMRC = """
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(settings["cores"])
tf.config.threading.set_inter_op_parallelism_threads(settings["cores"])
from tfmrc import training
from tfmrc.predictors import load_hugging_face
model = load_hugging_face(settings["reader"], dtype=settings["dtype"]).model
model.compile(**training.extractive_reader(model=model, steps=100000))
batches, functions = {}, {}
for batch in settings["batches"]:
    ids, mask = ids_and_mask(batch)
    inputs = {
        "encoder_ids": ids.astype("int32"),
        "segment_ids": np.zeros(ids.shape, "int32"),
        "answer_mask": mask,
    }
    targets = {"begin": np.full([batch], 7, "int32"), "end": np.full([batch], 7, "int32")}
    batches[batch] = tf.nest.map_structure(tf.constant, (inputs, targets))
scores = tf.function(model.scores, autograph=False)
serve({
    "reading": lambda batch: scores(batches[batch][0]).numpy(),
    "fine-tuning step": lambda batch: model.train_on_batch(*batches[batch]),
})
"""
TRANSFORMERS = """
import torch
torch.set_num_threads(settings["cores"])
from transformers import AutoModelForQuestionAnswering
model = AutoModelForQuestionAnswering.from_pretrained(settings["reader"])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-7, weight_decay=0.01)
batches = {}
for batch in settings["batches"]:
    ids, mask = map(torch.tensor, ids_and_mask(batch))
    batches[batch] = {
        "input_ids": ids,
        "token_type_ids": torch.zeros_like(ids),
        "attention_mask": mask.long(),
    }
def read(batch):
    model.eval()
    with torch.inference_mode():
        result = model(**batches[batch])
        return result.start_logits.numpy(), result.end_logits.numpy()
def step(batch):
    model.train()
    positions = torch.full([batch], 7)
    loss = model(**batches[batch], start_positions=positions, end_positions=positions).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
serve({"reading": read, "fine-tuning step": step})
"""
SIDES = {"tfmrc": COMMON + TFMRC, "transformers": COMMON + TRANSFORMERS}
WORKS = ("reading", "fine-tuning step")


def start(
    side: str, arguments: argparse.Namespace, cpus: str, settings: dict[str, object]
) -> subprocess.Popen[str]:
    """Starts the process of a side and waits until it is ready."""
    quiet = {"HF_HUB_OFFLINE": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    python = arguments.peer if side == "transformers" else sys.executable
    process = subprocess.Popen(
        ["taskset", "-c", cpus, python, "-c", SIDES[side], json.dumps(settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **quiet},
    )
    ask(process, None)
    return process


def ask(process: subprocess.Popen[str], question: object) -> str:
    """Sends a question, if there is one, and returns the next line of the answers."""
    assert process.stdin is not None and process.stdout is not None
    if question is not None:
        print(json.dumps(question), file=process.stdin, flush=True)
    line = process.stdout.readline()
    if not line:
        sys.exit(f"A side failed with exit code {process.wait()}.")
    return line


def main() -> None:
    """Measures all sides and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reader", type=Path)
    parser.add_argument("--peer", default=sys.executable, help="a Python with transformers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5, help="calls per round")
    parser.add_argument("--cpus", nargs="+", default=["0", "0-1"], help="as `taskset` takes them")
    parser.add_argument("--shortest", type=int, default=LENGTH, help="the shortest text of a batch")
    parser.add_argument("--dtype", help="policy of tfmrc, such as mixed_bfloat16")
    parser.add_argument(
        "--cpu-time", action="store_true", help="CPU seconds, for a core that others use as well"
    )
    arguments = parser.parse_args()
    for cpus in arguments.cpus:
        first, _, last = cpus.partition("-")
        settings: dict[str, object] = {
            "reader": str(arguments.reader.resolve()),
            "cores": int(last or first) - int(first) + 1,
            "repeats": arguments.repeats,
            "batches": BATCHES,
            "length": LENGTH,
            "shortest": arguments.shortest,
            "dtype": arguments.dtype,
            "clock": "process_time" if arguments.cpu_time else "perf_counter",
        }
        processes = {side: start(side, arguments, cpus, settings) for side in SIDES}
        lengths = f"{arguments.shortest} to {LENGTH} subwords"
        print(f"{settings['cores']} cores, {lengths}; milliseconds, medians (ranges)")
        print_head("work", "batch", *SIDES, "ratio")
        for work in WORKS:
            for batch in BATCHES:
                works = {s: partial(ask, each, [work, batch]) for s, each in processes.items()}
                answers = in_turns(works, arguments.rounds).values()
                times = [[1000 * float(text) for text in texts] for texts in answers]
                ours, theirs = map(statistics.median, times)
                print_row(work, batch, *map(shown, times), f"{ours / theirs:.2f}")
        for process in processes.values():
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


if __name__ == "__main__":
    main()
