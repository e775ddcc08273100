"""Types of the arguments of functions on `keras.ops`."""

from typing import Any, TypeAlias

# `Any` for a type checker: the tensors of TensorFlow, JAX, NumPy and Keras have no common class.
Tensor: TypeAlias = Any
