"""The policy of a layer whose weights are created before Keras knows its path."""

from typing import Any

import keras


def own_policy(layer: keras.layers.Layer, *, has_parts: bool = False) -> Any:
    """Returns the dtype policy that a `DTypePolicyMap` has for the name of a layer.

    Keras reads the map by a layer's path, which it knows from `build` on. A layer that creates its
    weights in its constructor sets this policy first, for itself and for the layers in it.

    Args:
        layer: `keras.layers.Layer`. The layer, whose base constructor has run.
        has_parts: bool. Whether the layers in it may have policies of their own, by their paths.
            Default: False.

    Returns:
        A `keras.dtype_policies.DTypePolicy`; without a map that of the layer. With `has_parts` the
        map itself, if it has none for the name of the layer.

    Example:

    >>> import keras
    >>> from tfmrc.ops.own_policy import own_policy
    >>> policies = keras.dtype_policies.DTypePolicyMap("float32")
    >>> policies["words"] = "bfloat16"
    >>> own_policy(keras.layers.Dense(2, name="words", dtype=policies)).name
    'bfloat16'
    """
    policy = layer.dtype_policy
    if not isinstance(policy, keras.dtype_policies.DTypePolicyMap):
        return policy
    own = policy[layer.name]
    if has_parts:
        return policy if own == policy.default_policy else own
    return own
