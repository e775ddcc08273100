"""Subwords of whole texts, with the characters that they cover."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import tensorflow as tf

from tfmrc.text.code_points import CodePoints, code_point_sizes

Cut: TypeAlias = Callable[[tf.Tensor], tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]]


class TextPieces(NamedTuple):
    """The subwords of R texts as Hugging Face's tokenizers give them.

    Attributes:
        ids: int32 ragged `[R, T]`.
        starts, ends: int32 ragged `[R, T]`, code points of the text.
        words: int32 ragged `[R, T]`, the number of the word, from 0 in each text. Words are those
            of the pre-tokenization: for BERT a punctuation mark is a word.
    """

    ids: tf.RaggedTensor
    starts: tf.RaggedTensor
    ends: tf.RaggedTensor
    words: tf.RaggedTensor

    def first(self, limit: int | tf.Tensor) -> "TextPieces":
        """Returns at most `limit` subwords of each text."""
        return TextPieces(*(field[:, :limit] for field in self))


class Words(NamedTuple):
    """The V words of a batch, cut out of M characters that were made from the texts' characters.

    The text `"É b"`, of which an encoder's normalizer makes "e b", has the words "e" and "b":
    `first = last = [0, 2]` and `begins = ends = [0, 1, 2]`.

    Attributes:
        first, last: int32 `[V]`, the first and the last character of each word.
        begins, ends: int32 `[M]`, the first and the last character of the texts that each of the
            M characters comes from.
        special: int32 `[V]`, the id of a word that is a special token; -1 for others.
        numbers: int32 `[V]`, ascending, equal for parts of the same word; None if each is a word.
    """

    first: tf.Tensor
    last: tf.Tensor
    begins: tf.Tensor
    ends: tf.Tensor
    special: tf.Tensor
    numbers: tf.Tensor | None = None


def cut_words(text: CodePoints, points: tf.Tensor, words: Words, cut: Cut) -> TextPieces:
    """Cuts words into subwords, each distinct one once, and joins those of a text.

    Args:
        text: `CodePoints` of the R texts.
        points: int32 `[M]`, the code points that the words are cut out of.
        words: `Words`. One that is a special token has one subword, which gets the token's id.
        cut: callable. From U strings to the ids of their subwords, int32 ragged `[U, ..]`, and the
            first and the last byte of each, int ragged `[U, ..]`.
    """
    inside = tf.ragged.range(words.first, words.last + 1)  # ragged [V, ..], places in [M]
    spelled = tf.strings.unicode_encode(
        inside.with_values(tf.gather(points, inside.values)), "UTF-8"
    )
    strings, index = tf.unique(spelled)  # [U], [V]
    pieces, begins, ends = cut(strings)
    bytes_before = tf.pad(
        tf.cumsum(tf.cast(code_point_sizes(points), tf.int64)), [[1, 0]]
    )  # [M + 1]
    counts = tf.gather(tf.cast(pieces.row_lengths(), tf.int32), index)  # [V]
    # P subwords of all words; the following tensors are [P].
    word = tf.repeat(tf.range(tf.size(counts)), counts)
    before = tf.gather(tf.gather(bytes_before, words.first), word)

    def character(offsets: tf.RaggedTensor, shift: int) -> tf.Tensor:
        byte = before + tf.cast(tf.gather(offsets, index).values, tf.int64) + shift
        return tf.searchsorted(bytes_before, byte, side="right") - 1

    first = tf.gather(words.begins, character(begins, 0))
    last = tf.gather(words.ends, character(ends, -1))
    row = tf.gather(text.row, first)
    # The number of a word within its text: its own minus that of the text's first word.
    row_of_word = tf.gather(text.row, tf.gather(words.begins, words.first))  # [V]
    first_word = tf.searchsorted(row_of_word, tf.range(text.num_rows))  # [R]
    numbers = tf.range(tf.size(counts)) if words.numbers is None else words.numbers
    number = tf.gather(numbers, word) - tf.gather(numbers, tf.gather(first_word, row))
    special, ids = tf.gather(words.special, word), tf.gather(pieces, index).values
    ids = tf.where(special >= 0, special, ids)
    starts, stops = tf.gather(text.index, first), tf.gather(text.index, last) + 1
    row, num_rows = tf.cast(row, tf.int64), tf.cast(text.num_rows, tf.int64)
    return TextPieces(
        *(
            tf.RaggedTensor.from_value_rowids(values, row, num_rows, validate=False)
            for values in (ids, starts, stops, number)
        )
    )
