import gc
import weakref

import tensorflow as tf

from tests.memory import release


def test_graphs_with_custom_gradients_are_freed() -> None:
    """Without `release` the registry of gradients keeps the graph; with it nothing does."""

    @tf.custom_gradient
    def square(x: tf.Tensor) -> tuple:
        return x * x, lambda upstream: 2.0 * x * upstream

    def graph() -> weakref.ref:
        with tf.Graph().as_default() as built:
            x = tf.constant(3.0)
            assert tf.gradients(square(x), x)
        return weakref.ref(built)

    built = graph()
    gc.collect()
    assert built() is not None
    release()
    assert built() is None
