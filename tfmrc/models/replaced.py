"""Checks of replaced parts of a model, on a small batch."""

from collections import Counter

import keras
import numpy as np

from tfmrc.ops.ids import UNK


def check_replaced(model: keras.Model) -> None:
    """Raises a ValueError unless a model runs with the `build_*` methods that a class overrides.

    The first of two examples has one word in every text, the second none.

    Args:
        model: `tfmrc.models.Model`. A finished model. Its method `check_parts` runs it.

    Raises:
        ValueError: If it fails; the message names the methods.
    """
    known = Counter(name for cls in type(model).__mro__ for name in vars(cls))
    methods = []
    for name, count in known.items():
        if name.startswith("build_") and count > 1 and not hasattr(keras.Model, name):
            layer = getattr(model, name.removeprefix("build_"), None)
            methods.append(f"`{name}` ({type(layer).__name__})" if layer else f"`{name}`")
    try:
        if methods:
            model.check_parts(_small_batch(model))
    except Exception as error:
        parts = f"{type(model).__name__}, with its own {', '.join(methods)},"
        raise ValueError(f"{parts} fails on a small batch: {error}") from error


def _small_batch(model: keras.Model) -> dict[str, np.ndarray]:
    """Returns inputs of two examples, of which the first has one word in every text."""
    batch = {}
    for symbol in model.inputs:
        sizes = [2 if size is None else size for size in symbol.shape[1:]]
        if symbol.name == "extended_ids" and hasattr(model, "num_passages"):
            sizes = [2 * (1 + model.num_passages)]  # of the question, too
        batch[symbol.name] = np.zeros((2, *sizes), symbol.dtype)
        if sizes and symbol.name.endswith("_ids"):
            batch[symbol.name][0, ..., 0] = UNK
    return batch
