"""The words that have a row in the embedding table, by falling frequency."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc.ops.ids import BOS, EOS, NUM_SPECIAL, PAD, UNK
from tfmrc.text.counting import Record, WordCounter

SPECIAL_WORDS = ("[PAD]", "[UNK]", "[BOS]", "[EOS]")
FILE_NAME = "vocabulary.txt"

__all__ = ["BOS", "EOS", "NUM_SPECIAL", "PAD", "SPECIAL_WORDS", "UNK", "Vocabulary"]


class Vocabulary(tf.Module):
    """Words and their input ids, which are rows of an embedding table.

    Row 0 is `[PAD]`, 1 `[UNK]`, 2 `[BOS]`, 3 `[EOS]`; the given words follow in their order (by
    falling frequency, so that the generable words are the first rows); at the end stand
    `num_oov_buckets` rows that unknown words share by their hash. Without buckets an unknown word
    is `[UNK]`.

    The lookup table lives in the graph, reads a file that becomes an asset of a SavedModel, and is
    tracked as an attribute of this module.

    Args:
        words: distinct words in the form that the tokeniser compares (NFKC, lower case), the
            commonest first, without the four special ones.
        num_oov_buckets: rows for unknown words.

    Raises:
        ValueError: a word is empty, holds a line break or stands twice.

    Example:
        >>> from tfmrc.text import Vocabulary
        >>> vocabulary = Vocabulary(["the", "king"], num_oov_buckets=2)
        >>> vocabulary
        <Vocabulary 6 words ([PAD] [UNK] [BOS] [EOS] the king) and 2 rows for unknown words>
        >>> vocabulary.size, len(vocabulary)
        (6, 8)
        >>> vocabulary.lookup(["king", "the"]).numpy()
        array([5, 4], dtype=int32)
        >>> bool(vocabulary.lookup(["Queen"])[0] >= vocabulary.size)
        True
    """

    def __init__(self, words: Iterable[str], num_oov_buckets: int = 0):
        super().__init__(name="vocabulary")
        self._words = _checked((*SPECIAL_WORDS, *words), "words")
        if num_oov_buckets < 0:
            raise ValueError(
                f"The number of rows for unknown words is 0 or more. "
                f"Received: num_oov_buckets={num_oov_buckets}"
            )
        self.num_oov_buckets = int(num_oov_buckets)
        # The tables read a file, so that a SavedModel holds the words once, as its asset. The
        # file must live as long as the tables can still be exported.
        folder = tempfile.mkdtemp(prefix="tfmrc-vocabulary-")
        weakref.finalize(self, _remove, folder, os.getpid())
        path = str(self.save(Path(folder) / FILE_NAME))
        with tf.init_scope():
            self._id_of = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(
                    path,
                    tf.string,
                    tf.lookup.TextFileIndex.WHOLE_LINE,
                    tf.int64,
                    tf.lookup.TextFileIndex.LINE_NUMBER,
                ),
                default_value=-1,
            )
            self._word_of = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(
                    path,
                    tf.int64,
                    tf.lookup.TextFileIndex.LINE_NUMBER,
                    tf.string,
                    tf.lookup.TextFileIndex.WHOLE_LINE,
                ),
                default_value=SPECIAL_WORDS[UNK],
            )

    @classmethod
    def from_examples(
        cls,
        examples: Iterable[Record] | Callable[[], Iterable[Record]],
        size: int | None = None,
        min_count: int = 1,
        num_oov_buckets: int = 0,
    ) -> "Vocabulary":
        """Counts the words of questions, passages and answers in one pass and keeps the commonest.

        Memory grows with the number of distinct words, not with the examples.

        Args:
            examples: records with `question`, `passages` and `answers`, or a function that gives
                them.
            size: at most so many rows before the buckets, the four special ones included; None
                keeps every word.
            min_count: words seen less often are left out.
            num_oov_buckets: rows for unknown words.

        Returns:
            The vocabulary, by falling frequency, equal counts in alphabetical order.

        Raises:
            ValueError: `size` leaves no room for a word, or the examples hold no word.

        Example:
            >>> from types import SimpleNamespace
            >>> from tfmrc.text import Vocabulary
            >>> example = SimpleNamespace(
            ...     question="Who met the king?",
            ...     passages=("The king met the queen.",),
            ...     answers={"qa": ("the queen",)},
            ... )
            >>> Vocabulary.from_examples([example], size=7).words[4:]
            ('the', 'king', 'met')
        """
        if size is not None and size <= NUM_SPECIAL:
            raise ValueError(
                f"A vocabulary holds {NUM_SPECIAL} special rows and at least one word. "
                f"Received: size={size}"
            )
        counter = WordCounter()
        counter.add_records(examples() if callable(examples) else examples)
        words = counter.most_common(min_count)
        if not words:
            raise ValueError(
                "The examples hold no word that is counted often enough. "
                f"Received: min_count={min_count}, {counter.num_records} examples with "
                f"{len(counter.counts)} distinct words"
            )
        return cls(words[: None if size is None else size - NUM_SPECIAL], num_oov_buckets)

    @classmethod
    def load(cls, path: str | Path, num_oov_buckets: int = 0) -> "Vocabulary":
        """Reads a file that `save` wrote: one word a line, the special ones first.

        Args:
            path: the file, or the folder that holds `vocabulary.txt`.
            num_oov_buckets: rows for unknown words; the file does not hold their number.

        Raises:
            ValueError: the special words are missing, or a line is empty or a duplicate.
        """
        path = Path(path)
        path = path / FILE_NAME if path.is_dir() else path
        words = path.read_text(encoding="utf-8").split("\n")
        if words and not words[-1]:
            words.pop()
        if tuple(words[:NUM_SPECIAL]) != SPECIAL_WORDS:
            raise ValueError(
                f"{path} does not begin with the lines {' '.join(SPECIAL_WORDS)}; a list of words "
                f"alone is read by Vocabulary(words). Received: first lines={words[:NUM_SPECIAL]}"
            )
        _checked(words, str(path))
        return cls(words[NUM_SPECIAL:], num_oov_buckets)

    def save(self, path: str | Path) -> Path:
        """Writes one word a line, the special ones first; returns the path."""
        path = Path(path)
        path.write_text("\n".join(self._words) + "\n", encoding="utf-8", newline="\n")
        return path

    @property
    def words(self) -> tuple[str, ...]:
        """All words, the four special ones first; the place is the input id."""
        return self._words

    @property
    def size(self) -> int:
        """The number of words, special ones included, buckets left out."""
        return len(self._words)

    def __len__(self) -> int:
        """The rows of the embedding table: words and buckets."""
        return self.size + self.num_oov_buckets

    def lookup(self, words: Any) -> tf.Tensor:
        """Input ids of words.

        Args:
            words: string tensor of any shape, in the form that the tokeniser compares.

        Returns:
            int32 of the same shape.
        """
        words = tf.convert_to_tensor(words, tf.string)
        ids = self._id_of.lookup(words)
        if self.num_oov_buckets:
            unknown = self.size + tf.strings.to_hash_bucket_fast(words, self.num_oov_buckets)
        else:
            unknown = tf.fill(tf.shape(ids), tf.constant(UNK, tf.int64))
        return tf.cast(tf.where(ids < 0, unknown, ids), tf.int32)

    def words_of(self, ids: Any) -> tf.Tensor:
        """Words of input ids, string of the same shape; `[UNK]` for every other number."""
        return self._word_of.lookup(tf.cast(ids, tf.int64))

    def __repr__(self) -> str:
        shown = " ".join(self._words[:8]) + (" …" if self.size > 8 else "")
        buckets = f" and {self.num_oov_buckets} rows for unknown words" * bool(self.num_oov_buckets)
        return f"<Vocabulary {self.size} words ({shown}){buckets}>"


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a process that was forked from the owner
        shutil.rmtree(folder, ignore_errors=True)


def _checked(words: Sequence[str], source: str) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    for place, word in enumerate(words):
        if not word or "\n" in word or "\r" in word:
            raise ValueError(
                "A vocabulary holds no empty word and no line break. "
                f"Received: {source}[{place}]={word!r}"
            )
        if seen.setdefault(word, place) != place:
            raise ValueError(
                "A vocabulary holds every word once. "
                f"Received: {source}[{place}]={word!r}, which is {source}[{seen[word]}] too"
            )
    return tuple(words)
