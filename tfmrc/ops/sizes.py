"""The sizes of a tensor, with few operations where they are not known."""

from typing import Any

import keras
from keras import ops

from tfmrc.ops.typing import Tensor


def sizes(x: Tensor) -> tuple[Any, ...]:
    """Returns the shape of `x`: integers, and scalar tensors for sizes that are not known.

    The same as `keras.ops.shape`, which on TensorFlow makes one operation and four more for each
    unknown size: an eighth of all operations in the export of a small Masque. Here they are two.

    Args:
        x: tensor of known rank.

    Example:
        >>> import keras
        >>> from tfmrc.ops.sizes import sizes
        >>> sizes(keras.KerasTensor((None, 3)))
        (None, 3)
    """
    known = tuple(x.shape)
    if None not in known:
        return known
    if isinstance(x, keras.KerasTensor) or keras.backend.backend() != "tensorflow":
        return tuple(ops.shape(x))
    import tensorflow as tf

    found = tf.unstack(tf.shape(x))
    return tuple(f if k is None else k for k, f in zip(known, found, strict=True))
