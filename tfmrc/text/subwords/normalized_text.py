"""Texts whose parts between special tokens are normalized, as the package `tokenizers` does it."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from tfmrc.text import code_points as cp
from tfmrc.text.subwords.normalizers import Normalizer
from tfmrc.text.subwords.special_tokens import STAND_IN, SpecialMatches, SpecialTokens
from tfmrc.text.subwords.text_pieces import Words

INERT = 0x10FFFF  # stands for the characters of special tokens; no character, so no rule has it


class NormalizedText(NamedTuple):
    """The M characters of normalized texts.

    Of `a<s>b`, where `<s>` has the id 7: `part = [1, 2, 2, 2, 3]`, `ids = [-1, 7, -1, -1, -1]` and
    `inside = [F, T, T, T, F]`.

    Attributes:
        points: int32 `[M]`, the code points.
        source: int32 `[M]`, the character of the texts that each one comes from.
        begins: int32 `[M]`, the same, but at the first character of a special token that one of
            the texts where the token begins without the white space before it.
        ends: int32 `[M]`, the last character of the texts that each one comes from.
        part: int32 `[M]`, the number of the special token or of what is between two of them.
        ids: int32 `[M]`, the id of a special token at its first character; -1 elsewhere.
        inside: bool `[M]`, whether a character is in a special token.
    """

    points: tf.Tensor
    source: tf.Tensor
    begins: tf.Tensor
    ends: tf.Tensor
    part: tf.Tensor
    ids: tf.Tensor
    inside: tf.Tensor

    def with_stand_ins(self) -> "NormalizedText":
        """Returns the K characters with one in place of each special token."""
        kept = cp.int32(tf.where(~self.inside | (self.ids >= 0))[:, 0])  # [K] of [M]
        last = tf.pad(kept, [[0, 1]], constant_values=tf.size(self.points))[1:] - 1
        result = NormalizedText(*(tf.gather(field, kept) for field in self))
        return result._replace(
            points=tf.where(result.inside, STAND_IN, result.points), ends=tf.gather(self.ends, last)
        )

    def words(
        self, begins: tf.Tensor, trimmed: bool = False, numbers: tf.Tensor | None = None
    ) -> Words:
        """Returns the words of texts with stand-ins.

        Args:
            begins: bool `[K]`, True at the first character of each word.
            trimmed: bool. Whether a special token begins after its white space. Default: False.
            numbers: int32 `[K]`, as in `Words`; None for a number for each word. Default: None.
        """
        first = cp.int32(tf.where(begins)[:, 0])  # [V]
        return Words(
            first,
            tf.pad(first, [[0, 1]], constant_values=tf.size(self.points))[1:] - 1,
            begins=self.begins if trimmed else self.source,
            ends=self.ends,
            special=tf.gather(self.ids, first),
            numbers=None if numbers is None else tf.gather(numbers, first),
        )


def normalized_text(
    text: cp.CodePoints, special_tokens: SpecialTokens, steps: Sequence[Normalizer]
) -> NormalizedText:
    """Normalizes what is between special tokens, and finds the tokens of normalized text in it.

    Args:
        text: `CodePoints`.
        special_tokens: `SpecialTokens`.
        steps: The normalizers, applied one after the other.
    """
    with tf.init_scope():
        given, normalized = special_tokens.divided(lambda string: _normalized(string, steps))
    special = given.find(text)  # [N]
    points = tf.where(special.inside, INERT, text.points)
    part = tf.cumsum(cp.int32(_part_begins(text, special)))
    characters = cp.Characters(points, tf.range(tf.size(points)), part)
    for step in steps:
        characters = step(characters)
    points, source, part = characters
    # The tokens of normalized text; searchsorted gives the first character of a part.
    index = tf.range(tf.size(part)) - tf.searchsorted(part, part)  # [M]
    parts = cp.CodePoints(points, part, index, text.num_rows)
    later = normalized.find(parts)
    return NormalizedText(
        tf.where(later.inside, INERT, points),
        source,
        tf.gather(tf.gather(special.begins, source), later.begins),
        source,
        tf.cumsum(cp.int32(_part_begins(parts, later))),
        tf.maximum(tf.gather(special.ids, source), later.ids),
        tf.gather(special.inside, source) | later.inside,
    )


def _normalized(string: str, steps: Sequence[Normalizer]) -> str:
    text = cp.CodePoints.of([string])
    characters = cp.Characters(text.points, text.index, text.row)
    for step in steps:
        characters = step(characters)
    return "".join(map(chr, characters.points.numpy()))


def _part_begins(text: cp.CodePoints, special: SpecialMatches) -> tf.Tensor:
    """Returns True at the first character of a text, a special token or what follows one, [N]."""
    edge = special.inside != cp.neighbours(special.inside, -1)
    return (text.index == 0) | special.first | edge
