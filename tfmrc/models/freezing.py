"""Trainable flags of a model's layers, as a plain dict that can be saved."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import keras

from tfmrc.utils import keras_private


def trainable_flags(model: keras.Model) -> dict[str, bool]:
    """Returns `trainable` of every layer for which it differs from the layer that holds it.

    Args:
        model: A `keras.Model` or layer.

    Returns:
        A dict of flags by path of the layer; empty if everything is trainable. A path joins names
        by `/`, from the outside in; the model's own is `""`. A sublayer with an automatic name is
        named after its class; `:1` marks the second one of the same name.

    Example:
        >>> import keras
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, name="inner"),
        ...                           keras.layers.Dense(1, name="outer")])
        >>> model.get_layer("inner").trainable = False
        >>> trainable_flags(model)
        {'inner': False}
    """
    layers = _layers(model)
    return {path: layer.trainable for path, layer, held in layers if layer.trainable != held}


def set_trainable_flags(model: keras.Model, flags: Mapping[str, bool]) -> None:
    """Sets `trainable` of a model's layers to the flags that `trainable_flags` returned.

    Args:
        model: A `keras.Model` or layer, built like the one of the flags.
        flags: dict. Result of `trainable_flags`.

    Raises:
        ValueError: If the model has no layer of one of the paths.
    """
    unknown = set(flags)
    for path, layer, _ in _layers(model):
        if path in flags:
            layer.trainable = flags[path]  # also sets its sublayers, which are visited afterwards
            unknown.discard(path)
    if unknown:
        raise ValueError(
            f"{type(model).__name__} has no layers with some of these paths. "
            f"Received: trainable_flags={sorted(unknown)}"
        )


def _layers(
    layer: keras.layers.Layer, path: str = "", held: bool = True
) -> Iterator[tuple[str, Any, bool]]:
    """Yields a layer and all within it: path, layer, and `trainable` of the layer that holds it."""
    yield path, layer, held
    for name, sublayer in _named(layer):
        yield from _layers(sublayer, f"{path}/{name}" if path else name, layer.trainable)


def _named(layer: keras.layers.Layer) -> Iterator[tuple[str, Any]]:
    """Yields the sublayers of a layer under names that are the same in every process."""
    counts: dict[str, int] = {}
    for sublayer in keras_private.sublayers(layer):
        of_class = keras_private.automatic_name(type(sublayer).__name__)
        automatic = re.fullmatch(rf"{of_class}(_\d+)?", sublayer.name)
        name = of_class if automatic else sublayer.name
        number = counts.get(name, 0)
        counts[name] = number + 1
        yield (f"{name}:{number}" if number else name), sublayer
