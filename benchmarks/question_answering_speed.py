"""Reading time per question: `tfmrc.pipeline`, transformers' pipeline, the same on ONNX Runtime.

    python -m benchmarks.question_answering_speed READER SQUAD.json --peer PYTHON

READER is a folder in Hugging Face's form of BERT's kind; PYTHON has transformers 5.2 or older,
PyTorch, onnx and onnxruntime. All sides read the same questions in contexts of 150, 400 and 2,000
words (paragraphs of SQuAD, joined), one question at a time and 16 at once, on one and on two cores
(`taskset`). Each side runs in a process of its own; the sides take turns, `--rounds` times. ONNX
Runtime runs the exported model within transformers' pipeline, in float32 and with dynamic int8
weights; tfmrc in float32 and with all weights and products in bfloat16, and on OpenVINO in float32
and int8, which needs NNCF here or in the Python of TFMRC_NNCF_PYTHON. In under ten minutes:
`--rounds 1 --repeats 3 --cores 2`.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring import answer_of, print_head, print_row
from tfmrc.data import Example, read_squad

WORDS, BATCHES = (150, 400, 2000), (1, 16)
COMMON = """
import json, sys, time
settings = json.load(open(sys.argv[1], encoding="utf-8"))
clock = getattr(time, settings["clock"])
def measure(answerer):
    results = {}
    for words, batch, examples in settings["cells"]:
        arguments = {name: [each[name] for each in examples[:batch]] for name in examples[0]}
        answerer(**arguments, batch_size=batch)
        times = []
        for _ in range(settings["repeats"]):
            start = clock()
            answerer(**arguments, batch_size=batch)
            times.append((clock() - start) / len(examples[:batch]))
        results[f"{words} words, batch {batch}"] = sorted(times)[len(times) // 2]
    print(json.dumps(results))
"""
OURS = """
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(settings["cores"])
tf.config.threading.set_inter_op_parallelism_threads(settings["cores"])
import tfmrc
from tfmrc.predictors import load_hugging_face
reader = load_hugging_face(settings["reader"], dtype=DTYPE)
RUNTIME
measure(tfmrc.pipeline("question-answering", reader))
"""
OPENVINO = 'reader.runtime = "openvino"'
INT8 = """
from pathlib import Path
from tfmrc.predictors.openvino import FOLDER, NETWORK, Network, state_of
export = Path(settings["openvino"])
if not export.exists():
    reader.export(export, openvino=True, int8=settings["int8"])
reader.runtime, reader._converted = "openvino", state_of(reader.model)().numpy().tobytes()
reader._network = Network(export / FOLDER / NETWORK)
"""
TRANSFORMERS = """
import torch
torch.set_num_threads(settings["cores"])
from transformers import pipeline
reader = settings["reader"]
answerer = pipeline("question-answering", model=reader, tokenizer=reader, device=-1)
"""
ONNX = """
import os
import onnxruntime
from transformers.modeling_outputs import QuestionAnsweringModelOutput
path = settings["onnx"]
names = ["input_ids", "attention_mask", "token_type_ids"]
if not os.path.exists(path):
    class Scores(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model
        def forward(self, *inputs):
            result = self.model(**dict(zip(names, inputs)))
            return result.start_logits, result.end_logits
    axes = {name: {0: "batch", 1: "length"} for name in [*names, "start", "end"]}
    inputs = tuple(torch.ones((2, 16), dtype=torch.long) for _ in names)
    torch.onnx.export(Scores(answerer.model), inputs, path, input_names=names,
        output_names=["start", "end"], dynamic_axes=axes, dynamo=False)
    from onnxruntime.quantization import quantize_dynamic
    quantize_dynamic(path, path + ".int8")
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = settings["cores"]
session = onnxruntime.InferenceSession(path + SUFFIX, options, ["CPUExecutionProvider"])
def forward(**inputs):
    start, end = session.run(None, {name: inputs[name].numpy() for name in names})
    return QuestionAnsweringModelOutput(start_logits=torch.tensor(start),
        end_logits=torch.tensor(end))
answerer.model.forward = forward
"""
PIPELINE = "measure(answerer)"
SIDES = {
    "tfmrc": COMMON + OURS.replace("DTYPE", "None").replace("RUNTIME", ""),
    "tfmrc bfloat16": COMMON + OURS.replace("DTYPE", "'bfloat16'").replace("RUNTIME", ""),
    "tfmrc OpenVINO": COMMON + OURS.replace("DTYPE", "None").replace("RUNTIME", OPENVINO),
    "tfmrc OpenVINO int8": COMMON + OURS.replace("DTYPE", "None").replace("RUNTIME", INT8),
    "transformers": COMMON + TRANSFORMERS + PIPELINE,
    "ONNX Runtime": COMMON + TRANSFORMERS + ONNX.replace("SUFFIX", "''") + PIPELINE,
    "ONNX Runtime int8": COMMON + TRANSFORMERS + ONNX.replace("SUFFIX", "'.int8'") + PIPELINE,
}


def is_ours(side: str) -> bool:
    """Returns True if a side runs in this Python."""
    return side.startswith("tfmrc")


def first_questions(path: Path) -> list[Example]:
    """Returns the first question of each paragraph."""
    first: dict[tuple[str, ...], Example] = {}
    for example in read_squad(path):
        first.setdefault(example.passages, example)
    return list(first.values())


def cells(
    paragraphs: Sequence[Example], lengths: Sequence[int], batches: Sequence[int]
) -> list[tuple[int, int, list[dict[str, str]]]]:
    """Returns for each length and batch size the questions with their contexts."""
    words = " ".join(each.passages[0] for each in paragraphs).split()
    questions = [each.question for each in paragraphs[::20]][: max(BATCHES)]
    return [
        (
            count,
            batch,
            [
                {"question": q, "context": " ".join(words[2100 * n : 2100 * n + count])}
                for n, q in enumerate(questions)
            ],
        )
        for count in lengths
        for batch in batches
    ]


def for_int8(paragraphs: Sequence[Example]) -> list[dict[str, object]]:
    """Returns 300 questions with their paragraphs, which calibrate int8."""
    chosen = paragraphs[:: max(1, len(paragraphs) // 300)][:300]
    return [{"question": each.question, "passages": each.passages} for each in chosen]


def main() -> None:
    """Measures all sides and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reader", type=Path)
    parser.add_argument("squad", type=Path)
    parser.add_argument("--peer", default=sys.executable, help="a Python with transformers")
    parser.add_argument("--rounds", type=int, default=3, help="the median is printed")
    parser.add_argument("--repeats", type=int, default=5, help="calls per round")
    parser.add_argument("--words", type=int, nargs="+", default=WORDS)
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--sides", nargs="+", default=list(SIDES), choices=list(SIDES))
    parser.add_argument(
        "--cpu-time", action="store_true", help="CPU seconds, for a core that others use as well"
    )
    arguments = parser.parse_args()
    paragraphs = first_questions(arguments.squad)
    with tempfile.TemporaryDirectory() as folder:
        reader = Path(folder, "reader")
        reader.symlink_to(arguments.reader.resolve())
        source = Path(folder, "settings.json")
        for cores in arguments.cores:
            times: dict[str, dict[str, list[float]]] = {side: {} for side in arguments.sides}
            for _ in range(arguments.rounds):
                for side in arguments.sides:
                    settings = {
                        "reader": str(arguments.reader if is_ours(side) else reader),
                        "onnx": str(Path(folder, "reader.onnx")),
                        "openvino": str(Path(folder, "export", "1")),
                        "int8": for_int8(paragraphs),
                        "cores": cores,
                        "repeats": arguments.repeats,
                        "clock": "process_time" if arguments.cpu_time else "perf_counter",
                        "cells": cells(paragraphs, arguments.words, arguments.batches),
                    }
                    source.write_text(json.dumps(settings), encoding="utf-8")
                    python = sys.executable if is_ours(side) else arguments.peer
                    command = ["taskset", "-c", f"0-{cores - 1}", python, "-c", SIDES[side]]
                    found = answer_of(*command, source, HF_HUB_OFFLINE="1")
                    for cell, seconds in found.items():
                        times[side].setdefault(cell, []).append(seconds)
            print(f"{cores} cores; milliseconds per question, medians of {arguments.rounds} rounds")
            print_head("context", *arguments.sides)
            for cell in times[arguments.sides[0]]:
                row = (f"{1000 * statistics.median(times[s][cell]):.0f}" for s in arguments.sides)
                print_row(cell, *row)


if __name__ == "__main__":
    main()
