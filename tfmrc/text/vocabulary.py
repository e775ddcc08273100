"""Vocabulary: the words that have a row in the embedding table."""

import itertools
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import tensorflow as tf

from tfmrc.ops.ids import NUM_SPECIAL, UNK
from tfmrc.text.lines import read_lines, write_lines
from tfmrc.text.pickling import Pickled
from tfmrc.text.typing import TensorLike
from tfmrc.text.words.counting import Record, WordCounter

SPECIAL_WORDS = ("[PAD]", "[UNK]", "[BOS]", "[EOS]")
FILE_NAME = "vocabulary.txt"
IDS_SUFFIX = ".ids.tsv"  # the second file of a vocabulary with shared rows


class WordRows(Protocol):
    """The rows of words in a table of vectors, such as `tfmrc.encoders.WordVectors`."""

    @property
    def compared(self) -> Mapping[str, int]: ...


class _Shared:
    """Hides a large dictionary from `tf.Module`, which traverses its attributes."""

    def __init__(self, rows: dict[str, int]):
        self.rows = rows


class Vocabulary(Pickled, tf.Module):
    """Maps words to input ids, which are rows of an embedding table.

    Rows 0 to 3 are `[PAD]`, `[UNK]`, `[BOS]` and `[EOS]`. The given words follow in their order (by
    decreasing frequency, so that the generable words are the first rows), one row each. The rows
    of pretrained vectors are next; several `shared_words` may share one. The last
    `num_oov_buckets` rows are hash buckets for unknown words. Without buckets an unknown word is
    `[UNK]`.

    Words that share a row share only their vector. Such words are never generated, and copying and
    exact match compare strings, not ids.

    The lookup table is part of the graph. It reads a file that becomes an asset of a SavedModel,
    and is tracked as an attribute of this module.

    Args:
        words: iterable of str. Distinct words in the tokenizer's compared form (NFKC, lower case),
            by decreasing frequency, without the four special words.
        num_oov_buckets: int. Number of rows for unknown words. Default: 0.
        shared_words: dict. Additional words and their rows among the pretrained vectors, numbered
            from 0 without gaps, as `with_vectors` creates them. Default: None.

    Raises:
        ValueError: If a word is empty, contains a line break or occurs twice.

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
        >>> names = Vocabulary(["the", "king"], shared_words={"ada": 0, "eve": 1, "lin": 0})
        >>> names.size, names.lookup(["king", "ada", "eve", "lin", "bob"]).numpy().tolist()
        (8, [5, 6, 7, 6, 1])
    """

    def __init__(
        self,
        words: Iterable[str],
        num_oov_buckets: int = 0,
        shared_words: Mapping[str, int] | None = None,
    ):
        super().__init__(name="vocabulary")
        self._words = _checked((*SPECIAL_WORDS, *words), "words")
        shared = dict(shared_words or {})
        self._num_shared_rows = max(shared.values(), default=-1) + 1
        self._shared = _Shared(shared)
        self.num_oov_buckets = num_oov_buckets
        # The tables read a file, so that a SavedModel holds the words once, as its asset. The
        # file must exist as long as the tables can be exported.
        folder = tempfile.mkdtemp(prefix="tfmrc-vocabulary-")
        weakref.finalize(self, _remove, folder, os.getpid())
        path = self.save(Path(folder) / FILE_NAME)
        line = tf.lookup.TextFileIndex
        with tf.init_scope():
            if shared:
                self._id_of = _table(_ids_path(path), tf.string, 0, tf.int64, 1, default=-1)
            else:
                columns = tf.string, line.WHOLE_LINE, tf.int64, line.LINE_NUMBER
                self._id_of = _table(path, *columns, default=-1)
            columns = tf.int64, line.LINE_NUMBER, tf.string, line.WHOLE_LINE
            self._word_of = _table(path, *columns, default=SPECIAL_WORDS[UNK])

    @classmethod
    def from_examples(
        cls,
        examples: Iterable[Record] | Callable[[], Iterable[Record]],
        size: int | None = None,
        min_count: int = 1,
        num_oov_buckets: int = 0,
        vectors: WordRows | None = None,
    ) -> "Vocabulary":
        """Builds a vocabulary of the most frequent words of questions, passages and answers.

        The examples are read once. Memory grows with the number of distinct words.

        Args:
            examples: iterable of records with `question`, `passages` and `answers`, or a callable
                that returns one.
            size: int. Largest number of rows of one word each, including the four special words.
                Default: None, all words.
            min_count: int. Words with a smaller count are left out. Default: 1.
            num_oov_buckets: int. Number of rows for unknown words. Default: 0.
            vectors: `tfmrc.encoders.WordVectors`. Pretrained vectors whose words are all added, as
                by `with_vectors`. Default: None.

        Returns:
            A vocabulary by decreasing frequency; equal counts are in code point order.

        Raises:
            ValueError: If the examples contain no word.

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
        counter = WordCounter()
        counter.add_records(examples() if callable(examples) else examples)
        words = counter.most_common(min_count)
        if not words:
            raise ValueError(
                "The examples contain no word that occurs often enough. "
                f"Received: min_count={min_count}, {counter.num_records} examples with "
                f"{len(counter.counts)} distinct words"
            )
        counted = cls(words[: None if size is None else size - NUM_SPECIAL], num_oov_buckets)
        return counted if vectors is None else counted.with_vectors(vectors)

    def with_vectors(self, vectors: WordRows) -> "Vocabulary":
        """Adds all words that have a pretrained vector, including words not seen in training.

        The words of this vocabulary keep their rows. Every other word of the vectors gets the row
        of its vector, which words with the same vector share. Unused rows are left out.
        `tfmrc.encoders.set_vectors` fills both kinds of rows.

        Args:
            vectors: `tfmrc.encoders.WordVectors`. Words are matched by their compared form (NFKC,
                lower case).

        Returns:
            A new vocabulary.

        Raises:
            ValueError: If a word on a shared row has no vector: it would be lost.

        Example:
            >>> import numpy as np
            >>> from tfmrc.encoders import WordVectors, set_vectors
            >>> from tfmrc.layers import WordEmbedding
            >>> vectors = WordVectors([[1.0], [2.0], [3.0]], {"the": 0, "Ada": 1, "Eve": 1})
            >>> vocabulary = Vocabulary(["the"], num_oov_buckets=1).with_vectors(vectors)
            >>> vocabulary
            <Vocabulary 5 words ([PAD] [UNK] [BOS] [EOS] the), 2 words on 1 shared rows and 1 rows
            for unknown words>
            >>> layer = WordEmbedding(len(vocabulary), dim=1)
            >>> _ = set_vectors(layer, vocabulary, vectors, verbose=False)
            >>> np.array(layer(vocabulary.lookup(["the", "eve", "ada"]).numpy()))[:, 0].tolist()
            [1.0, 2.0, 2.0]
        """
        lost = [word for word in self._shared.rows if word not in vectors.compared]
        if lost:
            raise ValueError(
                "The words on the shared rows of a vocabulary are those of one file of vectors. "
                f"Received: vectors without {len(lost):,} of its words, {lost[0]!r} first"
            )
        known = set(self._words)
        shared = {word: row for word, row in vectors.compared.items() if word not in known}
        new = {row: index for index, row in enumerate(sorted(set(shared.values())))}
        return Vocabulary(
            self._words[NUM_SPECIAL:],
            self.num_oov_buckets,
            {word: new[row] for word, row in shared.items()},
        )

    @classmethod
    def load(cls, path: str | Path, num_oov_buckets: int = 0) -> "Vocabulary":
        """Loads a vocabulary that `save` wrote.

        Args:
            path: str or path. The file, or the folder that contains `vocabulary.txt`.
            num_oov_buckets: int. Number of rows for unknown words, which the file does not hold.
                Default: 0.

        Raises:
            ValueError: If the special words are missing, a line is empty or a duplicate, or the
                file of shared rows belongs to other words.
        """
        path = Path(path)
        path = path / FILE_NAME if path.is_dir() else path
        words = read_lines(path)
        if tuple(words[:NUM_SPECIAL]) != SPECIAL_WORDS:
            raise ValueError(
                f"{path} must begin with the lines {' '.join(SPECIAL_WORDS)}; for a plain list of "
                f"words use Vocabulary(words). Received: first lines={words[:NUM_SPECIAL]}"
            )
        _checked(words, str(path))
        return cls(words[NUM_SPECIAL:], num_oov_buckets, _read_shared(_ids_path(path), words))

    def save(self, path: str | Path) -> Path:
        """Writes one word per line, the special words first.

        A vocabulary with shared rows also writes `NAME.ids.tsv` in the same folder, with one line
        `word TAB input id` per word.

        Args:
            path: str or path. The first file, such as `vocabulary.txt`.

        Returns:
            The path of the first file.
        """
        path = Path(path)
        ids = _ids_path(path)
        write_lines(path, self._words)
        if self._shared.rows:
            pairs = itertools.chain(zip(self._words, itertools.count()), self.shared_words.items())
            write_lines(ids, (f"{word}\t{input_id}" for word, input_id in pairs))
        else:
            ids.unlink(missing_ok=True)  # of a previous vocabulary
        return path

    @property
    def words(self) -> tuple[str, ...]:
        """The words that do not share a row, the special words first; the index is the id."""
        return self._words

    @property
    def shared_words(self) -> dict[str, int]:
        """Input ids of the words on the shared rows of pretrained vectors."""
        first = len(self._words)
        return {word: first + row for word, row in self._shared.rows.items()}

    @property
    def size(self) -> int:
        """Number of rows before the buckets: special words, words and shared rows."""
        return len(self._words) + self._num_shared_rows

    def __len__(self) -> int:
        """Returns the number of rows of the embedding table, including buckets."""
        return self.size + self.num_oov_buckets

    def lookup(self, words: TensorLike) -> tf.Tensor:
        """Returns the input ids of words.

        Args:
            words: string tensor of any shape, in compared form.

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

    def words_of(self, ids: TensorLike) -> tf.Tensor:
        """Returns the words of input ids; `[UNK]` for shared rows, buckets and unknown ids."""
        return self._word_of.lookup(tf.cast(ids, tf.int64))

    def __reduce__(self) -> tuple[Any, ...]:
        words = self._words[NUM_SPECIAL:]
        return type(self), (words, self.num_oov_buckets, self._shared.rows)

    def __repr__(self) -> str:
        shown = " ".join(self._words[:8]) + (" …" if len(self._words) > 8 else "")
        text = f"{len(self._words)} words ({shown})"
        if self._shared.rows:
            text += f", {len(self._shared.rows)} words on {self._num_shared_rows} shared rows"
        if self.num_oov_buckets:
            text += f" and {self.num_oov_buckets} rows for unknown words"
        return f"<Vocabulary {text}>"


