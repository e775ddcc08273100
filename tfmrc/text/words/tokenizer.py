"""Tokenizer with offsets into the original string, by graph operations."""

from typing import NamedTuple

import tensorflow as tf
import tensorflow_text as tf_text

from tfmrc.text import characters as ch
from tfmrc.text.code_points import neighbours
from tfmrc.text.rows import row_of_values
from tfmrc.text.words.boundaries import joined_to_previous

REPLACEMENT = 0xFFFD
MAX_MARKS = 30


class Tokens(NamedTuple):
    """The tokens of N strings; every field is ragged `[N, tokens]`.

    Attributes:
        surface: string, the characters of the input.
        compared: string, the form used for comparison: NFKC and lower case. NUL becomes U+FFFD, and
            U+034F is inserted after every 30 consecutive combining marks.
        starts: int32, the position of the first character, in code points.
        ends: int32, the position after the last character.
    """

    surface: tf.RaggedTensor
    compared: tf.RaggedTensor
    starts: tf.RaggedTensor
    ends: tf.RaggedTensor


class Tokenizer:
    """Splits strings into words and punctuation marks with offsets.

    The rules approximate spaCy's English tokenizer; `docs/reference/text.md` lists them with
    examples and the measured agreement. Every character that is not a space is in exactly one
    token, tokens are in the order of the string, and a token's surface is the part of the string
    between its offsets. The same graph operations run in `tf.data` and in a SavedModel, on all
    characters of a batch at once.

    Offsets count code points of the original string. Bytes that are not UTF-8 are read as U+FFFD,
    so that offsets refer to `text.decode("utf-8", "replace")`.

    Example:
        >>> from tfmrc.text import Tokenizer
        >>> tokens = Tokenizer().tokenize(["Don't pay $1,000.50 in the U.S.!"])
        >>> [word.decode() for word in tokens.surface[0].numpy()]
        ['Do', "n't", 'pay', '$', '1,000.50', 'in', 'the', 'U.S.', '!']
        >>> tokens.starts[0, :4].numpy(), tokens.ends[0, :4].numpy()
        (array([ 0,  2,  6, 10], dtype=int32), array([ 2,  5,  9, 11], dtype=int32))
    """

    def tokenize(self, strings: tf.Tensor) -> Tokens:
        """Tokenizes strings.

        Args:
            strings: string `[N]`, UTF-8.

        Returns:
            `Tokens`; a string without words gives an empty row.
        """
        return Tokens(*_tokenize(tf.convert_to_tensor(strings, tf.string)))

    def __repr__(self) -> str:
        return "<Tokenizer words, numbers and marks with code point offsets; compares NFKC lower>"


@tf.function(
    input_signature=[tf.TensorSpec([None], tf.string)], autograph=False, reduce_retracing=True
)
def _tokenize(strings):
    with tf.device("/CPU:0"):
        # The space after each string prevents the rules from reading the next string.
        decoded = tf.strings.unicode_decode(strings + " ", "UTF-8", errors="replace")
        points, row_splits = decoded.values, decoded.row_splits  # C characters of N strings
        begins, ends, spaces = _token_positions(points)  # T tokens; [C] the spaces
        token_splits = tf.searchsorted(begins, row_splits, out_type=tf.int64)  # [N + 1]
        row = tf.RaggedTensor.from_row_splits(begins, token_splits, validate=False)
        offset = tf.gather(row_splits, row_of_values(row))
        surface, compared = _words(tf.boolean_mask(points, ~spaces), ends - begins)
        starts, stops = (tf.cast(places - offset, tf.int32) for places in (begins, ends))
        return tuple(map(row.with_values, (surface, compared, starts, stops)))


def _token_positions(points):
    """Returns the positions of the tokens' starts and ends, int64, and the mask of the spaces."""
    classes = ch.character_classes(points)  # [C]
    spaces = classes == ch.SPACE
    # The base characters, B of C: `e` and its accent U+0301 have the one base `e`.
    base = tf.where((classes != ch.EXTEND) | neighbours(spaces, -1, True))[:, 0]
    after_joiner = tf.gather(neighbours(points == ch.ZERO_WIDTH_JOINER, -1), base)  # [B]
    base_spaces = tf.gather(spaces, base)
    begins = ~base_spaces & ~joined_to_previous(
        tf.gather(points, base), tf.gather(classes, base), after_joiner
    )
    # A token ends before the next token or a space; the last character is a space.
    ends = neighbours(begins | base_spaces, 1) & ~base_spaces
    return tf.boolean_mask(base, begins), tf.gather(base, tf.where(ends)[:, 0] + 1), spaces


def _stream_safe(words):
    """Splits runs of more than 30 combining marks by the Stream-Safe Text Format of UAX #15.

    Unicode normalization sorts the marks of a run in quadratic time.
    """
    long = tf.where(tf.strings.length(words) > 2 * MAX_MARKS)
    pattern, mark = rf"(\pM{{{MAX_MARKS}}})", "\N{COMBINING GRAPHEME JOINER}"
    split = tf.strings.regex_replace(tf.gather_nd(words, long), pattern, rf"\1{mark}")
    return tf.tensor_scatter_nd_update(words, long, split)


def _words(points, lengths):
    """Returns the surface and the compared form of consecutive runs of characters."""
    splits = tf.concat([tf.zeros([1], tf.int64), tf.cumsum(lengths)], axis=0)

    def encode(values):
        ragged = tf.RaggedTensor.from_row_splits(values, splits, validate=False)
        return tf.strings.unicode_encode(ragged, "UTF-8")

    capital = (points >= ord("A")) & (points <= ord("Z"))
    lowered = tf.where(capital, points + (ord("a") - ord("A")), points)
    # `tf.strings.lower` stops at a NUL in non-ASCII text.
    lowered = encode(tf.where(points == 0, REPLACEMENT, lowered))
    beyond_ascii = tf.where(tf.cast(tf.strings.length(lowered), tf.int64) > lengths)
    normal = tf_text.normalize_utf8(_stream_safe(tf.gather_nd(lowered, beyond_ascii)), "NFKC")
    normal = tf.strings.lower(normal, encoding="utf-8")
    return encode(points), tf.tensor_scatter_nd_update(lowered, beyond_ascii, normal)
