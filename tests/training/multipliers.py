"""Three variables with learning rates of their own: on JAX, and on two replicas.

Arguments: the file for the values on JAX, or `replicas`.
"""

import contextlib
import sys

import keras
import numpy as np

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
        if not made[-1].path.endswith(path):
            raise RuntimeError(made[-1].path)
    return made


def adamw(multipliers, rate=0.01):
    from tfmrc.training import AdamW

    return AdamW(
        rate, weight_decay=0.3, clip_norm=1.0, use_ema=False, learning_rate_multipliers=multipliers
    )


def updated(multipliers, rate=0.01, steps=3):
    own = variables()
    optimizer = adamw(multipliers, rate)
    optimizer.build(own)
    if keras.backend.backend() == "jax":
        values, state = [v.value for v in own], [v.value for v in optimizer.variables]
        for _ in range(steps):
            values, state = optimizer.stateless_apply(state, GRADIENTS, values)
        return [np.array(value) for value in values]
    for _ in range(steps):
        optimizer.apply([keras.ops.array(g) for g in GRADIENTS], own)
    return [v.numpy() for v in own]


def on_two_replicas():
    import tensorflow as tf

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    expected = updated(RATES)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        own = variables()
        optimizer = adamw(RATES)
        optimizer.build(own)

    @tf.function(autograph=False)
    def step():
        strategy.run(lambda: optimizer.apply([tf.constant(g) / 2 for g in GRADIENTS], own))

    for _ in range(3):
        step()
    for variable, value in zip(own, expected, strict=True):
        np.testing.assert_allclose(variable.numpy(), value, rtol=1e-5)
    print("equal")


if __name__ == "__main__":
    if sys.argv[1] == "replicas":
        on_two_replicas()
    else:
        found = updated(RATES)
        if keras.backend.backend() != "jax":
            raise RuntimeError(keras.backend.backend())
        np.savez(
            sys.argv[1],
            **{path.replace("/", "."): v for path, v in zip(PATHS, found, strict=True)},
        )
