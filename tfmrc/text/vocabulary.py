"""The words that have a row in the embedding table, by falling frequency."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import tensorflow as tf

from tfmrc.ops.ids import BOS, EOS, NUM_SPECIAL, PAD, UNK
from tfmrc.text.counting import Record, WordCounter

SPECIAL_WORDS = ("[PAD]", "[UNK]", "[BOS]", "[EOS]")
FILE_NAME = "vocabulary.txt"
IDS_SUFFIX = ".ids.tsv"  # the file beside it, where words share rows

__all__ = ["BOS", "EOS", "NUM_SPECIAL", "PAD", "SPECIAL_WORDS", "UNK", "Vocabulary"]


class Vectors(Protocol):
    """What the vocabulary reads of word vectors; `tfmrc.encoders.WordVectors` is one."""

    @property
    def compared(self) -> Mapping[str, int]: ...


class _Shared:
    """Holds a long dictionary out of sight of `tf.Module`, which walks through its attributes."""

    def __init__(self, rows: dict[str, int]):
        self.rows = rows


class Vocabulary(tf.Module):
    """Words and their input ids, which are rows of an embedding table.

    Row 0 is `[PAD]`, 1 `[UNK]`, 2 `[BOS]`, 3 `[EOS]`; the given words follow in their order (by
    falling frequency, so that the generable words are the first rows), each with a row of its own.
    Then come the rows of pretrained vectors, which `shared_words` share. The last
    `num_oov_buckets` rows are shared by unknown words according to their hash. Without buckets an
    unknown word is `[UNK]`.

    Words that share a row share only their vector. They are never generated, since generable words
    have rows of their own, and copying and exact match compare strings, not ids.

    The lookup table lives in the graph, reads a file that becomes an asset of a SavedModel, and is
    tracked as an attribute of this module.

    Args:
        words: distinct words in the form that the tokeniser compares (NFKC, lower case), the
            commonest first, without the four special ones.
        num_oov_buckets: rows for unknown words.
        shared_words: further words and their rows among those of the pretrained vectors, counted
            from 0, without gaps; `with_vectors` makes them.

    Raises:
        ValueError: a word is empty, holds a line break or occurs twice, or the shared rows have
            gaps.

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
        shared = _checked_shared(shared_words or {}, self._words)
        self._num_shared_rows = max(shared.values(), default=-1) + 1
        self._shared = _Shared(shared)
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
        path = self.save(Path(folder) / FILE_NAME)
        if shared:
            id_columns = _ids_path(path), 0, 1, "\t"
        else:
            line = tf.lookup.TextFileIndex
            id_columns = path, line.WHOLE_LINE, line.LINE_NUMBER, "\t"
        with tf.init_scope():
            self._id_of = _table(*id_columns, tf.string, tf.int64, default=-1)
            self._word_of = _table(
                path,
                tf.lookup.TextFileIndex.LINE_NUMBER,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                "\t",
                tf.int64,
                tf.string,
                default=SPECIAL_WORDS[UNK],
            )

    @classmethod
    def from_examples(
        cls,
        examples: Iterable[Record] | Callable[[], Iterable[Record]],
        size: int | None = None,
        min_count: int = 1,
        num_oov_buckets: int = 0,
        vectors: Vectors | None = None,
    ) -> "Vocabulary":
        """Counts the words of questions, passages and answers in one pass and keeps the commonest.

        Memory grows with the number of distinct words, not with the examples.

        Args:
            examples: records with `question`, `passages` and `answers`, or a function that gives
                them.
            size: at most so many rows of one word each, the four special ones included; None
                keeps every word.
            min_count: words seen less often are left out.
            num_oov_buckets: rows for unknown words.
            vectors: pretrained vectors (`tfmrc.encoders.WordVectors`), all of whose words the
                vocabulary then holds (`with_vectors`).

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
        counted = cls(words[: None if size is None else size - NUM_SPECIAL], num_oov_buckets)
        return counted if vectors is None else counted.with_vectors(vectors)

    def with_vectors(self, vectors: Vectors) -> "Vocabulary":
        """Adds all words that have a pretrained vector, so that none depends on the training words.

        The words of this vocabulary keep their rows. Every other word of the vectors gets the row
        of its vector, which it shares with the words that have the same one. Rows that no word
        would use are left out. `tfmrc.encoders.set_vectors` fills both kinds of rows.

        Args:
            vectors: `tfmrc.encoders.WordVectors`; of the spellings of a word the compared form
                (NFKC, lower case) counts.

        Returns:
            A new vocabulary.

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
        own = set(self._words)
        shared = {word: row for word, row in vectors.compared.items() if word not in own}
        new = {row: index for index, row in enumerate(sorted(set(shared.values())))}
        return Vocabulary(
            self._words[NUM_SPECIAL:],
            self.num_oov_buckets,
            {word: new[row] for word, row in shared.items()},
        )

    @classmethod
    def load(cls, path: str | Path, num_oov_buckets: int = 0) -> "Vocabulary":
        """Reads what `save` wrote: one word per line, the special ones first.

        Args:
            path: the file, or the folder that holds `vocabulary.txt`.
            num_oov_buckets: rows for unknown words; the file does not hold their number.

        Raises:
            ValueError: the special words are missing, a line is empty or a duplicate, or the file
                of shared rows beside it is damaged or belongs to other words.
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
        return cls(words[NUM_SPECIAL:], num_oov_buckets, _read_shared(_ids_path(path), words))

    def save(self, path: str | Path) -> Path:
        """Writes one word per line, the special ones first.

        A vocabulary with shared rows writes a second file beside it, `NAME.ids.tsv`, with one line
        `word TAB input id` for every word.

        Args:
            path: the first file, such as `vocabulary.txt`.

        Returns:
            Its path.
        """
        path = Path(path)
        ids = _ids_path(path)
        path.write_text("\n".join(self._words) + "\n", encoding="utf-8", newline="\n")
        if self._shared.rows:
            with open(ids, "w", encoding="utf-8", newline="\n") as file:
                file.writelines(map(_line, self._words, range(len(self._words))))
                file.writelines(map(_line, *zip(*self.shared_words.items(), strict=True)))
        elif _is_ids_file(ids):  # of the vocabulary that was there before
            ids.unlink()
        return path

    @property
    def words(self) -> tuple[str, ...]:
        """All words with a row of their own, the special ones first; the index is the input id."""
        return self._words

    @property
    def shared_words(self) -> dict[str, int]:
        """Input ids of the words on the shared rows of pretrained vectors."""
        first = len(self._words)
        return {word: first + row for word, row in self._shared.rows.items()}

    @property
    def size(self) -> int:
        """The number of rows before the buckets: special ones, words', shared ones."""
        return len(self._words) + self._num_shared_rows

    def __len__(self) -> int:
        """The rows of the embedding table, buckets included."""
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
        """Words of input ids, string of the same shape; `[UNK]` for shared rows and others."""
        return self._word_of.lookup(tf.cast(ids, tf.int64))

    def __repr__(self) -> str:
        shown = " ".join(self._words[:8]) + (" …" if len(self._words) > 8 else "")
        text = f"{len(self._words)} words ({shown})"
        if self._shared.rows:
            text += f", {len(self._shared.rows)} words on {self._num_shared_rows} shared rows"
        if self.num_oov_buckets:
            text += f" and {self.num_oov_buckets} rows for unknown words"
        return f"<Vocabulary {text}>"


