"""Products with weights in float32, bfloat16 and int8, as an encoder of MiniLM's size has them.

    python -m benchmarks.low_precision_products [--threads 1] [--rounds 5] [--cpu-time]

"int8" is what TensorFlow has kernels for on a CPU: the input is quantized by its own smallest and
largest value (dynamic quantization, as ONNX Runtime's), multiplied by int8 weights in int32, and
given back as float32. "int8, product alone" leaves out the two conversions. "bfloat16" contains the
conversions of the input and of the result. All take turns in one process.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

WIDTHS = ((384, 384), (384, 1536), (1536, 384))
ROWS = (170, 2720)
"""Subwords of one question with its passage, and of sixteen."""


def main() -> None:
    """Prints a table of the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu-time", action="store_true", help="for a machine that is busy")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    clock = time.process_time if options.cpu_time else time.perf_counter
    ways = ("float32", "bfloat16", "int8", "int8, product alone")
    print(f"TensorFlow {tf.__version__}, {options.threads} threads, milliseconds (times float32)\n")
    print(f"| rows | product | {' | '.join(ways)} |")
    print("| ---: | --- | " + " | ".join(["---:"] * len(ways)) + " |")
    for rows in ROWS:
        for width, units in WIDTHS:
            functions = _products(rows, width, units)
            times: dict[str, list[float]] = {name: [] for name in functions}
            repeats = max(1, 20_000 // rows)
            for _ in range(options.rounds):
                for name, function in functions.items():
                    function()
                    began = clock()
                    for _ in range(repeats):
                        function()
                    times[name].append(1000 * (clock() - began) / repeats)
            medians = [statistics.median(times[name]) for name in ways]
            shown = [f"{m:.2f} ({m / medians[0]:.2f})" for m in medians]
            print(f"| {rows:,} | {width} to {units} | {' | '.join(shown)} |", flush=True)


def _products(rows: int, width: int, units: int) -> dict[str, Callable[[], Any]]:
    """Returns the ways to compute `x W + b`: `[rows, width]` to `[rows, units]`."""
    import numpy as np
    import tensorflow as tf

    draw = np.random.default_rng(0)
    x = tf.Variable(draw.normal(size=(rows, width)).astype("float32"))
    weights = tf.constant(draw.normal(size=(width, units)).astype("float32") / width**0.5)
    bias = tf.constant(draw.normal(size=units).astype("float32"))
    half, half_bias = tf.cast(weights, tf.bfloat16), tf.cast(bias, tf.bfloat16)
    limit = tf.reduce_max(tf.abs(weights))
    signed = tf.quantization.quantize(weights, -limit, limit, tf.qint8, mode="SCALED")

    def float32() -> Any:
        return tf.nn.bias_add(tf.matmul(x, weights), bias)

    def bfloat16() -> Any:
        result = tf.nn.bias_add(tf.matmul(tf.cast(x, tf.bfloat16), half), half_bias)
        return tf.cast(result, tf.float32)

    # `x W = (x - low) W + low (1' W)`: TensorFlow's kernel takes bytes from 0 on.
    sums = tf.reduce_sum(weights, axis=0)

    def quantized() -> Any:
        low = tf.reduce_min(x)
        shifted = x - low
        scaled = tf.quantization.quantize(
            shifted, 0.0, tf.reduce_max(shifted), tf.quint8, mode="SCALED"
        )
        return scaled, low

    def multiplied(inputs: Any, added: Any) -> Any:
        return tf.raw_ops.QuantizedMatMulWithBias(
            a=inputs.output,
            b=signed.output,
            bias=added,
            min_a=inputs.output_min,
            max_a=inputs.output_max,
            min_b=signed.output_min,
            max_b=signed.output_max,
            Toutput=tf.qint32,
            input_quant_mode="SCALED",
        )

    def int8() -> Any:
        inputs, low = quantized()
        product = multiplied(inputs, bias + low * sums)
        return tf.cast(tf.bitcast(product.out, tf.int32), tf.float32) * (product.max_out / 2**31)

    kept, _ = quantized()
    functions = {
        "float32": float32,
        "bfloat16": bfloat16,
        "int8": int8,
        "int8, product alone": lambda: multiplied(kept, bias).out,
    }
    exact, rough = float32().numpy(), int8().numpy()
    error = np.abs(rough - exact).max() / np.abs(exact).max()
    if error > 0.1:
        raise RuntimeError(f"the int8 product is wrong by {error:.0%} of the largest value")
    return {name: tf.function(function, autograph=False) for name, function in functions.items()}


if __name__ == "__main__":
    main()
