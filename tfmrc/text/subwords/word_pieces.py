"""WordPiece of BERT, by graph operations, as the package `tokenizers` computes it."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text

from tfmrc.text import code_points as cp
from tfmrc.text.checks import checked
from tfmrc.text.lines import read_lines, write_lines
from tfmrc.text.subwords.pieces import Pieces
from tfmrc.text.subwords.special_tokens import SpecialTokens
from tfmrc.text.subwords.text_pieces import TextPieces, Words, cut_words
from tfmrc.text.typing import TensorLike

FILE_NAME = "vocab.txt"
OTHER, SPACE, SINGLE = range(3)  # a single character is a word
MAX_WORD_LENGTH = 100  # of a word; a longer one is unknown
# What a code point is to the order of combining marks.
REMOVED, ENDS_STRIPPED, ENDS_KEPT, STRIPPED, KEPT = -1, 1, 2, 3, 4


class WordPieces(Pieces):
    """Splits words or whole texts into the pieces of a WordPiece vocabulary.

    Each character is replaced by zero or more characters (controls removed, spaces unified,
    accents removed, lower case), words end at spaces, ideographs and punctuation marks, and each
    word is split greedily into the longest known pieces. A word that cannot be split is unknown.
    The tables of these rules are measured from the package `tokenizers`
    (`tools/code_points.py`), so that ids and offsets are the same for every text.

    Args:
        vocabulary: iterable of str. The pieces; the index is the id.
        lowercase: bool. Whether to convert words to lower case. Default: True.
        strip_accents: bool. Whether to remove accents. Default: None, the value of `lowercase`.
        split_ideographs: bool. Whether Chinese characters are separate words. Default: True.
        unknown: str. Piece of a word that cannot be split. Default: `"[UNK]"`.

    Raises:
        ValueError: If `unknown` is not in the vocabulary, or a piece occurs twice.

    Example:
        >>> from tfmrc.text.subwords.word_pieces import WordPieces
        >>> pieces = WordPieces(["[UNK]", "un", "##aff", "##able", "cafe", "!"])
        >>> pieces.cut(["Unaffable", "CAFÉ!", "dog"]).to_list()
        [[1, 2, 3], [4, 5], [0]]

    Reference: Devlin et al. 2019 (BERT); Song et al. 2021, "Fast WordPiece Tokenization".
    """

    kind = "word_pieces"

    def __init__(
        self,
        vocabulary: Iterable[str],
        lowercase: bool = True,
        strip_accents: bool | None = None,
        split_ideographs: bool = True,
        unknown: str = "[UNK]",
    ):
        pieces = list(vocabulary)
        super().__init__({word: index for index, word in enumerate(pieces)}, len(pieces))
        if unknown not in self._ids or len(self._ids) < len(pieces):
            raise ValueError(
                "The pieces must be different, and the unknown one among them. "
                f"Received: unknown={unknown!r}, {len(pieces)} pieces, {len(self._ids)} different"
            )
        self.lowercase = lowercase
        self.strip_accents = lowercase if strip_accents is None else strip_accents
        self.split_ideographs = split_ideographs
        self.unknown = unknown
        self._replace = cp.Replacements(_replacements(self.lowercase, self.strip_accents))
        kinds = np.zeros(cp.NUM_CODES, np.int32)
        kinds[cp.having("punctuation")] = SINGLE
        kinds[32] = SPACE
        self._kinds = cp.CodePointTable(kinds)
        self._ideographs = cp.CodePointTable(cp.having("ideographs"))
        self._marks = cp.CodePointTable(_marks())
        with tf.init_scope():
            self._cutter = tf_text.FastWordpieceTokenizer(
                vocab=pieces,
                token_out_type=tf.int32,
                unknown_token=unknown,
                no_pretokenization=True,
                max_bytes_per_word=4 * MAX_WORD_LENGTH,
            )

    def cut(self, words: TensorLike, spaced: TensorLike | None = None) -> tf.RaggedTensor:
        """Splits words into pieces; BERT does not encode spaces.

        A word of which BERT's normalizer removes all characters has no piece.
        """
        return self._tokenize(cp.CodePoints.of(words), SpecialTokens()).ids

    def tokenize(self, texts: TensorLike, special_tokens: SpecialTokens) -> TextPieces:
        text = cp.CodePoints.of(texts)
        return self._tokenize(
            self._check_marks(text) if self.strip_accents else text, special_tokens
        )

    def _tokenize(self, text: cp.CodePoints, special_tokens: SpecialTokens) -> TextPieces:
        special = special_tokens.find(text)
        points, source, row = self._replace(special.stand_ins(text))  # [M]

        # === Words ===
        kind = self._kinds.lookup(points)
        single = kind == SINGLE
        if self.split_ideographs:  # which are recognised before replacement
            single |= self._ideographs.lookup(tf.gather(text.points, source))
        inner = kind != SPACE
        in_run = inner & ~single
        # True where a character is in one word with the one before it: of "ab !c" at the b.
        joined = in_run & cp.neighbours(in_run, -1) & (row == cp.neighbours(row, -1, -1))
        first = tf.cast(tf.where(inner & ~joined)[:, 0], tf.int32)  # [V]
        last = tf.cast(tf.where(inner & ~cp.neighbours(joined, 1))[:, 0], tf.int32)
        special_ids = tf.gather(special.ids, tf.gather(source, first))
        words = Words(first, last, source, tf.gather(special.ends, source), special_ids)

        return cut_words(text, points, words, self._cut)

    def _cut(self, strings: tf.Tensor) -> tuple[tf.RaggedTensor, ...]:
        """Returns the pieces of strings `[U]`, and their first and last bytes, ragged `[U, ..]`."""
        too_long = tf.strings.length(strings, unit="UTF8_CHAR") > MAX_WORD_LENGTH
        cut = tf.where(too_long, self.unknown, strings)
        pieces, starts, ends = self._cutter.tokenize_with_offsets(cut)
        row = ends.value_rowids()
        whole = tf.gather(tf.strings.length(strings), row)
        whole = tf.where(tf.gather(too_long, row), whole, tf.cast(ends.values, tf.int32))
        return pieces, starts, ends.with_values(whole)

    def _check_marks(self, text: cp.CodePoints) -> cp.CodePoints:
        """Refuses texts in which Unicode's normalization would exchange a mark that is kept."""
        marks = self._marks.lookup(text.points)  # [N]
        read = tf.where(marks != REMOVED)[:, 0]  # [M]
        marks, row = tf.gather(marks, read), tf.gather(text.row, read)
        before, after = marks[:-1], marks[1:]
        pair = (before > 0) & (after == KEPT)
        pair |= ((before == KEPT) | (before == ENDS_KEPT)) & ((after == STRIPPED) | (after == KEPT))
        pair &= row[1:] == row[:-1]
        points = checked(
            text.points,
            ~tf.reduce_any(pair),
            "Two combining marks in a row, one of which is kept, are not supported by this "
            "tokenizer: their order depends on the Unicode version. Received: code points ",
            tf.boolean_mask(tf.gather(text.points, read)[1:], pair),
        )
        return text._replace(points=points)

    @property
    def vocabulary(self) -> list[str]:
        """The pieces; the index is the id."""
        return list(self._ids)

    def get_config(self) -> dict[str, Any]:
        names = ("lowercase", "strip_accents", "split_ideographs", "unknown")
        return {name: getattr(self, name) for name in names}

    def save_assets(self, folder: Path) -> None:
        write_lines(folder / FILE_NAME, self.vocabulary)

    @classmethod
    def from_assets(cls, folder: Path, **config: Any) -> "WordPieces":
        return cls(read_lines(folder / FILE_NAME), **config)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.get_config()), (self.vocabulary,)


