"""Subwords of whole texts, with the characters that they cover."""

from typing import Any, NamedTuple

import tensorflow as tf

from tfmrc.text.code_points import CodePoints, code_point_sizes
from tfmrc.text.subwords.special_tokens import SpecialMatches


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

    def first(self, limit: Any) -> "TextPieces":
        """Returns at most `limit` subwords of each text."""
        return TextPieces(*(field[:, :limit] for field in self))


class Words(NamedTuple):
    """The words of a batch, cut out of M characters.

    Attributes:
        first: int32 `[V]`, the first character of each word.
        last: int32 `[V]`, its last character.
    """

    first: tf.Tensor
    last: tf.Tensor


class Spelling(NamedTuple):
    """The distinct strings of words.

    Attributes:
        strings: string `[U]`.
        index: int32 `[V]`, the string of each word.
        bytes_before: int64 `[M + 1]`, the number of bytes before each character.
    """

    strings: tf.Tensor
    index: tf.Tensor
    bytes_before: tf.Tensor


def spell(points: tf.Tensor, words: Words) -> Spelling:
    """Encodes words, each distinct one once.

    Args:
        points: int32 `[M]`, code points.
        words: `Words` of these.
    """
    lengths = words.last - words.first + 1
    inside = tf.ragged.range(words.first, words.last + 1)
    characters = tf.RaggedTensor.from_row_lengths(
        tf.gather(points, inside.values), lengths, validate=False
    )
    strings, index = tf.unique(tf.strings.unicode_encode(characters, "UTF-8"))
    bytes_before = tf.pad(tf.cumsum(tf.cast(code_point_sizes(points), tf.int64)), [[1, 0]])
    return Spelling(strings, index, bytes_before)


def assemble(
    text: CodePoints,
    source: tf.Tensor,
    words: Words,
    spelling: Spelling,
    pieces: tf.RaggedTensor,
    begins: tf.RaggedTensor,
    ends: tf.RaggedTensor,
    special: tf.Tensor | None = None,
) -> TextPieces:
    """Joins the subwords of words to those of texts.

    Args:
        text: `CodePoints` of the R texts.
        source: int32 `[M]`, for each character of `words` the one of `text` that it comes from.
        words: `Words`.
        spelling: `Spelling` of the words.
        pieces: int32 ragged `[U, ..]`, the subwords of each distinct string.
        begins, ends: int ragged `[U, ..]`, their bytes within the string.
        special: int32 `[V]`, the id of a word that is a special token, which must have one
            subword; -1 for others. Default: None, no word is one.
    """
    counts = tf.gather(tf.cast(pieces.row_lengths(), tf.int32), spelling.index)
    word = tf.repeat(tf.range(tf.size(words.first)), counts)
    before = tf.gather(spelling.bytes_before, words.first)

    def character(offsets: tf.RaggedTensor, shift: int) -> tf.Tensor:
        offsets = tf.cast(tf.gather(offsets, spelling.index).values, tf.int64)
        byte = tf.gather(before, word) + offsets + shift
        index = tf.searchsorted(spelling.bytes_before, byte, side="right", out_type=tf.int32) - 1
        return tf.gather(source, index)

    first, last = character(begins, 0), character(ends, -1)
    row = tf.gather(text.row, first)
    # The number of a word within its text.
    row_of_word = tf.gather(text.row, tf.gather(source, words.first))
    first_word = tf.searchsorted(row_of_word, tf.range(text.num_rows))
    number = word - tf.gather(first_word, row)
    ids = tf.gather(pieces, spelling.index).values
    if special is not None:
        ids = tf.where(tf.gather(special, word) >= 0, tf.gather(special, word), ids)
    starts, stops = tf.gather(text.index, first), tf.gather(text.index, last) + 1
    return TextPieces(
        *(
            tf.RaggedTensor.from_value_rowids(
                values, tf.cast(row, tf.int64), tf.cast(text.num_rows, tf.int64), validate=False
            )
            for values in (ids, starts, stops, number)
        )
    )


def with_special(
    pieces: TextPieces, text: CodePoints, special: SpecialMatches, trim: bool = False
) -> TextPieces:
    """Gives the pieces that begin special tokens the ids of these, and their ends.

    Args:
        pieces: `TextPieces`, with one piece for each special token.
        text: `CodePoints` of the texts.
        special: `SpecialMatches` in these.
        trim: bool. Whether the white space before a token is left out of its offsets.
            Default: False.
    """
    row_first = tf.searchsorted(text.row, tf.range(text.num_rows))
    first = tf.gather(row_first, pieces.ids.value_rowids()) + pieces.starts.values
    ids = tf.gather(special.ids, first)
    lasts = tf.cast(tf.where(special.last)[:, 0], tf.int32)
    last = tf.gather(tf.pad(lasts, [[0, 1]]), tf.searchsorted(lasts, first))
    ends = tf.gather(tf.pad(text.index, [[0, 1]]), last) + 1
    starts = pieces.starts.values + (tf.gather(special.spaces, first) if trim else 0)
    return pieces._replace(
        starts=pieces.starts.with_values(starts),
        ids=pieces.ids.with_values(tf.where(ids >= 0, ids, pieces.ids.values)),
        ends=pieces.ends.with_values(tf.where(ids >= 0, ends, pieces.ends.values)),
    )
