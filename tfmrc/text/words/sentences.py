"""Sentence numbers of tokens, by graph operations."""

import tensorflow as tf

from tfmrc.text.code_points import neighbours
from tfmrc.text.rows import row_of_values
from tfmrc.text.typing import TensorLike
from tfmrc.text.words.tokenizer import Tokens

# Whole tokens, as regular expressions of RE2. Abbreviations are tokens with their period.
_ENDS = r"[.!?…]+|[。！？]+"
_CLOSES = r"""["'”’»)\]」』]+|''"""
_CONTINUES = r"[\p{Ll},;:)\]].*"


def sentence_numbers(texts: TensorLike, tokens: Tokens) -> tf.Tensor:
    """Returns the number of each token's sentence, counted over all texts.

    A sentence ends at `.`, `!`, `?` or `…` and following closing marks, before a token that does
    not begin in lower case. It also ends at the end of a line. An abbreviation does not end a
    sentence, because the tokenizer keeps its period in the token.

    Args:
        texts: string `[N]`.
        tokens: `Tokens` of the texts.

    Returns:
        int32, one number per token of all texts. Every text begins a new sentence.

    Example:
        >>> from tfmrc.text import Tokenizer
        >>> from tfmrc.text.words.sentences import sentence_numbers
        >>> texts = ['"Why?" asked Dr. Owl. It slept.']
        >>> tokens = Tokenizer().tokenize(texts)
        >>> [word.decode() for word in tokens.surface[0].numpy()][-4:]
        ['.', 'It', 'slept', '.']
        >>> sentence_numbers(texts, tokens).numpy()
        array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1], dtype=int32)
    """
    surface = tokens.surface.values  # [T], of all texts
    row = row_of_values(tokens.surface)
    starts, stops = tokens.starts.values, tokens.ends.values
    same_row = row == neighbours(row, -1, -1)
    # A closing mark directly follows a token; after a space it is an opening mark.
    closes = (
        tf.strings.regex_full_match(surface, _CLOSES) & same_row & (starts == neighbours(stops, -1))
    )
    ends = tf.strings.regex_full_match(surface, _ENDS)
    ended = tf.gather(ends, _last(~closes))
    ended &= tf.gather(row, _last(~closes)) == row
    continues = closes | ends | tf.strings.regex_full_match(surface, _CONTINUES)
    lines = _lines_before(texts, row, starts)
    begins = ~same_row | (lines != neighbours(lines, -1)) | (neighbours(ended, -1) & ~continues)
    return tf.cumsum(tf.cast(begins, tf.int32)) - 1


def _last(mask: tf.Tensor) -> tf.Tensor:
    """Returns the last position up to each position where the mask is True; 0 if there is none."""
    positions = tf.pad(tf.cast(tf.where(mask)[:, 0], tf.int32), [[1, 0]])
    return tf.gather(positions, tf.cumsum(tf.cast(mask, tf.int32)))


def _lines_before(texts: TensorLike, row: tf.Tensor, starts: tf.Tensor) -> tf.Tensor:
    """Returns the number of line ends before each token, over all texts."""
    decoded = tf.strings.unicode_decode(texts, "UTF-8")  # ragged [N, ..]
    ended = tf.pad(tf.cumsum(tf.cast(decoded.values == ord("\n"), tf.int32)), [[1, 0]])
    return tf.gather(ended, tf.gather(tf.cast(decoded.row_starts(), tf.int32), row) + starts)
