"""Byte pair encoding of GPT-2 and RoBERTa, by graph operations."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text

from tfmrc.text.special_tokens import SpecialTokens

if TYPE_CHECKING:
    from tfmrc.text.byte_level_text import ByteLevelText

VOCABULARY_FILE = "vocab.json"
MERGES_FILE = "merges.txt"

# The pre-tokenization pattern of GPT-2, for one word with at most one space before it.
_SPLIT = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+"


class BytePairs(tf.Module):
    """Splits words by byte pair encoding.

    A word is a sequence of bytes. The neighbouring pair with the lowest merge rank is merged until
    no known pair remains. A preceding space belongs to the word; the first word of a text has
    none. All words are merged in parallel, one pair per word and step. A lookup table in the graph
    maps two ids to the rank of their merge.

    Args:
        vocabulary: dict from piece to id. Pieces are written in GPT-2's printable form of bytes.
        merges: iterable of str. Pairs of pieces `"a b"`, by rank.
        unknown: str. Piece of a byte that is not in the vocabulary. Default: `"<unk>"`.

    Raises:
        ValueError: A merge is not in the vocabulary.

    Example:
        >>> from tfmrc.text.byte_pairs import BytePairs
        >>> pieces = BytePairs({"<unk>": 0, "o": 1, "w": 2, "l": 3, "ow": 4, "Ġ": 5}, ["o w"])
        >>> pieces.cut(["owl", "owl"], [False, True]).to_list()
        [[4, 3], [5, 4, 3]]

    Reference: Sennrich et al. 2016; Radford et al. 2019 (bytes).
    """

    kind = "byte_pairs"
    first_is_spaced = False

    def __init__(
        self, vocabulary: Mapping[str, int], merges: Iterable[str], unknown: str = "<unk>"
    ):
        super().__init__(name=self.kind)
        self._ids = dict(vocabulary)
        self._merges = tuple(m for m in merges if m and not m.startswith("#version:"))
        self.unknown = unknown
        self._size = 1 + max(self._ids.values())
        other = self._ids.get(unknown, 0)
        self._byte_ids = np.array([self._ids.get(c, other) for c in byte_characters()], np.int32)
        keys, merged = [], []
        for merge in self._merges:
            left, _, right = merge.partition(" ")
            if not {left, right, left + right} <= self._ids.keys():
                raise ValueError(
                    "The parts and the result of a merge must be in the vocabulary. "
                    f"Received: merge={merge!r}"
                )
            keys.append(self._ids[left] * self._size + self._ids[right])
            merged.append(self._ids[left + right])
        self._merged = np.array(merged or [0], np.int32)
        self._no_rank = len(keys)
        with tf.init_scope():
            self._ranks = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    tf.constant(keys or [-2], tf.int64),
                    tf.range(max(len(keys), 1), dtype=tf.int64),
                ),
                default_value=self._no_rank,
            )

    def cut(self, words: Any, spaced: Any) -> tf.RaggedTensor:
        """Splits words into pieces.

        Args:
            words: string `[N]`.
            spaced: bool `[N]`, whether a space precedes the word.

        Returns:
            int32 ragged `[N, pieces]`.
        """
        words = tf.convert_to_tensor(words, tf.string)
        text = tf.strings.join([tf.where(spaced, " ", ""), words])
        parts = tf_text.regex_split(text, _SPLIT, _SPLIT)
        return parts.with_values(self.cut_strings(parts.values)).merge_dims(1, 2)

    def cut_strings(self, strings: tf.Tensor) -> tf.RaggedTensor:
        """Merges the bytes of strings `[N]`, each as a whole, to pieces, int32 ragged `[N, ..]`."""
        letters = tf.strings.bytes_split(strings)
        codes = tf.io.decode_raw(letters.values, tf.uint8)
        codes = tf.reshape(tf.cast(codes, tf.int32), [-1])
        ids = letters.with_values(tf.gather(self._byte_ids, codes)).to_tensor(-1)
        return tf.RaggedTensor.from_tensor(self._merge(ids), padding=-1)

    @property
    def vocabulary(self) -> dict[str, int]:
        """The ids of the pieces."""
        return dict(self._ids)

    def _merge(self, ids: tf.Tensor) -> tf.Tensor:
        """Merges pairs in int32 `[N, L]`, padded with -1, until no known pair remains."""
        positions = tf.range(tf.shape(ids)[1])

        def best_pair(ids):
            left, right = ids[:, :-1], ids[:, 1:]
            key = tf.cast(left, tf.int64) * self._size + tf.cast(right, tf.int64)
            rank = self._ranks.lookup(tf.where(right >= 0, key, tf.constant(-1, tf.int64)))
            # One additional column, so that argmin is defined for words of one byte.
            rank = tf.pad(rank, [[0, 0], [0, 1]], constant_values=self._no_rank)
            return tf.argmin(rank, axis=1, output_type=tf.int32), tf.reduce_min(rank, axis=1)

        def step(ids, best, rank):
            known = (rank < self._no_rank)[:, None]
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

    @property
    def merges(self) -> tuple[str, ...]:
        """The pairs of pieces, by rank."""
        return self._merges

    def text_tokenizer(self, special_tokens: SpecialTokens) -> "ByteLevelText":
        """Returns the tokenizer of whole texts with these pieces."""
        from tfmrc.text.byte_level_text import ByteLevelText

        return ByteLevelText(self, special_tokens)

    def id_of(self, piece: str) -> int:
        """Returns the id of a piece. Raises KeyError if there is none."""
        return self._ids[piece]

    def __len__(self) -> int:
        """Returns the number of ids."""
        return self._size

    def get_config(self) -> dict[str, Any]:
        """Returns the configuration; `save_assets` saves vocabulary and merges."""
        return {"unknown": self.unknown}

    def save_assets(self, folder: str | Path) -> None:
        """Writes `vocab.json` and `merges.txt`."""
        folder = Path(folder)
        text = json.dumps(dict(self._ids), ensure_ascii=False)
        (folder / VOCABULARY_FILE).write_text(text, encoding="utf-8")
        text = "".join(f"{merge}\n" for merge in self._merges)
        (folder / MERGES_FILE).write_text(text, encoding="utf-8", newline="\n")

    @classmethod
    def from_assets(cls, folder: str | Path, **config: Any) -> "BytePairs":
        """Loads the pieces from a folder of `save_assets`."""
        folder = Path(folder)
        vocabulary = json.loads((folder / VOCABULARY_FILE).read_text(encoding="utf-8"))
        merges = (folder / MERGES_FILE).read_text(encoding="utf-8").split("\n")
        return cls(vocabulary, [merge.removesuffix("\r") for merge in merges], **config)


def byte_characters() -> list[str]:
    """Returns the printable characters that represent the 256 bytes in GPT-2's files.

    Example:
        >>> from tfmrc.text.byte_pairs import byte_characters
        >>> byte_characters()[ord(" ")], byte_characters()[ord("a")]
        ('Ġ', 'a')
    """
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1)}
    printable |= set(range(ord("®"), ord("ÿ") + 1))
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]
