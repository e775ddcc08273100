"""Pretrained word vectors, and putting them into the rows of a word embedding."""

import gzip
import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tfmrc.ops.ids import NUM_SPECIAL

__all__ = ["Coverage", "WordVectors", "compared_form", "rows_from_subwords", "set_vectors"]

KEYS = ".keys.tsv.gz"


def compared_form(word: str) -> str:
    """The form in which `tfmrc.text.Tokenizer` compares words: NFKC, lower case.

    Example:
        >>> from tfmrc.encoders.word_vectors import compared_form
        >>> compared_form("Ｋ２"), compared_form("ÉTÉ")
        ('k2', 'été')
    """
    lowered = word.lower()
    return lowered if lowered.isascii() else unicodedata.normalize("NFKC", lowered).lower()


@dataclass(frozen=True)
class Coverage:
    """How many words have a pretrained vector.

    Attributes:
        found: distinct words with a vector.
        words: distinct words.
        occurrences_found: occurrences of the words with a vector; equal to `found` if no counts
            were given.
        occurrences: occurrences of all words; equal to `words` if no counts were given.
        missing: up to 20 words without a vector, the most frequent first.

    Example:
        >>> from tfmrc.encoders.word_vectors import Coverage
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
        """`found / words`; 0 if there are no words."""
        return self.found / max(1, self.words)

    def __str__(self) -> str:
        text = f"{self.found:,} of {self.words:,} words ({100 * self.share:.1f} percent)"
        if (self.found, self.words) != (self.occurrences_found, self.occurrences):
            share = self.occurrences_found / max(1, self.occurrences)
            text += f", {100 * share:.1f} percent of their occurrences"
        return text


class WordVectors:
    """Pretrained vectors of words; several words may share a row.

    The rows and the words are apart: spaCy's `en_core_web_md` has 684,830 words on 20,000 rows.
    A word is looked up as it is written and, failing that, in its compared form (NFKC, lower
    case), where the spelling that is in that form already wins over the others and, among those,
    the first. Measured on SQuAD, looking up the compared form alone finds as many words as trying
    both forms (98.66 percent of 303,609 words of the dev set at hand), so that
    `tfmrc.text.Vocabulary` holds compared forms only (`docs/text.md`).

    `load_word_vectors` reads them from files.

    Args:
        rows: float array `[R, dim]`.
        keys: row of each word, in the order of the file (by falling frequency in most).
        source: where they come from, for messages.

    Raises:
        ValueError: `rows` is not a matrix, holds a number that is not finite in float32, or a word
            is empty, holds a tab or a line break, or has a row that does not exist.

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

    def __init__(self, rows: Any, keys: Mapping[str, int], source: str = "vectors"):
        given = np.asarray(rows)
        if given.ndim != 2 or not given.shape[1] or given.dtype.kind not in "fiu":
            raise ValueError(
                f"{source}: `rows` must be a matrix of numbers [R, dim]. "
                f"Received: shape={given.shape}, dtype={given.dtype}"
            )
        with np.errstate(over="ignore"):
            self.rows = given.astype(np.float32, copy=False)
        finite = np.isfinite(self.rows).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            raise ValueError(
                f"{source}: numbers must be finite in float32. Received: rows[{row}]={given[row]}"
            )
        self.keys = dict(keys)
        self.source = source
        for word, index in self.keys.items():
            if not word or not 0 <= index < len(self.rows) or not _BREAKS.isdisjoint(word):
                raise ValueError(
                    f"{source}: words must not be empty or contain a tab or a line break, and must "
                    f"have one of the {len(self.rows)} rows. Received: {word!r} with row {index}"
                )

    @property
    def dim(self) -> int:
        """Width of a vector."""
        return self.rows.shape[1]

    @cached_property
    def compared(self) -> dict[str, int]:
        """Row of each word in compared form (NFKC, lower case)."""
        result: dict[str, int] = {}
        for word, row in self.keys.items():
            form = compared_form(word)
            if form == word:
                result[form] = row
            elif form and _BREAKS.isdisjoint(form):
                result.setdefault(form, self.keys.get(form, row))
        return result

    def row(self, word: str) -> int | None:
        """The row of a word: as it is written, else in compared form; None if it has none."""
        row = self.keys.get(word)
        return self.compared.get(compared_form(word)) if row is None else row

    def coverage(self, words: Iterable[str]) -> Coverage:
        """Counts how many words have a vector.

        Args:
            words: distinct words, or a mapping from words to how often they occur.
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
        """Writes the compact form that `load_word_vectors` reads: rows and keys in two files.

        `NAME.npz` holds the array `rows`, float32 `[R, dim]`; `NAME.keys.tsv.gz` beside it holds
        one line `word TAB row` per word, UTF-8, in the order of `keys`.

        Args:
            path: `NAME.npz`.

        Returns:
            The path of the rows.

        Raises:
            ValueError: the name does not end in `.npz`.
        """
        path = Path(path)
        if path.suffix != ".npz":
            raise ValueError(f"The file of the rows ends in .npz. Received: path={str(path)!r}")
        keys = path.with_suffix("").with_name(path.stem + KEYS)
        for target in (path, keys):
            part = target.with_name(target.name + ".part")
            with open(part, "wb") as file:
                if target == path:
                    np.savez_compressed(file, rows=self.rows)
                else:
                    with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
                        for word, row in self.keys.items():
                            packed.write(f"{word}\t{row}\n".encode())
            os.replace(part, target)
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


_BREAKS = frozenset("\t\n\r")


def set_vectors(
    embedding: Any,
    vocabulary: Any,
    vectors: WordVectors | str | os.PathLike[str],
    verbose: bool = True,
) -> Coverage:
    """Puts pretrained vectors into the rows of a `tfmrc.layers.WordEmbedding`.

    The special rows, those of unknown words, and those of words without a vector keep their values.

    Args:
        embedding: the layer.
        vocabulary: the `tfmrc.text.Vocabulary` of its rows, or all words by their ids, the special
            ones first.
        vectors: the vectors, or their source for `load_word_vectors`. A vocabulary with shared
            rows (`Vocabulary.with_vectors`) takes the vectors that it was made with.
        verbose: whether to print the coverage.

    Returns:
        The coverage of the words that have a row of their own, special ones left out.

    Raises:
        ValueError: the vectors are of another width than the rows, or lack a word whose row comes
            from them, or the source is wrong as described in `load_word_vectors`.

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
        from tfmrc.encoders.word_vector_files import load_word_vectors

        vectors = load_word_vectors(vectors, words=None if shared else words)
    rows = np.array(keras.ops.convert_to_numpy(embedding.words))
    if rows.shape[1] != vectors.dim:
        raise ValueError(
            "Vectors and rows have the same width. "
            f"Received: {vectors.dim} numbers in {vectors.source}, dim={rows.shape[1]}"
        )
    for index, word in enumerate(words):
        row = vectors.row(word)
        if row is not None:
            rows[index] = vectors.rows[row]
    for word, input_id in shared.items():
        row = vectors.compared.get(word)
        if row is None:
            raise ValueError(
                "A vocabulary with shared rows takes the vectors that it was made with. "
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
    words: Sequence[str], subword_tokenizer: Callable[[Sequence[str]], Any], table: Any
) -> WordVectors:
    """Makes a word's vector from a pretrained encoder's own subword embeddings: their mean.

    A decoder's words then begin with meaning where no word vectors are at hand.

    Args:
        words: distinct words.
        subword_tokenizer: takes a list of words and gives the subword ids of each: a ragged tensor
            or a sequence of sequences. A word without a subword gets no vector.
        table: the encoder's embedding table `[subwords, dim]`.

    Returns:
        `WordVectors` with one row per word.

    Raises:
        ValueError: the tokenizer gives another number of words, or an id beyond the table.

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
    if len(subwords) != len(words):
        raise ValueError(
            "A subword tokenizer gives the subwords of each word. "
            f"Received: {len(subwords)} rows for {len(words)} words"
        )
    rows: list[np.ndarray] = []
    keys: dict[str, int] = {}
    for word, ids in zip(words, subwords, strict=True):
        ids = np.asarray(ids, np.int64)
        if ids.size and not (0 <= ids.min() and ids.max() < len(table)):
            raise ValueError(
                f"Subword ids are rows of the table [{len(table)}, {table.shape[1]}]. "
                f"Received: {word!r} with {ids.tolist()}"
            )
        if ids.size:
            keys[word] = len(rows)
            rows.append(table[ids].mean(axis=0, dtype=np.float64))
    return WordVectors(np.reshape(rows, (-1, table.shape[1])), keys, source="subwords")
