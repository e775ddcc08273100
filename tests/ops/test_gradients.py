import gc
import weakref

import numpy as np
import tensorflow as tf

from tfmrc.ops.gradients import after, custom_gradient
from tfmrc.ops.portable import portable


@custom_gradient
def doubled(x):
    """Has a wrong gradient, so that it can be told from that of the product."""

    def gradient(*upstream, **_):
        return 7.0 * upstream[0]

    return 2.0 * x, gradient


def operations(function):
    graph = tf.function(function, [tf.TensorSpec([3])], autograph=False).get_concrete_function()
    return [node.op for node in graph.graph.as_graph_def().node]


def test_the_gradient_is_that_of_the_function():
    x = tf.constant([1.0, -3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = doubled(x)
    np.testing.assert_array_equal(y, [2.0, -6.0])
    np.testing.assert_array_equal(tape.gradient(y, x), [7.0, 7.0])
    assert doubled.__name__ == "doubled"


def test_a_graph_is_differentiated_and_freed():
    """TensorFlow's registry would keep the graph of every model that was trained."""

    def graph():
        function = tf.function(lambda x: tf.gradients(doubled(x), x), autograph=False)
        np.testing.assert_array_equal(function(tf.constant([1.0])), [[7.0]])
        return weakref.ref(function.get_concrete_function(tf.constant([1.0])).graph)

    built = graph()
    gc.collect()
    assert built() is None


def test_an_exported_graph_has_the_result_alone():
    assert "IdentityN" in operations(doubled)
    with portable():
        assert "IdentityN" not in operations(doubled)
        np.testing.assert_array_equal(doubled(tf.constant([1.0])), [2.0])


def test_after_changes_nothing_and_waits_in_the_graph():
    x, upstream = np.array([0.1, -2.0], "float32"), np.full((3, 4), -5.0, "float32")
    np.testing.assert_array_equal(after(x, upstream), x)
    np.testing.assert_array_equal(after(x[:0], upstream[:0]), x[:0])
    assert after(tf.cast(x, "float16"), upstream).dtype == tf.float16
    assert np.isnan(after(x, np.full((2,), np.inf, "float32"))).all()
    np.testing.assert_array_equal(after(x, np.array([1.0, np.inf], "float32")), x)
