"""Seconds from the shell to the first answer, beside those of importing TensorFlow.

    python -m benchmarks.first_answer
    python -m benchmarks.first_answer --rounds 5 --python /path/to/python

`ready` is the reader that tfmrc ships. Each other model has random weights, the sizes of its paper
and a vocabulary of `--words`; Masque has 8 decoder blocks, as in `decoding_speed.py`; they are
exports. The commands take turns, and answer one question or ask one, as a user does by `tfmrc
answer` and `tfmrc ask`. `--python` names another environment that has the library's requirements,
such as one without the packages of its tests.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.measuring import ROOT, in_turns, print_head, print_row, shown
from benchmarks.random_models import PRESETS, build

PASSAGE = "The old mill on the hill was built in 1912 by Anna Miller and her two sons."
QUESTION = "Who built the old mill?"


def main() -> None:
    """Makes the exports and prints one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=PRESETS, default=list(PRESETS))
    parser.add_argument("--words", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "import tensorflow": ["-c", "import tensorflow"],
            "ready, tfmrc answer": [
                "-m", "tfmrc", "answer", "ready", "--question", QUESTION, "--passage", PASSAGE,
            ],
        }  # fmt: skip
        for name in options.models:
            print(f"exporting {name}", file=sys.stderr, flush=True)
            path = Path(folder, name, "1")
            _run([sys.executable, __file__, "--export", name, str(options.words), str(path)])
            asked = "ask" if name == "MaxoutPointerQG" else "answer"
            about = ["--question", QUESTION] if asked == "answer" else ["--answer", "Anna Miller"]
            commands[f"{name}, tfmrc {asked}"] = [
                "-m", "tfmrc", asked, str(path), *about, "--passage", PASSAGE,
            ]  # fmt: skip
        works = {name: partial(_run, [options.python, *words]) for name, words in commands.items()}
        found = in_turns(works, options.rounds)
    print(f"medians of {options.rounds} (range), {os.cpu_count()} cores")
    print_head("command", "seconds", "CPU seconds")
    for name, measured in found.items():
        print_row(name, *(shown(column) for column in zip(*measured, strict=True)))


def _run(command: list[str]) -> tuple[float, float]:
    """Returns the seconds and CPU seconds of a command."""
    environment = {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", **os.environ}

    def cpu() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before, start = cpu(), time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{json.dumps(command)} ended with {done.returncode}:\n{done.stderr}")
    return time.perf_counter() - start, cpu() - before


def export(name: str, words: int, path: str) -> None:
    """Exports a model with random weights."""
    from tfmrc import predictors

    predictors.Predictor(*build(name, "paper", words)).export(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--export"]:
        export(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main()
