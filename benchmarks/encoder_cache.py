"""Seconds to read a batch with a frozen MiniLM: computed, and from the cache on disk.

    python -m benchmarks.encoder_cache

A batch has 16 windows of 160 random subwords. The first pass with the cache computes and writes,
later ones read.
"""

import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

BATCHES, WINDOWS, SUBWORDS, PASSES = 6, 16, 160, 3


def main() -> None:
    """Prints the median of a batch's seconds for each way."""
    import tensorflow as tf

    from tfmrc import encoders

    layer = encoders.from_preset("minilm", trainable_layers="none").layer
    random = np.random.default_rng(0)
    shape = (WINDOWS, 1, SUBWORDS)
    batches = [tf.constant(random.integers(1000, 30_000, shape, "int32")) for _ in range(BATCHES)]
    spec = tf.TensorSpec([None, None, None], tf.int32)

    def traced() -> Any:
        return tf.function(lambda ids: tf.reduce_sum(layer(ids)), input_signature=[spec])

    def show(name: str, read: Callable[[Any], Any]) -> None:
        seconds = []
        for ids in batches:
            began = time.perf_counter()
            read(ids)
            seconds.append(time.perf_counter() - began)
        print(f"{name:<24}{np.median(seconds):8.3f}", flush=True)

    computed = traced()
    computed(batches[0][:1])
    for _ in range(PASSES):
        show("computed", computed)
    with tempfile.TemporaryDirectory() as folder, encoders.StateCache(layer, folder):
        cached = traced()
        cached(batches[0][:1])
        show("cache, first pass", cached)
        for _ in range(PASSES):
            show("cache, later passes", cached)


if __name__ == "__main__":
    main()
