"""Byte pair encoding of GPT-2 and RoBERTa, by graph operations, as `tokenizers` computes it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tfmrc.text import code_points as cp
from tfmrc.text.lines import read_lines, write_lines
from tfmrc.text.subwords.pieces import Pieces
from tfmrc.text.subwords.special_tokens import SpecialTokens
from tfmrc.text.subwords.text_pieces import TextPieces, Words, cut_words
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
    no known pair remains. All words are merged in parallel, one pair per word and step. A lookup
    table in the graph maps two ids to the rank of their merge.

    Args:
        vocabulary: dict from piece to id. Pieces are written in GPT-2's printable form of bytes.
        merges: iterable of str. Pairs of pieces `"a b"`, by rank.
        unknown: str. Piece of a byte that is not in the vocabulary. Default: `"<unk>"`.

    Raises:
        KeyError: If a merge is not in the vocabulary.

    Example:
        >>> from tfmrc.text.subwords.byte_pairs import BytePairs
        >>> pieces = BytePairs({"<unk>": 0, "o": 1, "w": 2, "l": 3, "ow": 4, "Ġ": 5}, ["o w"])
        >>> pieces.cut(["owl", "owl"], [False, True]).to_list()
        [[4, 3], [5, 4, 3]]

    Reference: Sennrich et al. 2016; Radford et al. 2019 (bytes).
    """

    kind = "byte_pairs"

    def __init__(
        self, vocabulary: Mapping[str, int], merges: Iterable[str], unknown: str = "<unk>"
    ):
        super().__init__(vocabulary, 1 + max(vocabulary.values()))
        self.merges = tuple(m for m in merges if m and not m.startswith("#version:"))
        self.unknown = unknown
        other = self._ids.get(unknown, 0)
        self._byte_ids = np.array([self._ids.get(c, other) for c in byte_characters()], np.int32)
        keys, merged = [], []
        for merge in self.merges:
            left, _, right = merge.partition(" ")
            keys.append(self._ids[left] * self._size + self._ids[right])
            merged.append(self._ids[left + right])
        self._merged = np.array(merged or [0], np.int32)
        self._no_rank = len(keys)
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
        with tf.init_scope():
            self._ranks = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    tf.constant(keys or [-2], tf.int64), tf.range(max(len(keys), 1), dtype=tf.int64)
                ),
                default_value=self._no_rank,
            )

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
        pieces = tf.RaggedTensor.from_tensor(self._merge(ids.to_tensor(-1)), padding=-1)
        # The last byte of a piece: the sum of sizes up to it, less those of earlier strings.
        sizes = tf.gather(self._sizes, pieces.values)
        ends = tf.cumsum(sizes)
        before = tf.gather(tf.pad(ends, [[1, 0]]), pieces.row_starts())  # [U]
        ends -= tf.gather(before, pieces.value_rowids())
        return pieces, pieces.with_values(ends - sizes), pieces.with_values(ends)

    def tokenize(self, texts: TensorLike, special_tokens: SpecialTokens) -> TextPieces:
        """Returns the subwords of whole texts.

        The offsets of a piece leave out its spaces at both ends, and cover whole characters, even
        if it has only some of their bytes.
        """
        text = cp.CodePoints.of(texts)
        special = special_tokens.find(text)
        points, source, row = special.stand_ins(text)  # [M]
        is_special = tf.gather(special.first, source)
        begins = self._word_begins(points, row, is_special)
        first = tf.cast(tf.where(begins)[:, 0], tf.int32)  # [V]
        last = tf.pad(first, [[0, 1]], constant_values=tf.size(points))[1:] - 1
        words = Words(
            first,
            last,
            begins=tf.gather(special.begins, source),
            ends=tf.gather(special.ends, source),
            special=tf.gather(special.ids, tf.gather(source, first)),
        )
        return self._trimmed(cut_words(text, points, words, self._cut))

    def _word_begins(self, points: tf.Tensor, row: tf.Tensor, is_special: tf.Tensor) -> tf.Tensor:
        """Returns True at the first character of each word, bool `[M]`."""
        kind = tf.where(is_special, -1, self._classes.lookup(points))
        # Parts of a text between special tokens are separate texts.
        edge = row != cp.neighbours(row, -1, -1)
        edge |= is_special | cp.neighbours(is_special, -1)
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

    def _merge(self, ids: tf.Tensor) -> tf.Tensor:
        """Merges pairs in int32 `[U, L]`, padded with -1, until no known pair remains.

        Two ids are packed into one key of the table of ranks, `left * size + right`: with 6 ids
        the pair (1, 2) has the key 8. With the merge `o w` at rank 0, `[o, w, l, -1]` becomes
        `[ow, l, -1, -1]` in one step: what follows the pair moves up by one column.
        """
        positions = tf.range(tf.shape(ids)[1])  # [L]

        def best_pair(ids):
            left, right = ids[:, :-1], ids[:, 1:]  # [U, L - 1]
            key = tf.cast(left, tf.int64) * self._size + tf.cast(right, tf.int64)
            rank = self._ranks.lookup(
                tf.where(right >= 0, key, tf.constant(-1, tf.int64))
            )  # [U, L-1]
            # One additional column, so that argmin is defined for words of one byte.
            rank = tf.pad(rank, [[0, 0], [0, 1]], constant_values=self._no_rank)
            return tf.argmin(rank, axis=1, output_type=tf.int32), tf.reduce_min(rank, axis=1)

        def step(ids, best, rank):
            known = (rank < self._no_rank)[:, None]  # [U, 1]
            merged = tf.gather(self._merged, tf.minimum(rank, len(self._merged) - 1))[:, None]
            best = best[:, None]
            shift = tf.cast(known & (positions > best), tf.int32)
            padded = tf.pad(ids, [[0, 0], [0, 1]], constant_values=-1)
            moved = tf.gather(padded, positions + shift, batch_dims=1)
            ids = tf.where(known & (positions == best), merged, moved)
            return (ids, *best_pair(ids))

        start = (ids, *best_pair(ids))
        return tf.while_loop(
            lambda ids, best, rank: tf.reduce_any(rank < self._no_rank),
            step,
            start,
            shape_invariants=(
                tf.TensorShape([None, None]),
                tf.TensorShape([None]),
                tf.TensorShape([None]),
            ),
        )[0]

    def get_config(self) -> dict[str, Any]:
        return {"unknown": self.unknown}

    def save_assets(self, folder: Path) -> None:
        text = json.dumps(self.vocabulary, ensure_ascii=False)
        (folder / VOCABULARY_FILE).write_text(text, encoding="utf-8")
        write_lines(folder / MERGES_FILE, self.merges)

    @classmethod
    def from_assets(cls, folder: Path, **config: Any) -> "BytePairs":
        vocabulary = json.loads((folder / VOCABULARY_FILE).read_bytes())
        return cls(vocabulary, read_lines(folder / MERGES_FILE), **config)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.vocabulary, tuple(self.merges), self.unknown)


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
