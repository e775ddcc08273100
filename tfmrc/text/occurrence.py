"""Occurrences of a string in another, in code points, by graph operations."""

import tensorflow as tf

from tfmrc.text.rows import row_and_position, row_of_values
from tfmrc.text.typing import TensorLike
from tfmrc.text.words.tokenizer import Tokens

# The polynomial hash is modulo 2**64; a match is verified character by character.
_BASE = 0x9E3779B97F4A7C15 - (1 << 64)
NOT_FOUND = -1


def first_occurrence(
    texts: TensorLike, parts: TensorLike, tokens: Tokens | None = None
) -> tf.Tensor:
    """Returns the position of the first occurrence of each part in its text.

    Prefix hashes find equal substrings, so time and memory are linear in the number of characters.

    Args:
        texts: string `[N]`.
        parts: string `[N]`.
        tokens: the tokens of the texts, for the first occurrence that does not begin or end inside
            a token, if there is one; None for the first of all. Default: None.

    Returns:
        int32 `[N]`, in code points; -1 where the part is empty or does not occur.

    Example:
        >>> from tfmrc.text import Tokenizer
        >>> from tfmrc.text.occurrence import first_occurrence
        >>> first_occurrence(["the café, the café", "owl"], ["café", "cat"]).numpy()
        array([ 4, -1], dtype=int32)
        >>> text = ["The artist loved art."]
        >>> first_occurrence(text, ["art"], Tokenizer().tokenize(text)).numpy()
        array([17], dtype=int32)
    """
    texts, parts = (_valid(x) for x in (texts, parts))  # [N]
    text, part = (tf.strings.unicode_decode(x, "UTF-8") for x in (texts, parts))  # ragged [N, ..]
    count = tf.maximum(tf.size(text.values), tf.size(part.values)) + 1
    powers = tf.math.cumprod(tf.fill([count], tf.constant(_BASE, tf.int64)), exclusive=True)
    row, position = row_and_position(text)  # [C], of the characters of all texts
    number = tf.size(texts)
    lengths = tf.cast(part.row_lengths(), tf.int32)  # [N]
    of_part_row, of_part_position = row_and_position(part)
    # The hash of a part is the sum of (code point + 1) * base ** position, [N].
    wanted = tf.math.unsorted_segment_sum(
        tf.cast(part.values + 1, tf.int64) * tf.gather(powers, of_part_position),
        of_part_row,
        number,
    )
    # The hash of all characters before each one, [C + 1]. The hash of the characters i to j is
    # before[j] - before[i], which is that of an equal part times base ** i.
    characters = tf.cast(text.values + 1, tf.int64) * powers[: tf.size(text.values)]
    before = tf.pad(tf.cumsum(characters), [[1, 0]])
    length = tf.gather(lengths, row)  # [C], of the part that is looked for
    begin = tf.range(tf.size(row))
    fits = position + length <= tf.gather(tf.cast(text.row_lengths(), tf.int32), row)
    end = tf.where(fits, begin + length, begin)
    result = tf.gather(before, end) - tf.gather(before, begin)
    same = fits & (length > 0) & (result == tf.gather(wanted, row) * tf.gather(powers, begin))
    first = tf.math.unsorted_segment_min(tf.where(same, position, tf.int32.max), row, number)  # [N]
    if tokens is not None:
        inside = _inside_tokens(text, tokens)  # [C + 1]
        whole = same & ~tf.gather(inside, begin) & ~tf.gather(inside, end)
        words = tf.math.unsorted_segment_min(tf.where(whole, position, tf.int32.max), row, number)
        first = tf.where(words == tf.int32.max, first, words)
    there = occurs_at(texts, parts, tf.where(first == tf.int32.max, NOT_FOUND, first))
    return tf.where(there, first, NOT_FOUND)


def _inside_tokens(text: tf.RaggedTensor, tokens: Tokens) -> tf.Tensor:
    """Returns True where a character and the one before it are of one token.

    Args:
        text: int32 ragged `[N, characters]`, C of all texts.

    Returns:
        bool `[C + 1]`; the last one, after all characters, is False.
    """
    number = tf.size(text.values)
    row = row_of_values(tokens.starts)  # [T], of the tokens of all texts
    offset = tf.gather(tf.cast(text.row_starts(), tf.int32), row)
    begin, end = offset + tokens.starts.values, offset + tokens.ends.values
    # A boundary between two characters is inside a token after its first one, up to its last: a
    # token of the characters 2 to 4 adds 1 at the boundary 3 and takes it back at 5.
    change = tf.math.unsorted_segment_sum(tf.ones_like(begin), begin + 1, number + 2)
    change -= tf.math.unsorted_segment_sum(tf.ones_like(end), end, number + 2)
    return tf.cumsum(change)[: number + 1] > 0


def occurs_at(texts: TensorLike, parts: TensorLike, starts: TensorLike) -> tf.Tensor:
    """Returns True where a part occurs at a position of its text; False for an empty part.

    Args:
        texts, parts: string `[N]`.
        starts: int32 `[N]`, in code points.

    Returns:
        bool `[N]`.

    Example:
        >>> from tfmrc.text.occurrence import occurs_at
        >>> occurs_at(["an owl"] * 3, ["owl"] * 3, [3, 2, 99]).numpy()
        array([ True, False, False])
    """
    texts, parts = (_valid(x) for x in (texts, parts))
    starts = tf.convert_to_tensor(starts, tf.int32)
    size = tf.strings.length(texts, unit="UTF8_CHAR")
    length = tf.strings.length(parts, unit="UTF8_CHAR")
    inside = (starts >= 0) & (starts <= size - length) & (length > 0)
    # `substr` rejects position 0 of an empty string, so a space is appended.
    there = tf.strings.substr(texts + " ", tf.where(inside, starts, 0), length, unit="UTF8_CHAR")
    return inside & (there == parts)


def _valid(strings: TensorLike) -> tf.Tensor:
    """Replaces bytes that are not UTF-8 by U+FFFD, as the tokenizer does."""
    return tf.strings.unicode_transcode(strings, "UTF-8", "UTF-8", errors="replace")
