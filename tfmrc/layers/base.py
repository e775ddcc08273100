"""Base class of the layers."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import keras

from tfmrc.layers.encoders.dense import Dense
from tfmrc.layers.encoders.linear import linear
from tfmrc.ops.typing import Tensor


@keras.saving.register_keras_serializable(package="tfmrc")
class Layer(keras.layers.Layer):
    """A Keras layer whose `get_config` returns the arguments of its constructor.

    Keras does the same for a layer without `get_config`, unless an argument is an object, such as
    the dtype policy of a layer within a layer.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import LuongAttention
        >>> LuongAttention(8, name="attention").get_config()["units"]
        8
        >>> LuongAttention(8)(np.ones((2, 4)), np.ones((1, 3, 4)), np.ones((1, 3), bool))
        Traceback (most recent call last):
        ...
        ValueError: `states` of LuongAttention must have the axes [B, T, d]. Received: shape=(2, 4)
    """

    AXES: ClassVar[Mapping[str, str]] = {}
    """Axes of arguments of the call whose rank is fixed, such as `{"x": "B n d"}`."""

    def __new__(cls, *args, **kwargs):
        layer = super().__new__(cls, *args, **kwargs)
        bound = inspect.signature(cls.__init__).bind(layer, *args, **kwargs)
        bound.apply_defaults()
        _, *given = bound.arguments.items()
        arguments = dict(given)
        arguments.update(arguments.pop("kwargs", {}))
        arguments = {k: list(v) if isinstance(v, tuple) else v for k, v in arguments.items()}
        object.__setattr__(layer, "_arguments", arguments)  # `setattr` needs a layer that is made
        return layer

    def __call__(self, *args, **kwargs):
        given = dict(zip(_names(type(self).call), args, strict=False)) | kwargs
        for name, value in given.items():
            axes = self.AXES.get(name, "").split()
            if axes and len(getattr(value, "shape", axes)) != len(axes):
                raise ValueError(
                    f"`{name}` of {type(self).__name__} must have the axes [{', '.join(axes)}]. "
                    f"Received: shape={tuple(value.shape)}"
                )
        return super().__call__(*args, **kwargs)

    def add_dense(
        self, name: str, units: int, width: int, *, initializer: Any = None, **arguments: Any
    ) -> Dense:
        """Returns a linear layer with this layer's dtype policy, built for `[..., width]`.

        Args:
            name: str. Name of the layer.
            units: int. Width of its outputs.
            width: int. Width of its inputs.
            initializer: float, str, initializer or None. As for `linear`. Default: None.
            **arguments: Further arguments of `keras.layers.Dense`.
        """
        options = {"initializer": initializer, "dtype": self.dtype_policy, "name": name}
        layer = linear(units, **options, **arguments)
        layer.build((None, width))
        return layer

    def get_config(self):
        return {**self._arguments, **super().get_config()}


def float32_spec(like: Tensor, *sizes: int | None) -> keras.KerasTensor:
    """Returns a symbolic float32 tensor `[B, T, *sizes]` with the first two sizes of another."""
    return keras.KerasTensor((*like.shape[:2], *sizes), dtype="float32")


@functools.cache
def _names(call: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments of a layer's `call`, in their order."""
    return tuple(inspect.signature(call).parameters)[1:]
