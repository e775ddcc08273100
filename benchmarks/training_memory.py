"""Memory of a training: the models' paper sizes, and whether it stays flat over many steps.

    python -m benchmarks.training_memory --sizes paper --steps 5
    python -m benchmarks.training_memory --sizes demo --steps 2000

Each model is trained in a process of its own, on questions of 20 words about `--words` words of
passages, by the optimizer and losses of its paper (`tfmrc.training`). Batches differ in length. The
table has the resident memory after a tenth of the steps and at the end, the peak, and the seconds
of a step (the median of the second half).
"""

import argparse
import json
import statistics
import sys
import time
from typing import Any

from benchmarks.measuring import answer_of, memory, print_head, print_row
from benchmarks.random_models import PRESETS, build, made_examples

WORDS = 5000


def main() -> None:
    """Prints one row per model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=PRESETS, default=list(PRESETS))
    parser.add_argument("--sizes", choices=("paper", "demo"), default="demo")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--words", type=int, default=400, help="of all passages of a question")
    parser.add_argument("--measure", choices=PRESETS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measure(options.measure, options)))
        return
    print(f"{options.sizes} sizes, {options.steps:,} steps, batch {options.batch}, MiB")
    print_head("model", "weights", "after a tenth", "at the end", "peak", "seconds per step")
    for name in options.models:
        command = [sys.executable, __file__, "--measure", name, f"--sizes={options.sizes}"]
        command += [f"--{each}={getattr(options, each)}" for each in ("steps", "batch", "words")]
        *sizes, seconds = answer_of(*command).values()
        print_row(name, *(f"{size:,.0f}" for size in sizes), f"{seconds:.2f}")


def _measure(name: str, options: argparse.Namespace) -> dict[str, float]:
    from tfmrc import training

    count = 4 if name == "Masque" else 1
    longest = options.words // count
    several = {"num_passages": count} if count > 1 else {}
    model, preprocessor = build(name, options.sizes, WORDS, passage_length=longest, **several)
    examples = made_examples(preprocessor, 200, count, longest, WORDS)
    model.compile(**getattr(training, PRESETS[name])(model=model, steps=options.steps))
    batches = preprocessor.dataset(
        examples, batch_size=options.batch, shuffle=True, repeat=True, bucket=False
    )
    batches = batches.map(training.only_outputs(model))
    record = _Record(options.steps)
    model.fit(batches, steps_per_epoch=options.steps, verbose=0, callbacks=[record.callback()])
    return {
        "weights": model.count_params(), "early": record.early, "end": memory(),
        "peak": memory("VmHWM"), "seconds": statistics.median(record.seconds),
    }  # fmt: skip


class _Record:
    """The memory after a tenth of the steps, and the seconds of the second half."""

    def __init__(self, steps: int) -> None:
        self.steps, self.early, self.seconds, self.last = steps, 0.0, [0.0], time.perf_counter()

    def callback(self) -> Any:
        import keras

        return keras.callbacks.LambdaCallback(on_train_batch_end=self.step)

    def step(self, batch: int, logs: Any = None) -> None:
        now = time.perf_counter()
        if batch + 1 == max(1, self.steps // 10):
            self.early = memory()
        if batch == self.steps // 2:
            self.seconds = []
        if batch >= self.steps // 2:
            self.seconds.append(now - self.last)
        self.last = now


if __name__ == "__main__":
    main()
