"""Base class of layers that are composed of given layers."""

import inspect

import keras

from tfmrc.models.configuration import deserialized, holds_layers, serialized


@keras.saving.register_keras_serializable(package="tfmrc")
class Composite(keras.layers.Layer):
    """A layer composed of other layers, which the model builds and passes as arguments.

    A model calls the methods of its composites directly, so each part is a layer of the model: it
    appears in `model.summary()` and `model.get_layer` and can be frozen separately. The parts are
    built when they are called, in the order of the calls.

    A subclass takes its parts and plain values as keyword-only arguments and stores each as an
    attribute of the same name.

    Args:
        **options: `name` and `dtype`, as for any layer.
    """

    def __init__(self, **options):
        super().__init__(**options)
        self.built = True

    def __setattr__(self, name, value):
        if holds_layers(self.__dict__.get(name)):
            raise AttributeError(
                f"`{name}` is part of a finished {type(self).__name__}. Override the `build_*` "
                "method of the model that makes it, as `build_dual_attention`, in a subclass that "
                "is registered with `keras.saving.register_keras_serializable`. "
                f"Received: {name}={value!r:.80}"
            )
        super().__setattr__(name, value)

    def get_config(self):
        """Returns the parts, as Keras writes layers, and the plain values."""
        names = [n for n in inspect.signature(type(self)).parameters if n != "options"]
        return {**super().get_config(), **{name: serialized(getattr(self, name)) for name in names}}

    @classmethod
    def from_config(cls, config):
        """Creates a composite of new parts."""
        return cls(**{name: deserialized(value) for name, value in config.items()})
