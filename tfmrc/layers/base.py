"""Base class of the layers."""

import inspect

import keras


@keras.saving.register_keras_serializable(package="tfmrc")
class Layer(keras.layers.Layer):
    """A Keras layer whose `get_config` returns the arguments of its constructor.

    Keras does the same for a layer without `get_config`, if no argument, the dtype policy of a
    layer within a layer among them, is an object.

    Example:
        >>> from tfmrc.layers import LuongAttention
        >>> LuongAttention(8, name="attention").get_config()["units"]
        8
    """

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

    def get_config(self):
        return {**self._arguments, **super().get_config()}
