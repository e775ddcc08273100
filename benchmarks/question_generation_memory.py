"""Peak memory of a training step of question generation, compared with a merged distribution.

    python benchmarks/question_generation_memory.py
    python benchmarks/question_generation_memory.py --batch 8 --words 5000

Each way runs in a separate process: the loss of `tfmrc.layers.MaxoutPointer`, which reads the
target's scores and one normaliser, and the same loss from the distribution over all generable and
source words, built for every step. The result is the largest resident size of the process after its
step, minus the size before it. The two losses must agree.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

WAYS = ("as trained", "merged distribution")
ROOT = Path(__file__).resolve().parents[1]


def measure(way: str, batch: int, steps: int, words: int, positions: int, width: int) -> dict:
    """Measures one step, forward and backward; memory in MiB."""
    import numpy as np
    import tensorflow as tf
    from keras import ops

    from tfmrc.layers import MaxoutPointer

    random = np.random.default_rng(0)
    states = tf.constant(random.normal(size=(batch, steps, width)).astype("float32"))
    kernel = tf.Variable(0.02 * random.normal(size=(width, words)).astype("float32"))
    scores = tf.Variable(random.normal(size=(batch, steps, positions)).astype("float32"))
    ids = random.integers(4, words, (batch, positions))
    source = tf.constant(
        np.where(np.arange(positions) % 3, ids, words + np.arange(positions)), "int32"
    )
    targets = tf.constant(random.integers(4, words, (batch, steps)), "int32")
    pointer = MaxoutPointer("max")

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            logits = tf.matmul(states, kernel)
            if way == WAYS[0]:
                log_p = pointer(logits, scores, source, targets)["log_probability"]
            else:
                merged = pointer.distribution(pointer(logits, scores, source), source)
                log_p = ops.take_along_axis(merged, targets[..., None], axis=-1)[..., 0]
            loss = -tf.reduce_mean(log_p)
        return loss, tape.gradient(loss, [kernel, scores])

    concrete = step.get_concrete_function()
    before = _peak()
    loss, _ = concrete()
    return {"loss": float(loss), "peak_mib": _peak() - before}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    """Prints both ways as a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("batch", 64), ("steps", 20), ("words", 45_000), ("positions", 150)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--width", type=int, default=600)
    parser.add_argument("--way", choices=WAYS, help="measure one way and print JSON")
    options = parser.parse_args()
    sizes = {n: getattr(options, n) for n in ("batch", "steps", "words", "positions", "width")}
    if options.way:
        print(json.dumps(measure(options.way, **sizes)))
        return 0
    results = {}
    for way in WAYS:
        command = [sys.executable, __file__, "--way", way]
        command += [f"--{name}={value}" for name, value in sizes.items()]
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        results[way] = json.loads(done.stdout.splitlines()[-1])
    print(", ".join(f"{name} {value:,}" for name, value in sizes.items()))
    print("| loss | peak MiB of a step | value |\n| --- | --- | --- |")
    for way, result in results.items():
        print(f"| {way} | {result['peak_mib']:,.0f} | {result['loss']:.4f} |")
    first, second = (result["loss"] for result in results.values())
    return int(abs(first - second) > 1e-3)


if __name__ == "__main__":
    sys.exit(main())
