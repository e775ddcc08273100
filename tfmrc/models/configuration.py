"""Conversion of constructor arguments to JSON values and back."""

import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import keras

from tfmrc import encoders
from tfmrc.encoders.layer_of import layer_of
from tfmrc.models.folder import optimizer_of


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
    value = layer_of(value)
    if isinstance(value, keras.dtype_policies.DTypePolicyMap):
        # Without a default policy Keras would remove the names of the others as it writes them.
        value = type(value)(value.default_policy.name, dict(value))
    if hasattr(value, "get_config"):
        return keras.saving.serialize_keras_object(value)
    if isinstance(value, Mapping):
        return {key: serialized(item) for key, item in value.items()}
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value


def deserialized(value: Any, custom_objects: Any = None) -> Any:
    """Returns the value that `serialized` was given, except tuples, which stay lists."""
    if isinstance(value, list):
        return [deserialized(item, custom_objects) for item in value]
    if isinstance(value, Mapping) and {"class_name", "config"} <= set(value):
        getattr(encoders, str(value["class_name"]), None)  # registered when it is imported
        return keras.saving.deserialize_keras_object(value, custom_objects=custom_objects)
    if isinstance(value, Mapping):
        return {key: deserialized(item, custom_objects) for key, item in value.items()}
    return value


def symbolic_inputs(shapes: Mapping[str, Sequence[int | None]]) -> dict[str, keras.KerasTensor]:
    """Returns inputs of a functional model, without the batch in their shapes.

    Features, exact matches and true relevance are float32, masks boolean, others int32.

    Example:
        >>> symbolic_inputs({"passage_ids": (None,), "answer_mask": (None,)})["passage_ids"].dtype
        'int32'
    """
    dtypes = {"features": "float32", "match": "float32", "gold": "float32", "mask": "bool"}
    return {
        name: keras.Input(shape, dtype=dtypes.get(name.rpartition("_")[2], "int32"), name=name)
        for name, shape in shapes.items()
    }


def inputs_like(model: keras.Model) -> dict[str, keras.KerasTensor]:
    """Returns inputs of a functional model like those of another one."""
    return {
        name: keras.Input(symbol.shape[1:], dtype=symbol.dtype, name=name)
        for name, symbol in model.input.items()
    }


def holds_layers(value: Any) -> bool:
    """Returns True if a value is a layer, or a list or dict that contains one."""
    if isinstance(value, Mapping):
        return any(holds_layers(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(holds_layers(item) for item in value)
    return isinstance(value, keras.layers.Layer)


def contextual_reads(contextual_embedding: keras.layers.Layer | None) -> str:
    """Returns what a contextual embedding reads: word "ids", or "vectors" or "characters"."""
    return getattr(contextual_embedding, "reads", "ids")


def check_contextual(encoder: Any, contextual_embedding: Any) -> None:
    """Raises a ValueError if a model has both an encoder and a contextual embedding."""
    if encoder is not None and contextual_embedding is not None:
        raise ValueError(
            "A model takes an encoder or a contextual embedding, not both. Received: "
            f"encoder={encoder!r:.80}, contextual_embedding={contextual_embedding!r:.80}"
        )


def renamed_copy(model: keras.Model, name: str) -> keras.Model:
    """Returns a model's copy with its weights, under another name for a place in a larger model.

    The copy has no LoRA of its own: its kernels are those of the model with their updates.
    """
    copy = type(model).from_config({**model.get_config(), "name": name})
    if len(copy.weights) == len(model.weights):
        copy.set_weights(model.get_weights())
        return copy
    with tempfile.TemporaryDirectory() as folder:  # Keras merges LoRA into the kernels of a file
        path = f"{folder}/merged.weights.h5"
        keras.saving.save_weights(model, path, objects_to_skip=optimizer_of(model))
        copy.load_weights(path)
    return copy
