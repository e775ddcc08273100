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


def updated(multipliers, rate=0.01, steps=3, batches=None):
    """Weights and their averages after some updates, each from as many batches."""
    weights = variables()
    optimizer = AdamW(
        rate, weight_decay=0.3, clip_norm=1.0, use_ema=True, ema_momentum=0.6,
        gradient_accumulation_steps=batches, learning_rate_multipliers=multipliers,
    )  # fmt: skip
    optimizer.build(weights)
    shares = [1.0] if batches is None else np.linspace(0.5, 1.5, batches)
    gradients = [[np.float32(share) * g for g in GRADIENTS] for share in shares] * steps
    values, state = [v.value for v in weights], [v.value for v in optimizer.variables]
    for step in gradients:
        if keras.backend.backend() == "jax":
            values, state = optimizer.stateless_apply(state, step, values)
        else:
            optimizer.apply([keras.ops.array(g) for g in step], weights)
    names = [variable.name for variable in optimizer.variables]
    averages = [v for v, name in zip(state, names, strict=True) if name.endswith("average")]
    return [np.array(value) for value in (*values, *averages)]
