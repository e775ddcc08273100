"""The layer of an encoder that comes with its tokenizer."""

from typing import Any

import keras


def layer_of(encoder: Any) -> Any:
    """Returns the layer of an encoder that comes with its tokenizer, and any other value itself.

    A Keras layer is returned as it is, even if it has an attribute `layer`, as wrappers do.

    Example:

    >>> import keras
    >>> from tfmrc.encoders.layer_of import layer_of
    >>> wrapper = keras.layers.TimeDistributed(keras.layers.Dense(2))
    >>> layer_of(wrapper) is wrapper
    True
    """
    inner = getattr(encoder, "layer", None)
    is_layer = isinstance(encoder, keras.layers.Layer)
    return inner if isinstance(inner, keras.layers.Layer) and not is_layer else encoder
