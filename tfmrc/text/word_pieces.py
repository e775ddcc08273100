"""WordPiece as BERT cuts words, made by graph operations."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tensorflow as tf
import tensorflow_text as tf_text

FILE_NAME = "vocab.txt"
MAX_CHARACTERS = 100  # of a word; a longer one is unknown

# Characters that are dropped: NUL, U+FFFD, controls, format characters, private use.
_DROPPED = r"[\x{0}\x{FFFD}\p{Cc}\p{Cf}\p{Co}\p{Cs}]"
_SPACE = r"[\s\p{Z}]"
_PUNCTUATION = r"[!-/:-@\[-`{-~]|\p{P}"
_IDEOGRAPH = (
    r"[\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}"
    r"\x{2B740}-\x{2B81F}\x{2B920}-\x{2CEAF}\x{F900}-\x{FAFF}\x{2F800}-\x{2FA1F}]"
)


class WordPieces(tf.Module):
    """Cuts words into the pieces of a WordPiece vocabulary.

    The rules are those of BERT's own tokenizer: control characters are dropped, ideographs and
    marks are words of their own, accents and capitals go where the vocabulary has none, and each
    word is cut greedily into the longest known pieces; a word that cannot be cut is unknown. The
    vocabulary lives in the graph as a constant.

    Args:
        vocabulary: the pieces; the index is the id.
        lowercase: whether capitals are lowered.
        strip_accents: whether accents are removed; None for the same as `lowercase`.
        split_ideographs: whether Chinese characters are words of their own.
        unknown: the piece of a word that cannot be cut.

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
        """Cuts words into pieces.

        Args:
            words: string `[N]`, UTF-8.
            spaced: not used; BERT does not look at spaces.

        Returns:
            int32 ragged `[N, pieces]`; a word of dropped characters alone has no piece.
        """
        text = tf.strings.regex_replace(tf.convert_to_tensor(words, tf.string), _DROPPED, "")
        if self.split_ideographs:
            text = tf.strings.regex_replace(text, _IDEOGRAPH, r" \0 ")
        if self.strip_accents:
            text = tf_text.normalize_utf8(text, "NFD")
            text = tf.strings.regex_replace(text, r"\p{Mn}", "")
        if self.lowercase:
            # Lowering whole strings writes a last sigma in another way than BERT does.
            text = tf.strings.regex_replace(text, "Σ", "σ")
            text = tf.strings.lower(text, encoding="utf-8")
        parts = tf_text.regex_split(text, f"{_SPACE}|{_PUNCTUATION}", _PUNCTUATION)
        flat = parts.values
        too_long = tf.strings.length(flat, unit="UTF8_CHAR") > MAX_CHARACTERS
        pieces = self._cutter.tokenize(tf.where(too_long, self.unknown, flat))
        return parts.with_values(pieces).merge_dims(1, 2)

    def id_of(self, piece: str) -> int:
        """The id of a piece. Raises KeyError if there is none."""
        try:
            return self._words.index(piece)
        except ValueError:
            raise KeyError(piece) from None

    def __len__(self) -> int:
        """The number of pieces."""
        return len(self._words)

    def get_config(self) -> dict[str, Any]:
        """Plain values; the vocabulary is saved by `save_assets`."""
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
        """Builds the pieces from the folder that `save_assets` wrote to."""
        return cls(read_lines(Path(folder) / FILE_NAME), **config)


def read_lines(path: Path) -> list[str]:
    """The lines of a vocabulary file; only a line feed ends a line."""
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