def _marks() -> np.ndarray:
    """Returns for each code point whether it is a combining mark, or decomposed ends with one."""
    stripped, kept = cp.having("marks"), cp.having("combining")
    result = np.zeros(cp.NUM_CODES, np.int32)
    for code, decomposed in cp.tables()["decompositions"].items():
        last = ord(decomposed[-1])
        result[code] = ENDS_KEPT if kept[last] else ENDS_STRIPPED if stripped[last] else 0
    result[stripped], result[kept] = STRIPPED, KEPT
    result[cp.having("removed")] = REMOVED
    return result


def _replacements(lowercase: bool, strip_accents: bool) -> dict[int, str]:
    """Returns the replacement of each code point that does not stay."""
    marks = cp.having("marks")
    lower = cp.tables()["lowercase"] if lowercase else {}
    decomposed = cp.tables()["decompositions"] if strip_accents else {}
    changed = {*lower, *decomposed, *(np.flatnonzero(marks).tolist() if strip_accents else ())}
    result = {}
    for code in changed:
        text = decomposed.get(code, chr(code))
        if strip_accents:
            text = "".join(c for c in text if not marks[ord(c)])
        result[code] = "".join(lower.get(ord(character), character) for character in text)
    result |= dict.fromkeys(np.flatnonzero(cp.having("spaces")).tolist(), " ")
    return result | dict.fromkeys(np.flatnonzero(cp.having("removed")).tolist(), "")
