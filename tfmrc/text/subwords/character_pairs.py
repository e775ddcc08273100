"""SentencePiece's byte pair encoding of characters, as `tokenizers` computes it for Gemma."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tfmrc.text import code_points as cp
from tfmrc.text.subwords.byte_pairs import BytePairs
from tfmrc.text.subwords.normalized_text import normalized_text
from tfmrc.text.subwords.special_tokens import SpecialTokens
from tfmrc.text.subwords.text_pieces import TextPieces, cut_words
from tfmrc.text.typing import TensorLike

FILE_NAME = "character_pairs.json"
META_SPACE = ord("▁")
REPLACE_SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}


class CharacterPairs(BytePairs):
    """Splits texts by byte pair encoding of characters, with bytes for characters that are unknown.

    Gemma and mmBERT have such pieces. Spaces become `▁`, and what is between special tokens is
    merged as a whole. Here it is divided first where no merge could join the two characters, which
    gives the same pieces.

    The words of a text, which `tokenizers` does not divide, begin with `▁`.

    Args:
        vocabulary: dict from piece to id.
        merges: iterable of str. Pairs of pieces `"a b"`, by rank.

    Raises:
        ValueError: If a byte has no piece, or a merge joins bytes.

    Example:
        >>> from tfmrc.text.subwords.character_pairs import CharacterPairs
        >>> ids = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"o": 256, "w": 257, "ow": 258}
        >>> CharacterPairs(ids, ["o w"]).cut(["owl"], [False]).to_list()
        [[258, 108]]

    Reference: Sennrich et al. 2016; Kudo and Richardson 2018.
    """

    kind = "character_pairs"

    def __init__(self, vocabulary: Mapping[str, int], merges: Iterable[str]):
        super().__init__(vocabulary, merges, normalizer=REPLACE_SPACES, trim_offsets=False)
        names = [f"<0x{byte:02X}>" for byte in range(256)]
        pairs = [merge.split(" ") for merge in self.merges]
        if not self._ids.keys() >= set(names) or {*names} & {part for p in pairs for part in p}:
            raise ValueError("A vocabulary must have all bytes (<0x00>), which no merge joins.")
        characters = np.full(cp.NUM_CODES, -1, np.int32)
        for piece, index in self._ids.items():
            if len(piece) == 1:
                characters[ord(piece)] = index
            self._sizes[index] = len(piece.encode())
        self._byte_ids = np.array([self._ids[name] for name in names], np.int32)
        self._sizes[self._byte_ids] = 1
        self._characters = cp.CodePointTable(characters)
        joined = {ord(left[-1]) * cp.NUM_CODES + ord(right[0]) for left, right in pairs}
        with tf.init_scope():
            self._joined = tf.constant([*sorted(joined), np.iinfo(np.int64).max], tf.int64)

    def tokenize(self, texts: TensorLike, special_tokens: SpecialTokens) -> TextPieces:
        text = cp.CodePoints.of(texts)
        given = normalized_text(text, special_tokens, self._steps).with_stand_ins()  # [K]
        before = cp.neighbours(given.points, -1, -1)
        edge = given.part != cp.neighbours(given.part, -1, -1)
        key = tf.cast(before, tf.int64) * cp.NUM_CODES + tf.cast(given.points, tf.int64)
        is_joined = tf.gather(self._joined, tf.searchsorted(self._joined, key)) == key
        # A word of a text begins with a special token, or with the first `▁` of several.
        new_word = edge | ((given.points == META_SPACE) & (before != META_SPACE))
        words = given.words(edge | ~is_joined, numbers=tf.cumsum(cp.int32(new_word)))
        return cut_words(text, given.points, words, self._cut)

    def _cut(self, strings: tf.Tensor) -> tuple[tf.RaggedTensor, ...]:
        """Returns the pieces of strings `[U]`, and their first and last bytes, ragged `[U, ..]`."""
        codes = tf.strings.unicode_decode(strings, "UTF-8")  # ragged [U, ..]
        ids, sizes = self._characters.lookup(codes.values), cp.code_point_sizes(codes.values)  # [C]
        letters = tf.strings.bytes_split(strings).values
        bytes_ids = tf.gather(
            self._byte_ids, tf.cast(tf.reshape(tf.io.decode_raw(letters, tf.uint8), [-1]), tf.int32)
        )
        # A known character is one piece, another one as many as it has bytes, [S].
        counts = tf.where(ids >= 0, 1, sizes)
        origin = tf.repeat(tf.range(tf.size(ids)), counts)
        number = tf.range(tf.size(origin)) - tf.gather(tf.cumsum(counts) - counts, origin)
        byte = tf.gather(tf.cumsum(sizes) - sizes, origin) + number
        known = tf.gather(ids, origin)
        first = tf.RaggedTensor.from_value_rowids(
            tf.where(known >= 0, known, tf.gather(bytes_ids, byte)),
            tf.gather(codes.value_rowids(), origin),
            codes.nrows(),
            validate=False,
        )
        return self._merges.pieces(first, self._sizes)

    def get_config(self) -> dict[str, Any]:
        return {}

    def save_assets(self, folder: Path) -> None:
        parts = {"vocabulary": self.vocabulary, "merges": self.merges}
        (folder / FILE_NAME).write_text(json.dumps(parts, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def from_assets(cls, folder: Path, **config: Any) -> "CharacterPairs":
        return cls(**json.loads((folder / FILE_NAME).read_text(encoding="utf-8")))
