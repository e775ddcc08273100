"""Three variables with learning rates of their own, updated on either backend."""

import contextlib

import keras
import numpy as np

from tfmrc.training import AdamW

PATHS = ("encoder/layer_1/kernel", "encoder/layer_0/kernel", "head/kernel")
START = [np.array([1.0, -2.0], "float32"), np.array([3.0], "float32"), np.array([0.5], "float32")]
GRADIENTS = [
    np.array([0.3, 0.1], "float32"), np.array([-2.0], "float32"), np.array([1.0], "float32")
]  # fmt: skip
RATES = {"encoder/layer_1/": 0.1, "encoder/": 0.0}


def variables():
    made = []
    for path, value in zip(PATHS, START, strict=True):
        scope, _, name = path.rpartition("/")
        with contextlib.ExitStack() as stack:
            for part in scope.split("/"):
                stack.enter_context(keras.name_scope(part))
            made.append(keras.Variable(value, name=name))
    return made


def updated(multipliers, rate=0.01, steps=3):
    weights = variables()
    optimizer = AdamW(
        rate, weight_decay=0.3, clip_norm=1.0, use_ema=False, learning_rate_multipliers=multipliers
    )
    optimizer.build(weights)
    if keras.backend.backend() == "jax":
        values, state = [v.value for v in weights], [v.value for v in optimizer.variables]
        for _ in range(steps):
            values, state = optimizer.stateless_apply(state, GRADIENTS, values)
        return [np.array(value) for value in values]
    for _ in range(steps):
        optimizer.apply([keras.ops.array(g) for g in GRADIENTS], weights)
    return [v.numpy() for v in weights]
