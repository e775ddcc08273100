"""Training at the papers' sizes: steps per second, memory, and arithmetic, in two precisions.

    python -m benchmarks.paper_sizes --write FOLDER
    KERAS_BACKEND=jax python -m benchmarks.paper_sizes --read FOLDER --peak 67 989

The first command needs TensorFlow and writes batches of one shape as arrays; the second needs only
Keras and its backend, as on a machine with an accelerator. `--peak` is what the card computes in
float32 and bfloat16 at most, in 10^12 operations per second. The operations of a step are those
that XLA counts (JAX); it counts the body of a loop once, so an LSTM's share is too low.
"""

import argparse
import pickle
import time
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.random_models import PRESETS

PASSAGES = {"Masque": (10, 100), "SAN": (1, 300)}  # of a question, and words of a passage
WORDS = 5000


def main() -> None:
    """Writes batches, or trains on them and prints a row per model and precision."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=PASSAGES, default=list(PASSAGES))
    parser.add_argument("--write", type=Path)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--sizes", choices=("paper", "demo"), default="paper")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--peak", type=float, nargs=2, default=(0.0, 0.0))
    options = parser.parse_args()
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        for name in options.models:
            write(name, options)
        return
    print("| model | precision | steps per second | memory, GiB | share of the card |")
    print("| --- | --- | ---: | ---: | ---: |")
    for name in options.models:
        for dtype, peak in zip(("float32", "mixed_bfloat16"), options.peak, strict=True):
            speed, memory, operations = measure(name, dtype, options)
            share = f"{speed * operations / peak / 1e12:.1%}" if peak else ""
            print(f"| {name} | {dtype} | {speed:.2f} | {memory:.1f} | {share} |", flush=True)


def write(name: str, options: argparse.Namespace) -> None:
    """Writes ten batches and the model's arguments."""
    from benchmarks.random_models import build, made_examples
    from tfmrc import training

    passages, length = PASSAGES[name]
    several = {"num_passages": passages} if passages > 1 else {}
    model, preprocessor = build(name, options.sizes, WORDS, passage_length=length, **several)
    examples = made_examples(preprocessor, 10 * options.batch, passages, length, WORDS)
    batches = preprocessor.dataset(examples, batch_size=options.batch, shuffle=False)
    arrays = list(batches.map(training.only_outputs(model)).as_numpy_iterator())
    shapes = [{key: value.shape for key, value in x.items()} for x, *_ in arrays]
    whole = {key: tuple(np.max([s[key] for s in shapes], axis=0)) for key in shapes[0]}
    arrays = [batch for batch, shape in zip(arrays, shapes, strict=True) if shape == whole]
    with (options.write / f"{name}.pickle").open("wb") as file:
        pickle.dump((preprocessor.model_kwargs(), arrays), file)


def measure(name: str, dtype: str, options: argparse.Namespace) -> tuple[float, float, float]:
    """Returns steps per second, the greatest memory in GiB, and the operations of a step."""
    import keras

    from tfmrc import models, training

    with (options.read / f"{name}.pickle").open("rb") as file:
        kwargs, arrays = pickle.load(file)
    keras.utils.set_random_seed(0)
    preset = f"{PRESETS[name]}_{options.sizes}"
    model = getattr(models, name).from_preset(preset, dtype=dtype, **kwargs)
    model.compile(**getattr(training, PRESETS[name])(model=model, steps=1000))
    times: list[float] = []
    model.fit(
        (batch for batch in cycle(arrays)),
        steps_per_epoch=2 + options.steps,  # the first compiles
        verbose=0,
        callbacks=[
            keras.callbacks.LambdaCallback(
                on_train_batch_end=lambda step, logs: times.append(time.perf_counter())
            )
        ],
    )
    speed = options.steps / (times[-1] - times[1])
    if keras.backend.backend() != "jax":
        return speed, 0.0, 0.0
    import jax

    memory = (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0)
    state = [
        [v.value for v in vs] for vs in (model.trainable_variables, model.non_trainable_variables)
    ]

    def loss(trainable: Any, x: Any) -> Any:
        outputs, _ = model.stateless_call(trainable, state[1], x, training=True)
        return sum(jax.numpy.sum(value) for value in jax.tree.leaves(outputs))

    cost = jax.jit(jax.grad(loss)).lower(state[0], arrays[0][0]).compile().cost_analysis()
    return speed, memory / 2**30, cost["flops"]


if __name__ == "__main__":
    main()
