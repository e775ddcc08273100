"""Byte pair encoding of whole texts with offsets, as the package `tokenizers` computes it."""

from typing import Any

import numpy as np
import tensorflow as tf

from tfmrc.text.byte_pairs import BytePairs, byte_characters
from tfmrc.text.code_points import NUM_CODES, CodePoints, CodePointTable, member, tables
from tfmrc.text.special_tokens import WHITE_SPACE, SpecialTokens
from tfmrc.text.text_pieces import TextPieces, Words, assemble, spell, with_special

OTHER, LETTER, NUMBER, SPACE = range(4)
CONTRACTIONS = ("s", "t", "re", "ve", "m", "ll", "d")


class ByteLevelText:
    """Splits texts into byte pairs, with the words of GPT-2 and RoBERTa.

    A word is a run of letters, of numbers or of other characters, with at most one space before
    it; an English contraction after an apostrophe; or white space. The classes of characters are
    measured from the package `tokenizers` (`tools/code_points.py`). The offsets of a piece leave
    out its spaces at both ends, and cover whole characters, also if it has only some of their
    bytes.

    Args:
        pieces: `BytePairs`. The vocabulary and its merges.
        special_tokens: `SpecialTokens`.

    Example:
        >>> from tfmrc.text.byte_level_text import ByteLevelText
        >>> from tfmrc.text.byte_pairs import BytePairs
        >>> from tfmrc.text.special_tokens import SpecialTokens
        >>> pieces = BytePairs({"<unk>": 0, "o": 1, "w": 2, "ow": 3, "Ġ": 4, "Ġow": 5},
        ...     ["o w", "Ġ ow"])
        >>> result = ByteLevelText(pieces, SpecialTokens([])).tokenize(["ow ow"])
        >>> print(result.ids.to_list(), result.starts.to_list(), result.ends.to_list())
        [[3, 5]] [[0, 3]] [[2, 5]]
    """

    def __init__(self, pieces: BytePairs, special_tokens: SpecialTokens):
        self._pieces = pieces
        self._special = special_tokens
        classes = np.zeros(NUM_CODES, np.int32)
        classes[member(tables()["letters"])] = LETTER
        classes[member(tables()["numbers"])] = NUMBER
        classes[member(tables()["spaces"])] = SPACE
        classes[[32, *WHITE_SPACE]] = SPACE
        self._classes = CodePointTable(classes)
        space = byte_characters()[ord(" ")]
        most = max((token["id"] for token in special_tokens.get_config()), default=0)
        size = max(len(pieces), most + 1)
        self._sizes, self._leading, self._trailing = (np.zeros(size, np.int32) for _ in range(3))
        for piece, index in pieces.vocabulary.items():
            self._sizes[index] = len(piece)
            self._leading[index] = len(piece) - len(piece.lstrip(space))
            self._trailing[index] = len(piece) - len(piece.rstrip(space))
        if pieces.unknown in pieces.vocabulary:  # which stands for one byte
            self._sizes[pieces.vocabulary[pieces.unknown]] = 1

    def tokenize(self, texts: Any) -> TextPieces:
        """Returns the subwords of texts.

        Args:
            texts: string `[R]`, UTF-8.
        """
        text = CodePoints.of(texts)
        special = self._special.find(text)
        # Of a special token one character stays, which has one piece.
        source = tf.cast(tf.where(~special.inside | special.first)[:, 0], tf.int32)
        is_special = tf.gather(special.first, source)
        points = tf.where(is_special, ord("<"), tf.gather(text.points, source))
        begins = self._word_begins(points, tf.gather(text.row, source), is_special)
        first = tf.cast(tf.where(begins)[:, 0], tf.int32)
        last = tf.pad(first, [[0, 1]], constant_values=tf.size(points))[1:] - 1
        words = Words(first, last)
        spelling = spell(points, words)
        pieces = self._pieces.cut_strings(spelling.strings)
        sizes = tf.gather(self._sizes, pieces.values)
        ends = tf.cumsum(sizes)
        before = tf.gather(tf.pad(ends, [[1, 0]]), pieces.row_starts())
        ends -= tf.gather(before, pieces.value_rowids())
        starts, stops = pieces.with_values(ends - sizes), pieces.with_values(ends)
        result = assemble(text, source, words, spelling, pieces, starts, stops)
        return self._trimmed(with_special(result, text, special, trim=True))

    def _word_begins(self, points: tf.Tensor, row: tf.Tensor, is_special: tf.Tensor) -> tf.Tensor:
        """Returns True at the first character of each word, bool `[M]`."""
        kind = tf.where(is_special, -1, self._classes.lookup(points))
        # Parts of a text between special tokens are separate texts.
        edge = row != _before(row, -1)
        edge |= is_special | _before(is_special, False)
        previous = tf.where(edge, -1, _before(kind, -1))
        following = tf.where(_after(edge, 1, True), -1, _after(kind, 1, -1))
        begins = edge | (kind != previous)

        # === Spaces: the last one of a run is separate, or begins the next word if it is " " ===
        begins |= (kind == SPACE) & (following >= 0) & (following != SPACE)
        begins &= edge | (kind == SPACE) | (_before(points, -1) != ord(" "))

        # === Contractions: at the start of a word without a space; the word ends after them ===
        starts = begins & (points == ord("'")) & ~is_special
        for ending in CONTRACTIONS:
            match = starts
            for step, letter in enumerate(ending, 1):
                match &= (_after(points, step, -1) == ord(letter)) & ~_after(edge, step, True)
            for step in range(1, len(ending) + 1):
                begins &= ~_before(match, False, step)
            begins |= _before(match, False, len(ending) + 1)
        return begins

    def _trimmed(self, pieces: TextPieces) -> TextPieces:
        """Leaves out the spaces at both ends of each piece."""
        ids, starts, ends = pieces.ids.values, pieces.starts.values, pieces.ends.values
        leading, trailing = tf.gather(self._leading, ids), tf.gather(self._trailing, ids)
        starts = tf.minimum(starts + leading, ends)
        shorter = tf.maximum(ends - trailing, starts)
        ends = tf.where((trailing > 0) & (ends >= trailing), shorter, ends)
        return pieces._replace(
            starts=pieces.starts.with_values(starts), ends=pieces.ends.with_values(ends)
        )


def _before(values: tf.Tensor, fill: Any, steps: int = 1) -> tf.Tensor:
    """Returns the value `steps` characters earlier."""
    return tf.pad(values, [[steps, 0]], constant_values=fill)[: tf.size(values)]


def _after(values: tf.Tensor, steps: int, fill: Any) -> tf.Tensor:
    """Returns the value `steps` characters later."""
    return tf.pad(values, [[0, steps]], constant_values=fill)[steps:]
