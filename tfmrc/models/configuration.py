"""Conversion of constructor arguments to JSON values and back."""

from collections.abc import Iterable, Mapping
from typing import Any

import keras

from tfmrc import encoders

__all__ = ["check_choice", "check_contextual", "deserialized", "holds_layers", "serialized"]


def serialized(value: Any) -> Any:
    """Returns a value that JSON can hold.

    Keras objects are serialised by Keras, an encoder with its tokenizer is replaced by its layer,
    tuples become lists, and NumPy scalars become numbers.

    Example:
        >>> import numpy as np
        >>> serialized({"blocks": ("lstm",), "units": np.int64(3)})
        {'blocks': ['lstm'], 'units': 3}
    """
    if isinstance(value, tuple | list):
        return [serialized(item) for item in value]
    if isinstance(value, Mapping):
        return {key: serialized(item) for key, item in value.items()}
    if isinstance(getattr(value, "layer", None), keras.layers.Layer):
        value = value.layer  # of an encoder that came with its tokenizer
    if hasattr(value, "get_config"):
        return keras.saving.serialize_keras_object(value)
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value


def deserialized(value: Any, custom_objects: Any = None) -> Any:
    """Returns the value that `serialized` was given, except tuples, which stay lists."""
    if isinstance(value, list):
        return [deserialized(item, custom_objects) for item in value]
    if isinstance(value, Mapping) and {"class_name", "config"} <= set(value):
        getattr(encoders, str(value["class_name"]), None)  # registered when it is imported
        return keras.saving.deserialize_keras_object(value, custom_objects=custom_objects)
    return value


def holds_layers(value: Any) -> bool:
    """Returns True if a value is a layer, or a list or dict that contains one."""
    if isinstance(value, Mapping):
        return any(holds_layers(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(holds_layers(item) for item in value)
    return isinstance(value, keras.layers.Layer)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raises a ValueError unless an argument is one of its choices.

    Example:
        >>> check_choice("reading", "joint", ("joint", "separate"))
    """
    if value not in choices:
        raise ValueError(f"`{name}` is one of {list(choices)}. Received: {name}={value!r}")


def check_contextual(encoder: Any, contextual_embedding: Any) -> None:
    """Raises a ValueError if a model is given both an encoder and a contextual embedding."""
    if encoder is not None and contextual_embedding is not None:
        raise ValueError(
            "An encoder and a contextual embedding exclude each other. Received: "
            f"encoder={encoder!r:.80}, contextual_embedding={contextual_embedding!r:.80}"
        )


def renamed_copy(model: Any, name: str) -> Any:
    """Returns a model's copy with its weights, under another name for a place in a larger model."""
    copy = type(model).from_config({**model.get_config(), "name": name})
    copy.set_weights(model.get_weights())
    return copy
