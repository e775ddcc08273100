"""WordPiece of BERT, by graph operations."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tensorflow as tf
import tensorflow_text as tf_text

from tfmrc.text.bert_text import MAX_CHARACTERS, BertText
from tfmrc.text.special_tokens import SpecialTokens

FILE_NAME = "vocab.txt"

# Characters that are dropped: NUL, U+FFFD, controls, format characters, private use.
_DROPPED = r"[\x{0}\x{FFFD}\p{Cc}\p{Cf}\p{Co}\p{Cs}]"
_SPACE = r"[\s\p{Z}]"
_PUNCTUATION = r"[!-/:-@\[-`{-~]|\p{P}"
_IDEOGRAPH = (
    r"[\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}"
    r"\x{2B740}-\x{2B81F}\x{2B920}-\x{2CEAF}\x{F900}-\x{FAFF}\x{2F800}-\x{2FA1F}]"
)


class WordPieces(tf.Module):
    """Splits words into the pieces of a WordPiece vocabulary.

    The rules are those of BERT's tokenizer: control characters are removed, ideographs and
    punctuation marks are separate words, accents are removed and words converted to lower case if
    the vocabulary requires it, and each word is split greedily into the longest known pieces. A
    word that cannot be split is unknown. The vocabulary is a constant of the graph.

    Args:
        vocabulary: iterable of str. The pieces; the index is the id.
        lowercase: bool. Whether to convert words to lower case. Default: True.
        strip_accents: bool. Whether to remove accents. Default: None, the value of `lowercase`.
        split_ideographs: bool. Whether Chinese characters are separate words. Default: True.
        unknown: str. Piece of a word that cannot be split. Default: `"[UNK]"`.

    Raises:
        ValueError: `unknown` is not in the vocabulary.

    Example:
        >>> from tfmrc.text.word_pieces import WordPieces
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
        self._words = tuple(vocabulary)
        if unknown not in self._words:
            raise ValueError(
                "The unknown piece must be in the vocabulary. "
                f"Received: unknown={unknown!r}, {len(self._words)} pieces"
            )
        if len(set(self._words)) < len(self._words):
            word, count = Counter(self._words).most_common(1)[0]
            raise ValueError(
                f"The pieces must be different. Received: {word!r} {count} times, "
                f"{len(self._words)} pieces"
            )
        self.lowercase = lowercase
        self.strip_accents = lowercase if strip_accents is None else strip_accents
        self.split_ideographs = split_ideographs
        self.unknown = unknown
        with tf.init_scope():
            self._cutter = tf_text.FastWordpieceTokenizer(
                vocab=list(self._words),
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
        text = tf.strings.regex_replace(tf.convert_to_tensor(words, tf.string), _DROPPED, "")
        if self.split_ideographs:
            text = tf.strings.regex_replace(text, _IDEOGRAPH, r" \0 ")
        if self.strip_accents:
            text = tf_text.normalize_utf8(text, "NFD")
            text = tf.strings.regex_replace(text, r"\p{Mn}", "")
        if self.lowercase:
            # Lower-casing whole strings would give a final sigma, unlike BERT.
            text = tf.strings.regex_replace(text, "Σ", "σ")
            text = tf.strings.lower(text, encoding="utf-8")
        parts = tf_text.regex_split(text, f"{_SPACE}|{_PUNCTUATION}", _PUNCTUATION)
        flat = parts.values
        too_long = tf.strings.length(flat, unit="UTF8_CHAR") > MAX_CHARACTERS
        pieces = self._cutter.tokenize(tf.where(too_long, self.unknown, flat))
        return parts.with_values(pieces).merge_dims(1, 2)

    @property
    def vocabulary(self) -> list[str]:
        """The pieces; the index is the id."""
        return list(self._words)

    def id_of(self, piece: str) -> int:
        """Returns the id of a piece. Raises KeyError if there is none."""
        try:
            return self._words.index(piece)
        except ValueError:
            raise KeyError(piece) from None

    def __len__(self) -> int:
        """Returns the number of pieces."""
        return len(self._words)

    def text_tokenizer(self, special_tokens: SpecialTokens) -> BertText:
        """Returns the tokenizer of whole texts with these pieces."""
        return BertText(
            self.vocabulary,
            special_tokens,
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            split_ideographs=self.split_ideographs,
            unknown=self.unknown,
        )

    def get_config(self) -> dict[str, Any]:
        """Returns the configuration; `save_assets` saves the vocabulary."""
        return {
            "lowercase": self.lowercase,
            "strip_accents": self.strip_accents,
            "split_ideographs": self.split_ideographs,
            "unknown": self.unknown,
        }

    def save_assets(self, folder: str | Path) -> None:
        """Writes `vocab.txt`, one piece per line."""
        text = "".join(f"{word}\n" for word in self._words)
        (Path(folder) / FILE_NAME).write_text(text, encoding="utf-8", newline="\n")

    @classmethod
    def from_assets(cls, folder: str | Path, **config: Any) -> "WordPieces":
        """Loads the pieces from a folder of `save_assets`."""
        return cls(read_lines(Path(folder) / FILE_NAME), **config)


def read_lines(path: Path) -> list[str]:
    """Reads the lines of a vocabulary file; only a line feed ends a line."""
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
