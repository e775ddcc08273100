"""WordPiece of BERT, by graph operations, as the package `tokenizers` computes it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text

from tfmrc.text.code_points import (
    NUM_CODES,
    Characters,
    CodePoints,
    CodePointTable,
    Replacements,
    decomposed_hangul,
    member,
    tables,
)
from tfmrc.text.subwords.special_tokens import SpecialTokens
from tfmrc.text.subwords.text_pieces import (
    Spelling,
    TextPieces,
    Words,
    assemble,
    spell,
    with_special,
)

FILE_NAME = "vocab.txt"
OTHER, SPACE, SINGLE = range(3)  # a single character is a word
MAX_CHARACTERS = 100  # of a word; a longer one is unknown
# What a code point is to the order of combining marks.
REMOVED, ENDS_STRIPPED, ENDS_KEPT, STRIPPED, KEPT = -1, 1, 2, 3, 4


class WordPieces(tf.Module):
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
        ValueError: `unknown` is not in the vocabulary, or a piece occurs twice.

    Example:
        >>> from tfmrc.text.subwords.word_pieces import WordPieces
        >>> pieces = WordPieces(["[UNK]", "un", "##aff", "##able", "cafe", "!"])
        >>> pieces.cut(["Unaffable", "CAFÉ!", "dog"]).to_list()
        [[1, 2, 3], [4, 5], [0]]

    Reference: Devlin et al. 2019 (BERT); Song et al. 2021, "Fast WordPiece Tokenization".
    """

    kind = "word_pieces"
    first_is_spaced = False

    def __init__(
        self,
        vocabulary: Iterable[str],
        lowercase: bool = True,
        strip_accents: bool | None = None,
        split_ideographs: bool = True,
        unknown: str = "[UNK]",
    ):
        super().__init__(name=self.kind)
        pieces = list(vocabulary)
        self._ids = {word: index for index, word in enumerate(pieces)}
        if unknown not in self._ids or len(self._ids) < len(pieces):
            raise ValueError(
                "The pieces must be different, and the unknown one among them. "
                f"Received: unknown={unknown!r}, {len(pieces)} pieces, {len(self._ids)} different"
            )
        self.lowercase = lowercase
        self.strip_accents = lowercase if strip_accents is None else strip_accents
        self.split_ideographs = split_ideographs
        self.unknown = unknown
        self._replace = Replacements(_replacements(self.lowercase, self.strip_accents))
        kinds = np.zeros(NUM_CODES, np.int32)
        kinds[member(tables()["punctuation"])] = SINGLE
        kinds[32] = SPACE
        self._kinds = CodePointTable(kinds)
        self._ideographs = CodePointTable(member(tables()["ideographs"]))
        self._marks = CodePointTable(_marks())
        with tf.init_scope():
            self._cutter = tf_text.FastWordpieceTokenizer(
                vocab=pieces,
                token_out_type=tf.int32,
                unknown_token=unknown,
                no_pretokenization=True,
                max_bytes_per_word=4 * MAX_CHARACTERS,
            )

    def cut(self, words: Any, spaced: Any = None) -> tf.RaggedTensor:
        """Splits words into pieces.

        Args:
            words: string `[N]`, UTF-8.
            spaced: ignored; BERT does not encode spaces. Default: None.

        Returns:
            int32 ragged `[N, pieces]`; a word of removed characters only has no piece.
        """
        return self._tokenize(CodePoints.of(words), SpecialTokens(())).ids

    def tokenize(self, texts: Any, special_tokens: SpecialTokens) -> TextPieces:
        """Returns the subwords of whole texts.

        Args:
            texts: string `[R]`, UTF-8.
            special_tokens: `SpecialTokens`.

        Raises:
            tf.errors.InvalidArgumentError: A text has combining marks in an order that depends on
                the Unicode version, and accents are removed.
        """
        text = CodePoints.of(texts)
        return self._tokenize(self._checked(text) if self.strip_accents else text, special_tokens)

    def _tokenize(self, text: CodePoints, special_tokens: SpecialTokens) -> TextPieces:
        special = special_tokens.find(text)
        # Of a special token one character stays, which has one piece.
        points = tf.where(special.inside, ord("<"), text.points)
        characters = Characters(points, tf.range(tf.size(points)), text.row)
        points, source, row = self._replace(characters.select(~special.inside | special.first))

        # === Words ===
        kind = self._kinds.lookup(points)
        single = kind == SINGLE
        if self.split_ideographs:  # which are recognised before replacement
            single |= self._ideographs.lookup(tf.gather(text.points, source)) > 0
        inner = kind != SPACE
        in_run = inner & ~single
        joined = in_run[1:] & in_run[:-1] & (row[1:] == row[:-1])
        joined = tf.pad(joined, [[1, 1]])[: tf.size(points) + 1]
        begins = tf.where(inner & ~joined[:-1])[:, 0]
        lasts = tf.where(inner & ~joined[1:])[:, 0]
        words = Words(tf.cast(begins, tf.int32), tf.cast(lasts, tf.int32))

        # === Pieces ===
        spelling = spell(points, words)
        result = assemble(text, source, words, spelling, *self._cut(spelling))
        return with_special(result, text, special)

    def _cut(self, spelling: Spelling) -> tuple[tf.RaggedTensor, ...]:
        """Returns the pieces of the strings, and their first and last bytes."""
        too_long = tf.strings.length(spelling.strings, unit="UTF8_CHAR") > MAX_CHARACTERS
        size = tf.strings.length(spelling.strings)
        cut = tf.where(too_long, self.unknown, spelling.strings)
        pieces, starts, ends = self._cutter.tokenize_with_offsets(cut)
        whole = tf.gather(too_long, ends.value_rowids())
        ends = ends.with_values(
            tf.where(whole, tf.gather(size, ends.value_rowids()), tf.cast(ends.values, tf.int32))
        )
        return pieces, starts, ends

    def _checked(self, text: CodePoints) -> CodePoints:
        """Refuses texts in which Unicode's normalization would exchange a mark that is kept."""
        marks = self._marks.lookup(text.points)
        read = tf.where(marks != REMOVED)[:, 0]
        marks, row = tf.gather(marks, read), tf.gather(text.row, read)
        before, after = marks[:-1], marks[1:]
        pair = (before > 0) & (after == KEPT)
        pair |= ((before == KEPT) | (before == ENDS_KEPT)) & ((after == STRIPPED) | (after == KEPT))
        pair &= row[1:] == row[:-1]
        check = tf.debugging.Assert(
            ~tf.reduce_any(pair),
            [
                "Two combining marks in a row, one of which is kept, are not supported by this "
                "tokenizer: their order depends on the Unicode version. Received: code points ",
                tf.boolean_mask(tf.gather(text.points, read)[1:], pair),
            ],
        )
        with tf.control_dependencies([] if check is None else [check]):
            return text._replace(points=tf.identity(text.points))

    @property
    def vocabulary(self) -> list[str]:
        """The pieces; the index is the id."""
        return list(self._ids)

    def id_of(self, piece: str) -> int:
        """Returns the id of a piece. Raises KeyError if there is none."""
        return self._ids[piece]

    def __len__(self) -> int:
        """Returns the number of pieces."""
        return len(self._ids)

    def get_config(self) -> dict[str, Any]:
        """Returns the configuration; `save_assets` saves the vocabulary."""
        names = ("lowercase", "strip_accents", "split_ideographs", "unknown")
        return {name: getattr(self, name) for name in names}

    def save_assets(self, folder: str | Path) -> None:
        """Writes `vocab.txt`, one piece per line."""
        text = "".join(f"{word}\n" for word in self._ids)
        (Path(folder) / FILE_NAME).write_text(text, encoding="utf-8", newline="\n")

    @classmethod
    def from_assets(cls, folder: str | Path, **config: Any) -> "WordPieces":
        """Loads the pieces from a folder of `save_assets`."""
        return cls(read_lines(Path(folder) / FILE_NAME), **config)


