"""Custom gradients, which recompute values instead of storing them."""

import sys
import weakref
from functools import wraps
from typing import Any

import keras
from keras import ops

from tfmrc.ops.portable import is_portable


def custom_gradient(function):
    """Gives the result of a function the gradient that the function returns with it.

    As `keras.ops.custom_gradient`, but a graph that is exported has the result alone: it is not
    trained, and TensorFlow warns of each custom gradient when it loads one.

    Args:
        function: callable. Takes tensors and returns `(result, gradient)`; `gradient` takes the
            gradient of the result and returns those of the tensors, variables among them.

    Returns:
        A callable from the tensors to the result.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.gradients import custom_gradient
        >>> double = custom_gradient(lambda x: (2 * x, lambda *upstream, **_: 2 * upstream[0]))
        >>> print(np.array(double(np.ones(2, "float32"))))
        [2. 2.]
    """
    differentiable = ops.custom_gradient(function)

    @wraps(function)
    def run(*tensors):
        if is_portable():
            return function(*tensors)[0]
        # TensorFlow wants the gradients of variables apart.
        copied = (ops.copy(x) if isinstance(x, keras.Variable) else x for x in tensors)
        result = differentiable(*copied)
        first = keras.tree.flatten(result)[0]
        if getattr(first, "graph", None) is not None:
            _give_to_graph(first.op)
        return result

    return run


def _give_to_graph(op):
    """Lets the graph of an operation hold its custom gradient, in place of TensorFlow's registry.

    The registry, whose dict is private, keeps what it has for ever, and a gradient holds its graph:
    tens of MB for every model that was trained. `tests/ops/test_gradients.py` fails if it moves.
    """
    registry = sys.modules["tensorflow.python.framework.ops"].gradient_registry._registry
    entry = registry[op.get_attr("_gradient_op_type").decode()]
    gradient = entry["type"]
    held: Any = weakref.ref(gradient)
    entry["type"] = lambda *arguments: held()(*arguments)
    op.graph.custom_gradients = [*getattr(op.graph, "custom_gradients", ()), gradient]


def after(x, upstream):
    """Returns `x` for a computation that must not begin before `upstream` is known.

    A graph computes whatever is ready, and merges equal computations. Without this dependency, what
    a gradient computes again would be ready with the result, and would be stored after all.

    Args:
        x: float tensor of any shape.
        upstream: float tensor of any shape. The gradient of the result.

    Returns:
        A tensor equal to `x`, or NaN if the first element of `upstream` is not finite.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.gradients import after
        >>> print(np.array(after(np.ones(2, "float32"), np.ones((2, 3), "float32"))))
        [1. 1.]
    """
    first = ops.reshape(upstream, (-1,))[:1]
    return x + ops.cast(0.0 * ops.sum(first), x.dtype)
