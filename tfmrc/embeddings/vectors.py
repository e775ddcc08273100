"""Word vectors from text files, as GloVe's are offered, into the rows of a word embedding."""

import gzip
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from typing import IO, Any

import keras
import numpy as np

from tfmrc.ops.ids import NUM_SPECIAL

__all__ = ["read_vectors", "set_vectors"]


def read_vectors(path: str | PathLike[str], words: Iterable[str]) -> dict[str, np.ndarray]:
    """The vectors that a file has for some words; the file is read line by line and not held.

    A line holds a word and its numbers, spaces between them; words may hold spaces themselves, as
    a few of GloVe's do. A first line that tells rows and width (word2vec's text form) is passed
    over. Names end in ``.gz`` if they are compressed.

    Args:
        path: the file.
        words: what is looked for, in lower case as vocabularies hold it. Of a file that tells
            capitals apart a word takes the vector of its lower case, or, where there is none, the
            first that is the same but for capitals.

    Returns:
        float32 `[dim]` by word, of the words that are there.

    Raises:
        ValueError: a line has other numbers than the first, or none at all, or there is no line.

    Example:

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vectors.txt"
    >>> _ = path.write_text("the 0.5 1.0\\nOwl -1 0\\n")
    >>> read_vectors(path, ["owl", "cat"])
    {'owl': array([-1.,  0.], dtype=float32)}
    """
    wanted, found = set(words), dict[str, np.ndarray]()
    exact: set[str] = set()
    dim = 0
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            if line.isspace():
                continue
            fields = line.rstrip().split(" ")
            if number == 1 and len(fields) == 2 and all(map(str.isdecimal, fields)):
                continue
            if not dim:
                dim = len(fields) - 1
            if not 0 < dim < len(fields):
                raise ValueError(
                    f"{fspath(path)}, line {number}: not a word and {dim or 'some'} numbers. "
                    f"Received: {line[:60]!r}"
                )
            word = " ".join(fields[: len(fields) - dim])
            key = word if word in wanted else word.lower()
            if key not in wanted or key in exact or (key in found and key != word):
                continue
            try:
                found[key] = np.array(fields[len(fields) - dim :], np.float32)
            except ValueError as error:
                raise ValueError(f"{fspath(path)}, line {number}: {error}") from error
            if key == word:
                exact.add(key)
    if not dim:
        raise ValueError(f"{fspath(path)}: no vectors. Received: an empty file")
    return found


def set_vectors(embedding: Any, words: Sequence[str], path: str | PathLike[str]) -> float:
    """Puts a file's vectors into the rows of a `tfmrc.layers.WordEmbedding`.

    The special rows, those of unknown words, and those of words that the file does not have stay
    as they are.

    Args:
        embedding: the layer.
        words: all words by their ids, the special ones first (`tfmrc.text.Vocabulary.words`).
        path: the file.

    Returns:
        The share of the words (without the special ones) that have a vector now.

    Raises:
        ValueError: the vectors are of another width than the rows, or as for `read_vectors`.

    Example:

    >>> import pathlib, tempfile
    >>> from tfmrc.layers import WordEmbedding
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vectors.txt"
    >>> _ = path.write_text("the 0.5 1.0\\nowl -1 0\\n")
    >>> words = ["[PAD]", "[UNK]", "[BOS]", "[EOS]", "owl", "cat"]
    >>> layer = WordEmbedding(vocabulary_size=6, dim=2)
    >>> set_vectors(layer, words, path), layer.words.numpy()[0].tolist()
    (0.5, [-1.0, 0.0])
    """
    own = words[NUM_SPECIAL:]
    found = read_vectors(path, own)
    rows = np.array(keras.ops.convert_to_numpy(embedding.words))
    for row, word in enumerate(own):
        if word in found:
            if found[word].shape != rows[row].shape:
                raise ValueError(
                    "Vectors and rows are of one width. "
                    f"Received: {found[word].size} numbers in {fspath(path)}, "
                    f"dim={rows.shape[1]}"
                )
            rows[row] = found[word]
    embedding.words.assign(rows)
    return len(found) / max(1, len(own))


def _opened(path: str | PathLike[str]) -> IO[str]:
    if fspath(path).endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    return open(path, encoding="utf-8", newline="\n")
