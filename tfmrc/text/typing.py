"""Types of the arguments of graph code."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf

# What `tf.convert_to_tensor` takes.
TensorLike: TypeAlias = tf.Tensor | np.ndarray | Sequence[Any]
