"""Words as the numbers of their characters; graph operations."""

from typing import Any

import tensorflow as tf


def character_ids(words: Any, length: int, num_characters: int) -> tf.Tensor:
    """The characters of words: 1 and up by code point, round and round, 0 behind the end.

    With 256 characters all of ASCII and Latin-1 but one have a number of their own; characters
    of other scripts share numbers with these, so no list of characters goes with a model.

    Args:
        words: string `[N]`.
        length: characters of a word that are kept.
        num_characters: the numbers are below this.

    Returns:
        int32 `[N, length]`.

    Example:
        >>> from tfmrc.text.spelling import character_ids
        >>> character_ids(["cab", ""], 4, 256).numpy()
        array([[100,  98,  99,   0],
               [  0,   0,   0,   0]], dtype=int32)
    """
    points = tf.strings.unicode_decode(words, "UTF-8", errors="replace")
    ids = points.with_values(1 + points.values % (num_characters - 1))
    return ids.to_tensor(shape=[None, length])
