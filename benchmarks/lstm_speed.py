"""Speed of two bidirectional LSTM layers, forward and backward, beside Keras' and PyTorch's.

    python -m benchmarks.lstm_speed [--threads 2] [--repeats 7]

All run in this process on the same sizes, alternating, so that other programs affect all of them
equally. The table has medians, quartiles and each time relative to ours. PyTorch is left out, with
a note, if it is not installed. CPU only.
"""

import argparse
import importlib.metadata
import importlib.util
import os
import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from benchmarks.measuring import in_turns, print_head, print_row, seconds_of

SIZES = ((128, 32), (600, 16))
LENGTH = 150


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(options.threads)
    print(
        f"{LENGTH} steps, {options.threads} threads, TensorFlow {tf.__version__}, {_versions()}\n"
    )
    print_head("width", "batch", "layer", "seconds (quartiles)", "times ours")
    for units, batch in SIZES:
        steps = {"tfmrc": _ours(units, batch), "Keras": _keras(units, batch)}
        pytorch = _pytorch(units, batch, options.threads)
        if pytorch is not None:
            steps["PyTorch"] = pytorch
        for name, seconds, ratio in compared(steps, options.repeats, 3):
            print_row(units, batch, name, seconds, ratio)
        if pytorch is None:
            print_row(units, batch, "PyTorch", "not installed", "")


def compared(
    steps: Mapping[str, Callable[[], Any]], repeats: int, digits: int
) -> Iterator[tuple[str, str, str]]:
    """Yields the name of each step, the median of its seconds with quartiles, and the ratio."""
    for step in steps.values():
        step()  # traced and warm
    works = {name: partial(seconds_of, step) for name, step in steps.items()}
    first = None
    for name, times in in_turns(works, repeats).items():
        low, middle, high = statistics.quantiles(times, n=4)
        first = first or middle
        quartiles = f"({low:.{digits}f}-{high:.{digits}f})"
        yield name, f"{middle:.{digits}f} {quartiles}", f"{middle / first:.2f}"


def _versions() -> str:
    """Returns the versions of Keras and, if it is installed, PyTorch."""
    packages = {"Keras": "keras", "PyTorch": "torch"}
    return ", ".join(
        f"{name} {importlib.metadata.version(package)}"
        for name, package in packages.items()
        if importlib.util.find_spec(package)
    )


def _tensorflow(layers: list[Any], units: int, batch: int) -> Callable[[], Any]:
    import tensorflow as tf

    x = tf.random.normal([batch, LENGTH, units])
    for layer, width in zip(layers, (units, 2 * units), strict=True):
        layer.build((None, None, width))
    weights = [v.value for layer in layers for v in layer.trainable_variables]

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for layer in layers:
                y = layer(y)
            loss = tf.reduce_sum(y * y)
        return tape.gradient(loss, [x, *weights])

    return lambda: step(x)[0].numpy()


def _ours(units: int, batch: int) -> Callable[[], Any]:
    from tfmrc.layers import BidirectionalLSTM

    return _tensorflow([BidirectionalLSTM(units) for _ in range(2)], units, batch)


def _keras(units: int, batch: int) -> Callable[[], Any]:
    import keras

    layers = [
        keras.layers.Bidirectional(keras.layers.LSTM(units, return_sequences=True))
        for _ in range(2)
    ]
    return _tensorflow(layers, units, batch)


def _pytorch(units: int, batch: int, threads: int) -> Callable[[], Any] | None:
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(threads)
    layers = torch.nn.LSTM(units, units, num_layers=2, bidirectional=True, batch_first=True)
    x = torch.randn(batch, LENGTH, units, requires_grad=True)

    def step() -> Any:
        layers.zero_grad()
        x.grad = None
        y, _ = layers(x)
        (y * y).sum().backward()
        return x.grad.numpy()

    return step


if __name__ == "__main__":
    main()