def _table(path, key, value, delimiter, key_type, value_type, default):
    return tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(
            str(path), key_type, key, value_type, value, delimiter=delimiter
        ),
        default_value=default,
    )


def _ids_path(path: Path) -> Path:
    return path.with_suffix(IDS_SUFFIX)


def _line(word: str, input_id: int) -> str:
    return f"{word}\t{input_id}\n"


def _is_ids_file(path: Path) -> bool:
    first = _line(SPECIAL_WORDS[0], 0).encode()
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(first)) == first


def _read_shared(path: Path, words: Sequence[str]) -> dict[str, int]:
    """The shared words of `NAME.ids.tsv`; none if there is no such file."""
    if not path.is_file():
        return {}
    shared: dict[str, int] = {}
    with open(path, encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file):
            word, _, input_id = line.rstrip("\n").rpartition("\t")
            own = number < len(words)
            if not input_id.isdecimal() or (
                (word, int(input_id)) != (words[number], number)
                if own
                else int(input_id) < len(words) or word in shared
            ):
                raise ValueError(
                    f"{path}, line {number + 1}: expected `word TAB input id`, first the words of "
                    f"the vocabulary beside it in their order. Received: {line[:60]!r}"
                )
            if not own:
                shared[word] = int(input_id) - len(words)
    if not shared:
        raise ValueError(f"{path} is cut off: it holds no word on a shared row.")
    return shared


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a process that was forked from the owner
        shutil.rmtree(folder, ignore_errors=True)


def _checked_shared(shared: Mapping[str, int], words: Sequence[str]) -> dict[str, int]:
    own = set(words)
    for word in shared:
        if not word or word in own or "\t" in word or "\n" in word or "\r" in word:
            raise ValueError(
                "A word on a shared row is not empty, has no row of its own, and holds no tab and "
                f"no line break. Received: {word!r}"
            )
    if shared and any("\t" in word for word in words):
        raise ValueError("Beside words on shared rows no word of a vocabulary holds a tab.")
    rows = set(shared.values())
    if rows and (min(rows), max(rows)) != (0, len(rows) - 1):
        raise ValueError(
            "Shared rows are counted from 0 without gaps. "
            f"Received: {len(rows)} rows from {min(rows)} to {max(rows)}"
        )
    return dict(shared)


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
