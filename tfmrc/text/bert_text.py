"""WordPiece of whole texts with offsets, as the package `tokenizers` computes it."""

from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text

from tfmrc.text.code_points import NUM_CODES, CodePoints, CodePointTable, member, tables
from tfmrc.text.special_tokens import SpecialTokens
from tfmrc.text.text_pieces import Spelling, TextPieces, Words, assemble, spell, with_special

OTHER, SPACE, PUNCTUATION = 0, 1, 2
MAX_CHARACTERS = 100  # of a word; a longer one is unknown
# What a code point is to the order of combining marks.
REMOVED, ENDS_STRIPPED, ENDS_KEPT, STRIPPED, KEPT = -1, 1, 2, 3, 4
_HANGUL, _JAMO = 0xAC00, (0x1100, 0x1161, 0x11A7)
_NUM_VOWELS, _NUM_TAILS, _NUM_HANGUL = 21, 28, 11172


class BertText:
    """Splits texts into the subwords of a WordPiece vocabulary.

    Each character is replaced by zero or more characters (controls removed, spaces unified,
    accents removed, lower case), and words end at spaces, ideographs and punctuation marks. The
    tables of these rules are measured from the package `tokenizers`
    (`tools/code_points.py`), so that ids and offsets are the same for every text.

    Args:
        vocabulary: list of str. The pieces; the index is the id.
        special_tokens: `SpecialTokens`.
        lowercase: bool. Whether to convert to lower case.
        strip_accents: bool. Whether to remove accents.
        split_ideographs: bool. Whether ideographs are words of one character.
        unknown: str. Piece of a word that cannot be split.

    Example:
        >>> from tfmrc.text.bert_text import BertText
        >>> from tfmrc.text.special_tokens import SpecialTokens
        >>> words = ["[UNK]", "[SEP]", "caf", "##e", "!"]
        >>> special = SpecialTokens([{"content": "[SEP]", "id": 1}])
        >>> text = BertText(words, special, lowercase=True, strip_accents=True,
        ...     split_ideographs=True, unknown="[UNK]")
        >>> pieces = text.tokenize(["Café ![SEP]"])
        >>> print(pieces.ids.to_list(), pieces.starts.to_list(), pieces.words.to_list())
        [[2, 3, 4, 1]] [[0, 3, 5, 6]] [[0, 0, 1, 2]]
    """

    def __init__(
        self,
        vocabulary: list[str],
        special_tokens: SpecialTokens,
        *,
        lowercase: bool,
        strip_accents: bool,
        split_ideographs: bool,
        unknown: str,
    ):
        self._special = special_tokens
        self._unknown = unknown
        self._unknown_id = vocabulary.index(unknown)
        self._strips = strip_accents
        counts, first, self._replacements = _replacements(lowercase, strip_accents)
        self._counts = CodePointTable(counts)
        self._first = CodePointTable(first)
        kinds = np.zeros(NUM_CODES, np.int32)
        kinds[member(tables()["punctuation"])] = PUNCTUATION
        kinds[32] = SPACE
        self._kinds = CodePointTable(kinds)
        none = np.zeros(NUM_CODES, bool)
        alone = member(tables()["ideographs"]) if split_ideographs else none
        self._alone = CodePointTable(alone)
        self._marks = CodePointTable(_marks())
        with tf.init_scope():
            self._cutter = tf_text.FastWordpieceTokenizer(
                vocab=list(vocabulary),
                token_out_type=tf.int32,
                unknown_token=unknown,
                no_pretokenization=True,
                max_bytes_per_word=4 * MAX_CHARACTERS,
            )

    def tokenize(self, texts: Any) -> TextPieces:
        """Returns the subwords of texts.

        Args:
            texts: string `[R]`, UTF-8.

        Raises:
            tf.errors.InvalidArgumentError: A text has combining marks in an order that depends on
                the Unicode version, and accents are removed.
        """
        text = CodePoints.of(texts)
        if self._strips:
            text = self._checked(text)
        special = self._special.find(text)

        # === Characters: their replacements ===
        counts = self._counts.lookup(text.points)
        counts = tf.where(special.inside, tf.cast(special.first, tf.int32), counts)
        source = tf.repeat(tf.range(tf.size(text.points)), counts)
        number = tf.range(tf.size(source)) - tf.gather(tf.cumsum(counts) - counts, source)
        points = tf.gather(text.points, source)
        first = self._first.lookup(points)
        is_special = tf.gather(special.first, source)
        replaced = (first >= 0) & ~is_special
        index = tf.where(replaced, first + number, 0)
        points = tf.where(replaced, tf.gather(self._replacements, index), points)

        # === Words ===
        row = tf.gather(text.row, source)
        kind = self._kinds.lookup(points)
        alone = self._alone.lookup(tf.gather(text.points, source)) > 0
        alone |= (kind == PUNCTUATION) | is_special
        inner = (kind != SPACE) | is_special
        with_previous = inner & ~alone
        joined = with_previous[1:] & with_previous[:-1] & (row[1:] == row[:-1])
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
        cut = tf.where(too_long, self._unknown, spelling.strings)
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


def _replacements(lowercase: bool, strip_accents: bool) -> tuple[np.ndarray, ...]:
    """Returns for each code point the number of its replacements and the first one, and these.

    A first of -1 means that the code point stays.
    """
    removed, spaces = member(tables()["removed"]), member(tables()["spaces"])
    marks = member(tables()["marks"])
    decompositions = {int(code): text for code, text in tables()["decompositions"].items()}
    lower = {int(code): text for code, text in tables()["lowercase"].items()}
    counts = np.ones(NUM_CODES, np.int32)
    first = np.full(NUM_CODES, -1, np.int32)
    flat = [32]
    counts[removed] = 0
    first[spaces] = 0
    known = lower.keys() if lowercase else set()
    if strip_accents:
        hangul = range(_HANGUL, _HANGUL + _NUM_HANGUL)
        decompositions |= {code: _decomposed_hangul(code) for code in hangul}
        known = {*known, *decompositions, *np.flatnonzero(marks).tolist()}
    for code in sorted(known):
        if removed[code] or spaces[code]:
            continue
        text = chr(code)
        if strip_accents:
            text = "".join(c for c in decompositions.get(code, text) if not marks[ord(c)])
        if lowercase:
            text = "".join(lower.get(ord(character), character) for character in text)
        counts[code], first[code] = len(text), len(flat)
        flat += map(ord, text)
    return counts, first, np.array(flat, np.int32)


def _decomposed_hangul(code: int) -> str:
    """Returns the letters of a Hangul syllable (The Unicode Standard, section 3.12)."""
    lead, rest = divmod(code - _HANGUL, _NUM_VOWELS * _NUM_TAILS)
    vowel, tail = divmod(rest, _NUM_TAILS)
    letters = chr(_JAMO[0] + lead) + chr(_JAMO[1] + vowel)
    return letters + chr(_JAMO[2] + tail) if tail else letters
