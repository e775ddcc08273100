"""Time of a predictor's batch as a plain graph and compiled by XLA, and what compiling costs.

    python benchmarks/compiled_prediction.py
    python benchmarks/compiled_prediction.py --models Masque --batch 1 8 --words 40

Models of the papers' sizes with random weights and a vocabulary of 5,000 words read strings of
fixed lengths and write `--words` words. All numbers are seconds of CPU. Each model and batch size
runs in a process of its own on one thread; the plain and the compiled graph take turns. The first
call of each traces the graph, the compiled one's compiles it too, as it must for every other size
of batch and texts. "pays after" is the number of batches of this size after which compiling has
cost less than it has saved.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("Masque", "MaxoutPointerQG", "DAANet")
VOCABULARY = 5000
PASSAGES, PASSAGE_LENGTH, QUESTION_LENGTH = 10, 100, 20  # Masque's
ONE_PASSAGE = 150  # the others'


def main() -> int:
    """Prints a row for each model and batch size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--words", type=int, default=20, help="length of each output (20)")
    parser.add_argument("--repeats", type=int, default=5, help="calls of each graph (5)")
    parser.add_argument("--measure", choices=MODELS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measure(options)))
        return 0
    print("| model | batch | plain (range) | compiled (range) | ratio | compiling | pays after |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    threads = ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    environment = {**os.environ, **dict.fromkeys(threads, "1"), "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment["PYTHONPATH"] = str(ROOT)
    for model in options.models:
        for batch in options.batch:
            command = [sys.executable, __file__, "--measure", model, f"--batch={batch}"]
            command += [f"--words={options.words}", f"--repeats={options.repeats}"]
            done = subprocess.run(
                command, capture_output=True, text=True, env=environment, check=False
            )
            if done.returncode:
                raise RuntimeError(f"{model} failed:\n{done.stderr[-3000:]}")
            result = json.loads(done.stdout.splitlines()[-1])
            plain, compiled = (statistics.median(result[name]) for name in ("plain", "compiled"))
            compiling = result["first"]["compiled"] - result["first"]["plain"]
            after = f"{compiling / (plain - compiled):,.0f}" if compiled < plain else "never"
            print(
                f"| {model} | {batch} | {_with_range(result['plain'])} | "
                f"{_with_range(result['compiled'])} | {compiled / plain:.2f} | "
                f"{compiling:.1f} | {after} |",
                flush=True,
            )
    return 0


def _with_range(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.3f} ({min(seconds):.3f}-{max(seconds):.3f})"


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    import keras
    import numpy as np

    import tfmrc
    from tfmrc import models, preprocessing, text

    keras.utils.set_random_seed(0)
    (batch,) = options.batch
    words = [f"w{number}" for number in range(VOCABULARY)]
    random = np.random.default_rng(0)

    def some(count: int) -> str:
        return " ".join(random.choice(words, count))

    sizes = {"generation_vocabulary_size": VOCABULARY}
    if options.measure == "Masque":
        sizes |= {"num_passages": PASSAGES}
    preprocessor = getattr(preprocessing, f"{options.measure}Preprocessor")(
        text.Vocabulary(words), **sizes
    )
    model = getattr(models, options.measure)(**preprocessor.model_kwargs())
    predictor = tfmrc.Predictor(model, preprocessor)
    rows = range(batch)
    if options.measure == "Masque":
        inputs: dict[str, list[Any]] = {
            "question": [some(QUESTION_LENGTH) for _ in rows],
            "passages": [[some(PASSAGE_LENGTH) for _ in range(PASSAGES)] for _ in rows],
            "style": ["qa" for _ in rows],
        }
    else:
        passages = [some(ONE_PASSAGE) for _ in rows]
        given = [" ".join(passage.split()[5:7]) for passage in passages]
        inputs = {
            "MaxoutPointerQG": {"passage": passages, "answer": given},
            "DAANet": {"passages": [[passage] for passage in passages], "question": given},
        }[options.measure]

    def seconds(**more: Any) -> float:
        start = time.process_time()
        predictor.run(
            "serving_default", inputs, max_length=options.words, min_length=options.words, **more
        )
        return time.process_time() - start

    ways: dict[str, dict[str, Any]] = {"plain": {}, "compiled": {"jit_compile": True}}
    first = {name: seconds(**more) for name, more in ways.items()}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.repeats):
        for name, more in ways.items():
            times[name].append(seconds(**more))
    return {"first": first, **times}


if __name__ == "__main__":
    sys.exit(main())
