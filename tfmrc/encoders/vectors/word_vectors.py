"""Pretrained word vectors, and their assignment to the rows of a word embedding."""

import gzip
import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tfmrc.ops.ids import NUM_SPECIAL
from tfmrc.utils.files import replacing

KEYS = ".keys.tsv.gz"
BREAKS = frozenset("\t\n\r")  # which no word has


def compared_form(word: str) -> str:
    """Returns the compared form of `tfmrc.text.Tokenizer`: NFKC and lower case.

    Example:
        >>> from tfmrc.encoders.vectors.word_vectors import compared_form
        >>> compared_form("Ｋ２"), compared_form("ÉTÉ")
        ('k2', 'été')
    """
    lowered = word.lower()
    return lowered if lowered.isascii() else unicodedata.normalize("NFKC", lowered).lower()


@dataclass(frozen=True)
class Coverage:
    """Coverage of words by pretrained vectors.

    Attributes:
        found: int. Number of distinct words with a vector.
        words: int. Number of distinct words.
        occurrences_found: int. Number of occurrences of the words with a vector; equal to `found`
            without counts.
        occurrences: int. Number of occurrences of all words; equal to `words` without counts.
        missing: tuple of str. At most 20 words without a vector, the most frequent first.

    Example:
        >>> from tfmrc.encoders.vectors.word_vectors import Coverage
        >>> print(Coverage(found=3, words=4, occurrences_found=90, occurrences=100))
        3 of 4 words (75.0 percent), 90.0 percent of their occurrences
    """

    found: int
    words: int
    occurrences_found: int
    occurrences: int
    missing: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The ratio `found / words`; 0 if there are no words."""
        return self.found / max(1, self.words)

    def __str__(self) -> str:
        text = f"{self.found:,} of {self.words:,} words ({100 * self.share:.1f} percent)"
        if (self.found, self.words) != (self.occurrences_found, self.occurrences):
            share = self.occurrences_found / max(1, self.occurrences)
            text += f", {100 * share:.1f} percent of their occurrences"
        return text


class WordVectors:
    """Pretrained word vectors, in which several words may share a row.

    Rows and words are separate: spaCy's `en_core_web_md` has 684,830 words on 20,000 rows. A word
    is looked up in its surface form, then in its compared form (NFKC, lower case). If several words
    have the same compared form, the word that equals it takes precedence, then the first word.
    Measured on SQuAD, looking up only the compared form finds as many words as trying both forms
    (98.66 percent of 303,609 words of the dev set at hand), so `tfmrc.text.Vocabulary` contains
    only compared forms (`docs/reference/text.md`).

    `load_word_vectors` loads them from files.

    Args:
        rows: float array `[R, dim]`.
        keys: dict from word to row, in the order of the file (usually by decreasing frequency).
        source: str. Origin of the vectors, for messages. Default: "vectors".

    Raises:
        ValueError: If `rows` is not a matrix of numbers that are finite in float32; or a word is
            empty, contains a tab or a line break, or has a row that does not exist.

    Example:
        >>> import numpy as np
        >>> from tfmrc.encoders import WordVectors
        >>> vectors = WordVectors(np.eye(2), {"owl": 0, "Paris": 1, "bird": 0})
        >>> vectors
        <WordVectors 3 words on 2 rows of 2>
        >>> vectors["Owl"].tolist(), vectors["paris"].tolist(), "cat" in vectors
        ([1.0, 0.0], [0.0, 1.0], False)
        >>> print(vectors.coverage({"owl": 9, "cat": 1}))
        1 of 2 words (50.0 percent), 90.0 percent of their occurrences

    Reference: Pennington et al. 2014 (GloVe); Mikolov et al. 2013 (word2vec); Bojanowski et al.
    2017 (fastText).
    """

    def __init__(self, rows: npt.ArrayLike, keys: Mapping[str, int], source: str = "vectors"):
        self.rows = np.asarray(rows, np.float32)
        self.keys = dict(keys)
        self.source = source
        if self.rows.ndim != 2 or not np.isfinite(self.rows).all():
            raise ValueError(
                f"{source}: `rows` must be a matrix [R, dim] of finite numbers. "
                f"Received: shape={self.rows.shape}"
            )
        for word, index in self.keys.items():
            if not word or not 0 <= index < len(self.rows) or not BREAKS.isdisjoint(word):
                raise ValueError(
                    f"{source}: words must not be empty or contain a tab or a line break, and must "
                    f"have one of the {len(self.rows)} rows. Received: {word!r} with row {index}"
                )

    @property
    def dim(self) -> int:
        """Width of the vectors."""
        return self.rows.shape[1]

    @cached_property
    def compared(self) -> dict[str, int]:
        """Rows of the words in compared form (NFKC, lower case)."""
        result: dict[str, int] = {}
        for word, row in self.keys.items():
            form = compared_form(word)
            if form == word:
                result[form] = row
            elif form and BREAKS.isdisjoint(form):
                result.setdefault(form, self.keys.get(form, row))
        return result

    def row(self, word: str) -> int | None:
        """Returns the row of a word in its surface form, else in compared form; None if missing."""
        row = self.keys.get(word)
        return self.compared.get(compared_form(word)) if row is None else row

    def coverage(self, words: Iterable[str]) -> Coverage:
        """Counts the words that have a vector.

        Args:
            words: iterable of distinct words, or dict from word to count.
        """
        counts = words if isinstance(words, Mapping) else dict.fromkeys(words, 1)
        missing = {word: n for word, n in counts.items() if self.row(word) is None}
        total = sum(counts.values())
        return Coverage(
            found=len(counts) - len(missing),
            words=len(counts),
            occurrences_found=total - sum(missing.values()),
            occurrences=total,
            missing=tuple(sorted(missing, key=lambda word: -missing[word])[:20]),
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Saves the vectors in the compact format of `load_word_vectors`, as two files.

        `NAME.npz` contains the array `rows`, float32 `[R, dim]`; `NAME.keys.tsv.gz` in the same
        folder contains one line `word TAB row` per word, UTF-8, in the order of `keys`.

        Args:
            path: str or path. `NAME.npz`.

        Returns:
            The path of the rows.
        """
        path = Path(path)
        with replacing(path) as part, open(part, "wb") as file:
            np.savez_compressed(file, rows=self.rows)
        with replacing(path.with_name(path.stem + KEYS)) as part, open(part, "wb") as file:
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
                for word, row in self.keys.items():
                    packed.write(f"{word}\t{row}\n".encode())
        return path

    def __getitem__(self, word: str) -> np.ndarray:
        row = self.row(word)
        if row is None:
            raise KeyError(word)
        return self.rows[row]

    def __contains__(self, word: str) -> bool:
        return self.row(word) is not None

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        return f"<WordVectors {len(self):,} words on {len(self.rows):,} rows of {self.dim}>"