def _table(path, key_type, key, value_type, value, default):
    columns = tf.lookup.TextFileInitializer(str(path), key_type, key, value_type, value)
    return tf.lookup.StaticHashTable(columns, default)


def _ids_path(path: Path) -> Path:
    return path.with_suffix(IDS_SUFFIX)


def _read_shared(path: Path, words: Sequence[str]) -> dict[str, int]:
    """Reads the shared words of `NAME.ids.tsv`; none if the file does not exist."""
    if not path.is_file():
        return {}
    pairs = [line.rpartition("\t")[::2] for line in read_lines(path)]
    if [word for word, _ in pairs[: len(words)]] != list(words):
        raise ValueError(f"{path} must begin with the words of the vocabulary.")
    return {word: int(input_id) - len(words) for word, input_id in pairs[len(words) :]}


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a process that was forked from the owner
        shutil.rmtree(folder, ignore_errors=True)


def _checked(words: Sequence[str], source: str) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    for index, word in enumerate(words):
        if not word or "\n" in word or "\r" in word:
            raise ValueError(
                "A word of a vocabulary must not be empty or contain a line break. "
                f"Received: {source}[{index}]={word!r}"
            )
        if seen.setdefault(word, index) != index:
            raise ValueError(
                "The words of a vocabulary must be distinct. "
                f"Received: {source}[{index}]={word!r}, which is also {source}[{seen[word]}]"
            )
    return tuple(words)