def read_lines(path: Path) -> list[str]:
    """Reads the lines of a vocabulary file; only a line feed ends a line."""
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _marks() -> np.ndarray:
    """Returns for each code point whether it is a combining mark, or decomposed ends with one."""
    stripped, kept = member(tables()["marks"]), member(tables()["combining"])
    result = np.zeros(NUM_CODES, np.int32)
    for code, decomposed in tables()["decompositions"].items():
        last = ord(decomposed[-1])
        result[int(code)] = ENDS_KEPT if kept[last] else ENDS_STRIPPED if stripped[last] else 0
    result[stripped], result[kept] = STRIPPED, KEPT
    result[member(tables()["removed"])] = REMOVED
    return result


def _replacements(lowercase: bool, strip_accents: bool) -> dict[int, str]:
    """Returns the replacement of each code point that does not stay."""
    marks = member(tables()["marks"])
    lower = {int(code): text for code, text in tables()["lowercase"].items()} if lowercase else {}
    changed = set(lower)
    decomposed: dict[int, str] = {}
    if strip_accents:
        decomposed = {int(code): text for code, text in tables()["decompositions"].items()}
        decomposed |= decomposed_hangul()
        changed |= {*decomposed, *np.flatnonzero(marks).tolist()}
    result = {}
    for code in changed:
        text = decomposed.get(code, chr(code))
        if strip_accents:
            text = "".join(c for c in text if not marks[ord(c)])
        result[code] = "".join(lower.get(ord(character), character) for character in text)
    result |= dict.fromkeys(np.flatnonzero(member(tables()["spaces"])).tolist(), " ")
    return result | dict.fromkeys(np.flatnonzero(member(tables()["removed"])).tolist(), "")