def set_vectors(
    embedding: Any,
    vocabulary: Any,
    vectors: WordVectors | str | os.PathLike[str],
    verbose: bool = True,
) -> Coverage:
    """Assigns pretrained vectors to the rows of a `tfmrc.layers.WordEmbedding`.

    The rows of special words, unknown words and words without a vector keep their values.

    Args:
        embedding: `tfmrc.layers.WordEmbedding`.
        vocabulary: `tfmrc.text.Vocabulary`, or sequence of all words by id, the special words
            first.
        vectors: `WordVectors`, or their source for `load_word_vectors`. A vocabulary with shared
            rows (`Vocabulary.with_vectors`) requires the vectors that it was built with.
        verbose: bool. Whether to print the coverage. Default: True.

    Returns:
        The `Coverage` of the words with their own row, without special words.

    Raises:
        ValueError: If the widths of vectors and rows differ, the vectors lack a word of a shared
            row, or the source is invalid (see `load_word_vectors`).

    Example:
        >>> import numpy as np
        >>> from tfmrc.encoders import WordVectors, set_vectors
        >>> from tfmrc.layers import WordEmbedding
        >>> vectors = WordVectors([[0.5, 1.0], [-1.0, 0.0]], {"the": 0, "owl": 1})
        >>> layer = WordEmbedding(vocabulary_size=6, dim=2)
        >>> words = ["[PAD]", "[UNK]", "[BOS]", "[EOS]", "owl", "cat"]
        >>> set_vectors(layer, words, vectors).share
        Word vectors (vectors): 1 of 2 words (50.0 percent)
        0.5
        >>> np.array(layer.words)[0].tolist()
        [-1.0, 0.0]
    """
    import keras

    words = tuple(getattr(vocabulary, "words", vocabulary))[NUM_SPECIAL:]
    shared: Mapping[str, int] = getattr(vocabulary, "shared_words", {})
    if not isinstance(vectors, WordVectors):
        from tfmrc.encoders.vectors.files import load_word_vectors

        vectors = load_word_vectors(vectors, words=None if shared else words)
    rows = np.array(keras.ops.convert_to_numpy(embedding.words))
    for index, word in enumerate(words):
        row = vectors.row(word)
        if row is not None:
            rows[index] = vectors.rows[row]
    for word, input_id in shared.items():
        row = vectors.compared.get(word)
        if row is None:
            raise ValueError(
                "A vocabulary with shared rows requires the vectors that it was built with. "
                f"Received: {vectors.source}, which has no vector of {word!r}"
            )
        rows[input_id - NUM_SPECIAL] = vectors.rows[row]
    embedding.words.assign(rows)
    coverage = vectors.coverage(words)
    if verbose:
        further = len(set(shared.values()))
        also = f"; {len(shared):,} further words on {further:,} rows" if shared else ""
        print(f"Word vectors ({vectors.source}): {coverage}{also}", flush=True)
    return coverage


def rows_from_subwords(
    words: Sequence[str], subword_tokenizer: Callable[[Sequence[str]], Any], table: npt.ArrayLike
) -> WordVectors:
    """Computes word vectors as the mean of a pretrained encoder's subword embeddings.

    These initialize the words of a decoder if no word vectors are available.

    Args:
        words: sequence of distinct str.
        subword_tokenizer: callable. Maps a list of words to the subword ids of each word: a ragged
            tensor or a sequence of sequences. A word without a subword gets no vector.
        table: `[subwords, dim]`, the encoder's embedding table.

    Returns:
        `WordVectors` with one row per word.

    Example:
        >>> from tfmrc.encoders import rows_from_subwords
        >>> pieces = {"owl": [0], "owls": [0, 1]}
        >>> vectors = rows_from_subwords(
        ...     ["owl", "owls"], lambda words: [pieces[w] for w in words], [[2.0, 0.0], [0.0, 4.0]]
        ... )
        >>> vectors["owls"].tolist()
        [1.0, 2.0]
    """
    table = np.asarray(table, np.float32)
    subwords = subword_tokenizer(list(words)) if len(words) else []
    subwords = subwords.to_list() if hasattr(subwords, "to_list") else subwords
    rows: list[np.ndarray] = []
    keys: dict[str, int] = {}
    for word, ids in zip(words, subwords, strict=True):
        if len(ids):
            keys[word] = len(rows)
            rows.append(table[np.asarray(ids)].mean(axis=0, dtype=np.float64))
    return WordVectors(np.reshape(rows, (-1, table.shape[1])), keys, source="subwords")
