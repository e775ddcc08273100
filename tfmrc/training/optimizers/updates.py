"""The updates that optimizers are made of: on TensorFlow one operation each, formulas elsewhere.

A model has hundreds of variables, and a formula is five to ten operations: with formulas alone,
half of the operations in the training step of a small Masque are the optimizer's. TensorFlow's own
kernels make the graph sooner and pass over the memory of the weights once.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import keras
from keras import ops

from tfmrc.ops.typing import Tensor


def descend(variable: Any, rate: Tensor, direction: Tensor) -> None:
    """Computes `variable -= rate * direction`.

    Args:
        variable: `keras.Variable`, or the backend's own variable.
        rate: float or scalar tensor.
        direction: tensor of the variable's shape.
    """
    rate = ops.cast(rate, variable.dtype)
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        tf.raw_ops.ResourceApplyGradientDescent(var=_handle(variable), alpha=rate, delta=direction)
    else:
        variable.assign(variable - rate * direction)


def adam(
    variable: Any,
    m: keras.Variable,
    v: keras.Variable,
    gradient: Tensor,
    rate: Tensor,
    beta_1: Tensor,
    beta_2: Tensor,
    epsilon: Tensor,
) -> None:
    """Computes one update of Adam:

        m = m + (1 - beta_1) * (gradient - m)
        v = v + (1 - beta_2) * (gradient * gradient - v)
        variable = variable - rate * m / (sqrt(v) + epsilon)

    Args:
        variable: `keras.Variable`, or the backend's own variable.
        m: `keras.Variable`. The first moment.
        v: `keras.Variable`. The second moment.
        gradient: dense tensor of the variable's shape.
        rate: scalar tensor, as all that follow. The learning rate, corrected for the moments'
            beginning with 0.
        beta_1: Decay of the first moment.
        beta_2: Decay of the second moment.
        epsilon: Added to the root of the second moment.
    """
    gradient, rate, beta_1, beta_2, epsilon = (
        ops.cast(x, variable.dtype) for x in (gradient, rate, beta_1, beta_2, epsilon)
    )
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        zero = tf.zeros((), variable.dtype)  # no further correction
        tf.raw_ops.ResourceApplyAdam(
            var=_handle(variable),
            m=_handle(m),
            v=_handle(v),
            beta1_power=zero,
            beta2_power=zero,
            lr=rate,
            beta1=beta_1,
            beta2=beta_2,
            epsilon=epsilon,
            grad=gradient,
        )
    else:
        m.assign(m + (1 - beta_1) * (gradient - m))
        v.assign(v + (1 - beta_2) * (ops.square(gradient) - v))
        variable.assign(variable - rate * m / (ops.sqrt(v) + epsilon))


def squared_norm(x: Tensor) -> Tensor:
    """Returns the sum of squares in float32, a scalar tensor.

    Args:
        x: dense tensor.
    """
    x = ops.cast(x, "float32")
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        return 2.0 * tf.nn.l2_loss(x)
    return ops.sum(ops.square(x))


def clip_by_global_norm(grads: Sequence[Tensor], clip_norm: float) -> list[Tensor]:
    """Scales gradients so that their common norm is at most `clip_norm`.

    The norm is taken in float32. Gradients within the limit are returned as they are, bit for
    bit; a gradient that is not finite makes all of them not finite, so that it is noticed.

    Args:
        grads: list. Dense tensors; None is passed through.
        clip_norm: float. The largest norm.

    Returns:
        A list as long as `grads`.

    Example:

    >>> import keras
    >>> from tfmrc.training.optimizers.updates import clip_by_global_norm
    >>> first, nothing, second = clip_by_global_norm(
    ...     [keras.ops.array([3.0]), None, keras.ops.array([4.0])], 1.0)
    >>> [round(float(first[0]), 3), nothing, round(float(second[0]), 3)]
    [0.6, None, 0.8]
    """
    squares = [squared_norm(g) for g in grads if g is not None]
    if not squares:
        return list(grads)
    norm = ops.sqrt(ops.sum(ops.stack(squares)))
    scale = clip_norm / ops.maximum(norm, clip_norm)
    return [None if g is None else g * ops.cast(scale, g.dtype) for g in grads]


def after(grads: Sequence[Tensor]) -> AbstractContextManager[Any]:
    """Returns a context in which operations wait for the gradients.

    In a graph of TensorFlow an operation that needs no data runs also in the step that finds the
    end of the data: Keras counts that step as an update.

    Args:
        grads: list. Tensors and None.
    """
    present = [g for g in grads if g is not None]
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        return tf.control_dependencies(present[:1])
    return nullcontext()


def _handle(variable: Any) -> Any:
    """Returns the resource of a variable; under a strategy, that of the running replica."""
    variable = variable.value if isinstance(variable, keras.Variable) else variable
    return variable.handle
