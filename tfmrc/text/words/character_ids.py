"""Character ids of words, by graph operations."""

import tensorflow as tf

from tfmrc.text.typing import TensorLike


def character_ids(words: TensorLike, length: int, num_characters: int) -> tf.Tensor:
    """Returns character ids, `1 + code point mod (num_characters - 1)`, and 0 after the end.

    With `num_characters=256`, all ASCII and Latin-1 characters but one have distinct ids. Other
    characters share these ids, so a model needs no character list.

    Args:
        words: string `[N]`.
        length: int. Number of characters to keep.
        num_characters: int. Number of ids.

    Returns:
        int32 `[N, length]`.

    Example:
        >>> from tfmrc.text.words.character_ids import character_ids
        >>> character_ids(["cab", ""], 4, 256).numpy()
        array([[100,  98,  99,   0],
               [  0,   0,   0,   0]], dtype=int32)
    """
    points = tf.strings.unicode_decode(words, "UTF-8", errors="replace")
    ids = points.with_values(1 + points.values % (num_characters - 1))
    return ids.to_tensor(shape=[None, length])
