"""Conversion of ids to words and of words to text, by graph operations."""

import tensorflow as tf

from tfmrc.ops.ids import BOS, EOS, PAD
from tfmrc.text.code_points import neighbours
from tfmrc.text.typing import TensorLike
from tfmrc.text.vocabulary import Vocabulary

# Whole tokens, as regular expressions of RE2.
_CLOSING = r"[,.;:!?%)\]}»”’…°′″]+|''|n['’]t|['’](?:s|m|d|re|ve|ll)"
_OPENING = r"[(\[{«“‘£€¥₹$#]|``"
_COUNTRY = r"[A-Z]{2,3}"  # US$75
_WORD = r".*[\pL\pN].*"
_IN_S = r".*\pL[sS]"  # the owls'
_LINK = r"[-‐‑/–—]"
_UNSPACED = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"ー。、！？「」].*"
)
_UNIT_OF_DEGREE = r"[CFK]"


def words_of_ids(
    ids: TensorLike,
    source_words: TensorLike,
    vocabulary: Vocabulary,
    generation_vocabulary_size: int,
) -> tf.Tensor:
    """Converts extended ids to words.

    Args:
        ids: int32 `[B, …, T]`.
        source_words: string `[B, S]`, the surface forms of the source.
        vocabulary: `Vocabulary`. Words of the generable ids.
        generation_vocabulary_size: int. G; an id from G on is copied from position `id - G`.

    Returns:
        string `[B, …, T]`; "" for `PAD` and `BOS`, and from the first `EOS` on.
    """
    ids = tf.convert_to_tensor(ids, tf.int32)
    source_words = tf.convert_to_tensor(source_words, tf.string)
    shape = tf.shape(ids)
    size = generation_vocabulary_size
    position = tf.clip_by_value(ids - size, 0, tf.shape(source_words)[1] - 1)  # [B, …, T]
    position = tf.reshape(position, [shape[0], tf.reduce_prod(shape[1:])])  # [B, all T]
    copied = tf.reshape(tf.gather(source_words, position, batch_dims=1), shape)
    words = tf.where(ids < size, vocabulary.words_of(ids), copied)
    ended = tf.cumsum(tf.cast(ids == EOS, tf.int32), axis=-1) > 0
    return tf.where(ended | (ids == PAD) | (ids == BOS), "", words)


def join_words(words: TensorLike) -> tf.Tensor:
    """Joins words to text, with spaces where English has them.

    There is no space before closing marks and clitics, after opening marks and currency signs,
    around a hyphen, dash or slash between words, and between characters of scripts without spaces.
    Straight quotation marks open and close alternately. An unpaired mark closes, unless it is the
    first word; so do single ones that are all between a word in "s" and another word, as of plural
    possessives.

    Args:
        words: string `[…, T]`; "" is padding.

    Returns:
        string `[…]`.

    Example:
        >>> from tfmrc.text.words.detokenize import join_words
        >>> words = ["It", "does", "n't", "cost", "$", "5", "(", "well", "-", "known", ")", "."]
        >>> join_words(words).numpy().decode()
        "It doesn't cost $5 (well-known)."
    """
    words = tf.convert_to_tensor(words, tf.string)
    shape = tf.shape(words)
    rows = tf.reduce_prod(shape[:-1])
    words = tf.reshape(words, [rows, shape[-1]])  # [R, T]
    selected = tf.where(words != "")
    row, word = selected[:, 0], tf.gather_nd(words, selected)  # [N], the words of all rows

    def match(pattern):
        return tf.strings.regex_full_match(word, pattern)

    def before(values):
        return neighbours(values, -1)

    def after(values):
        return neighbours(values, 1)

    first = row != neighbours(row, -1, -1)
    opening, closing = match(_OPENING), match(_CLOSING)
    spelled = match(_WORD)
    between = after(spelled) & ~first & ~after(first)
    possessive = _for_all((before(match(_IN_S)) & between) | (word != "'"), row, rows)
    for marks in (word == '"', (word == "'") & ~possessive):
        opens, closes = _quotation(marks, row, rows)
        opening |= opens | (closes & first)
        closing |= closes
    closing |= (word == "'") & possessive
    link = match(_LINK) & before(spelled) & between
    degrees = before(word == "°") & match(_UNIT_OF_DEGREE)
    closing &= ~after(degrees)
    unspaced = match(_UNSPACED)
    tight = first | closing | link | degrees | (unspaced & before(unspaced))
    tight |= before(opening) | before(link) | ((word == "$") & before(match(_COUNTRY)))
    pieces = tf.where(tight, word, " " + word)
    return tf.reshape(tf.strings.unsorted_segment_join(pieces, row, rows), shape[:-1])


def _for_all(mask, row, rows):
    """Returns True for the words of each row in which the mask is True for every word."""
    least = tf.math.unsorted_segment_min(tf.cast(mask, tf.int32), row, rows)
    return tf.gather(least, row) > 0


def _quotation(marks, row, rows):
    """Returns the masks of opening and closing marks, which alternate within each row."""
    counted = tf.cast(marks, tf.int32)
    number = tf.cumsum(counted)  # [N], of the marks up to each word, over all rows
    before_row = tf.gather(tf.math.unsorted_segment_min(number - counted, row, rows), row)
    last = tf.gather(tf.math.unsorted_segment_max(number, row, rows), row)
    odd = (number - before_row) % 2 == 1
    opens = marks & odd & (number < last)
    return opens, marks & ~opens
