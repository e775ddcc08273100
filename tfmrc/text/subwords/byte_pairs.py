"""Byte pair encoding of GPT-2 and RoBERTa, by graph operations, as `tokenizers` computes it."""

import json
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tfmrc.text import code_points as cp
from tfmrc.text.lines import read_lines, write_lines
from tfmrc.text.subwords.merges import Merges
from tfmrc.text.subwords.normalized_text import normalized_text
from tfmrc.text.subwords.normalizers import normalizers_of
from tfmrc.text.subwords.pieces import Pieces
from tfmrc.text.subwords.special_tokens import SpecialTokens
from tfmrc.text.subwords.text_pieces import TextPieces, cut_words
from tfmrc.text.typing import TensorLike

VOCABULARY_FILE = "vocab.json"
MERGES_FILE = "merges.txt"
OTHER, LETTER, NUMBER, SPACE = range(4)
CONTRACTIONS = ("s", "t", "re", "ve", "m", "ll", "d")


class BytePairs(Pieces):
    """Splits words or whole texts by byte pair encoding.

    A word is a run of letters, of numbers or of other characters, with at most one space before
    it; an English contraction after an apostrophe; or white space. The classes of characters are
    measured from the package `tokenizers` (`tools/code_points.py`).

    A word is a sequence of bytes. The neighbouring pair with the lowest merge rank is merged until
    no known pair remains.

    Args:
        vocabulary: dict from piece to id. Pieces are written in GPT-2's printable form of bytes.
        merges: iterable of str. Pairs of pieces `"a b"`, by rank.
        unknown: str. Piece of a byte that is not in the vocabulary. Default: `"<unk>"`.
        normalizer: dict or None. The value in `tokenizer.json`. Default: None.
        trim_offsets: bool. Whether offsets leave out the spaces at both ends of a piece, as those
            of RoBERTa do. Default: True.

    Raises:
        KeyError: If a merge is not in the vocabulary.
        ValueError: If the normalizer is not supported.

    Example:
        >>> from tfmrc.text.subwords.byte_pairs import BytePairs
        >>> pieces = BytePairs({"<unk>": 0, "o": 1, "w": 2, "l": 3, "ow": 4, "Ġ": 5}, ["o w"])
        >>> pieces.cut(["owl", "owl"], [False, True]).to_list()
        [[4, 3], [5, 4, 3]]

    Reference: Sennrich et al. 2016; Radford et al. 2019 (bytes).
    """

    kind = "byte_pairs"

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        merges: Iterable[str],
        unknown: str = "<unk>",
        normalizer: Mapping[str, Any] | None = None,
        trim_offsets: bool = True,
    ):
        super().__init__(vocabulary, 1 + max(vocabulary.values()))
        self.merges = tuple(m for m in merges if m and not m.startswith("#version:"))
        self.unknown = unknown
        self.trim_offsets = trim_offsets
        self.keeps_spaces = not trim_offsets
        # As text, because a module would wrap its dicts and lists.
        self._normalizer = json.dumps(normalizer)
        self._steps = tuple(normalizers_of(normalizer))
        other = self._ids.get(unknown, 0)
        self._byte_ids = np.array([self._ids.get(c, other) for c in byte_characters()], np.int32)
        self._merges = Merges(self._ids, self.merges)
        self._ranks = self._merges.ranks  # which the module tracks
        classes = np.zeros(cp.NUM_CODES, np.int32)
        classes[cp.having("letters")] = LETTER
        classes[cp.having("numbers")] = NUMBER
        classes[cp.white_space()] = SPACE
        self._classes = cp.CodePointTable(classes)
        # Of each piece the number of bytes, and of spaces at both ends; the last row is for ids of
        # special tokens beyond the vocabulary.
        space = byte_characters()[ord(" ")]
        self._sizes, self._leading, self._trailing = np.zeros((3, self._size + 1), np.int32)
        for piece, index in self._ids.items():
            self._sizes[index] = len(piece)
            self._leading[index] = len(piece) - len(piece.lstrip(space))
            self._trailing[index] = len(piece) - len(piece.rstrip(space))
        if unknown in self._ids:  # which stands for one byte
            self._sizes[self._ids[unknown]] = 1

    def cut(self, words: TensorLike, spaced: TensorLike) -> tf.RaggedTensor:
        texts = tf.strings.join([tf.where(spaced, " ", ""), tf.convert_to_tensor(words, tf.string)])
        return self.tokenize(texts, SpecialTokens()).ids

    def _cut(self, strings: tf.Tensor) -> tuple[tf.RaggedTensor, ...]:
        """Returns the pieces of strings `[U]`, and their first and last bytes, ragged `[U, ..]`.

        The bytes of a string, which is merged as a whole, are the first pieces.
        """
        letters = tf.strings.bytes_split(strings)  # ragged [U, ..]
        codes = tf.reshape(tf.io.decode_raw(letters.values, tf.uint8), [-1])
        ids = letters.with_values(tf.gather(self._byte_ids, tf.cast(codes, tf.int32)))
        return self._merges.pieces(ids, self._sizes)

    def tokenize(self, texts: TensorLike, special_tokens: SpecialTokens) -> TextPieces:
        """Returns the subwords of whole texts.

        The offsets of a piece cover whole characters, even if it has only some of their bytes.
        """
        text = cp.CodePoints.of(texts)
        given = normalized_text(text, special_tokens, self._steps).with_stand_ins()  # [K]
        words = given.words(
            self._word_begins(given.points, given.part, given.inside), self.trim_offsets
        )
        pieces = cut_words(text, given.points, words, self._cut)
        return self._trimmed(pieces) if self.trim_offsets else pieces

    def _word_begins(self, points: tf.Tensor, part: tf.Tensor, is_special: tf.Tensor) -> tf.Tensor:
        """Returns True at the first character of each word, bool `[K]`."""
        kind = tf.where(is_special, -1, self._classes.lookup(points))
        # Parts of a text between special tokens are separate texts.
        edge = part != cp.neighbours(part, -1, -1)
        previous = tf.where(edge, -1, cp.neighbours(kind, -1, -1))
        following = tf.where(cp.neighbours(edge, 1, True), -1, cp.neighbours(kind, 1, -1))
        begins = edge | (kind != previous)

        # === Spaces: the last one of a run is separate, or begins the next word if it is " " ===
        begins |= (kind == SPACE) & (following >= 0) & (following != SPACE)
        begins &= edge | (kind == SPACE) | (cp.neighbours(points, -1, -1) != ord(" "))

        # === Contractions: at the start of a word without a space; the word ends after them ===
        starts = begins & (points == ord("'")) & ~is_special
        for ending in CONTRACTIONS:
            match = starts
            for step, letter in enumerate(ending, 1):
                match &= cp.neighbours(points, step, -1) == ord(letter)
                match &= ~cp.neighbours(edge, step, True)
            for step in range(1, len(ending) + 1):
                begins &= ~cp.neighbours(match, -step)
            begins |= cp.neighbours(match, -len(ending) - 1)
        return begins

    def _trimmed(self, pieces: TextPieces) -> TextPieces:
        """Leaves out the spaces at both ends of each piece."""
        ids, starts, ends = pieces.ids.values, pieces.starts.values, pieces.ends.values
        ids = tf.minimum(ids, self._size)
        leading, trailing = tf.gather(self._leading, ids), tf.gather(self._trailing, ids)
        starts = tf.minimum(starts + leading, ends)
        shorter = tf.maximum(ends - trailing, starts)
        ends = tf.where((trailing > 0) & (ends >= trailing), shorter, ends)
        return pieces._replace(
            starts=pieces.starts.with_values(starts), ends=pieces.ends.with_values(ends)
        )

    @property
    def vocabulary(self) -> dict[str, int]:
        """The ids of the pieces."""
        return dict(self._ids)

    def get_config(self) -> dict[str, Any]:
        return {
            "unknown": self.unknown,
            "normalizer": json.loads(self._normalizer),
            "trim_offsets": self.trim_offsets,
        }

    def save_assets(self, folder: Path) -> None:
        text = json.dumps(self.vocabulary, ensure_ascii=False)
        (folder / VOCABULARY_FILE).write_text(text, encoding="utf-8")
        write_lines(folder / MERGES_FILE, self.merges)

    @classmethod
    def from_assets(cls, folder: Path, **config: Any) -> "BytePairs":
        vocabulary = json.loads((folder / VOCABULARY_FILE).read_bytes())
        return cls(vocabulary, read_lines(folder / MERGES_FILE), **config)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.get_config()), (self.vocabulary, tuple(self.merges))


def byte_characters() -> list[str]:
    """Returns the printable characters that represent the 256 bytes in GPT-2's files.

    Example:
        >>> from tfmrc.text.subwords.byte_pairs import byte_characters
        >>> byte_characters()[ord(" ")], byte_characters()[ord("a")]
        ('Ġ', 'a')
    """
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1)}
    printable |= set(range(ord("®"), ord("ÿ") + 1))
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]
