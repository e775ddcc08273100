"""Readers of word vectors: GloVe's and word2vec's text, tfmrc's compact format, and binaries."""

import gzip
import itertools
import os
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from tfmrc.encoders.vectors.word_vectors import BREAKS, KEYS, WordVectors, compared_form
from tfmrc.utils.files import user_path
from tfmrc.utils.optional import optional_import

GZIP = b"\x1f\x8b"
FASTTEXT = (793712314).to_bytes(4, "little")  # a fastText model, not its .vec file


def load_word_vectors(
    source: str | os.PathLike[str], words: Iterable[str] | None = None, limit: int | None = None
) -> WordVectors:
    """Loads word vectors.

    | data | `source` |
    | --- | --- |
    | GloVe: lines of a word and its numbers, separated by single spaces | a text file |
    | word2vec's text format and fastText's `.vec`: the same after a line `words width` | a text file |
    | compact format (`WordVectors.save`): `NAME.npz` and `NAME.keys.tsv.gz` | the `.npz` file |
    | word2vec's and fastText's binary formats (with the package gensim) | a `.bin` or `.bin.gz` file |

    Text files may be gzipped. They are streamed, so only the selected vectors are held in memory. A
    word of a text file may contain spaces, as a few words of GloVe do. If a word occurs twice, the
    first vector is used. A word that is empty or contains a tab or a line break is left out.

    Args:
        source: str or path. See the table.
        words: iterable of str. Only words whose compared form (NFKC, lower case) is that of one of
            these are loaded. Default: None, all words.
        limit: int. Number of words to read from the beginning (files are sorted by frequency).
            Default: None, all words.

    Returns:
        `WordVectors`.

    Raises:
        ValueError: If a text file is damaged or not UTF-8, a line is not a word and its numbers, or there are fewer
            words than the first line states.
        ImportError: If gensim is not installed.

    Example:
        >>> import pathlib, tempfile
        >>> from tfmrc.encoders import load_word_vectors
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "vectors.txt"
        >>> _ = path.write_text("the 0.5 1.0\\nOwl -1 0\\n")
        >>> vectors = load_word_vectors(path)
        >>> vectors["owl"].tolist()
        [-1.0, 0.0]
        >>> load_word_vectors(path, words=["the"])
        <WordVectors 1 words on 1 rows of 2>
    """  # noqa: E501
    path = user_path(source)
    wanted = None if words is None else {compared_form(word) for word in words}
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return _selected(arrays["rows"], _keys(path), wanted, limit, path.name)
    with open(path, "rb") as file:
        start = file.read(4)
    if start == FASTTEXT or path.name.endswith((".bin", ".bin.gz")):
        vectors = _by_gensim(path, start == FASTTEXT, limit)
        return _selected(vectors.vectors, vectors.key_to_index.items(), wanted, limit, path.name)
    try:
        return _text(path, start[:2] == GZIP, wanted, limit)
    except (UnicodeDecodeError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged or not UTF-8: {error}") from error


def _text(path: Path, packed: bool, wanted: set[str] | None, limit: int | None) -> WordVectors:
    opener: Callable[..., IO[str]] = gzip.open if packed else open
    numbers = array("f")
    keys: dict[str, int] = {}
    dim = stated = None
    count = 0
    # Only a line feed ends a line: a word may have other line breaks.
    with opener(path, "rt", encoding="utf-8-sig", newline="\n") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\r\n ")
            fields = line.split(" ")
            if number == 1 and len(fields) == 2 and all(map(str.isdecimal, fields)):
                stated, dim = map(int, fields)
                continue
            if count == limit:
                break
            if not line:
                continue
            dim = dim or len(fields) - 1
            count += 1
            word = " ".join(fields[:-dim])  # which may have spaces
            try:
                if len(fields) <= dim or dim < 1:
                    raise ValueError
                if _is_word(word) and word not in keys and _is_wanted(word, wanted):
                    numbers.extend(map(float, fields[-dim:]))
                    keys[word] = len(keys)
            except ValueError:
                raise ValueError(
                    f"{path}, line {number}: expected a word and {dim} numbers, separated by "
                    f"single spaces. Received: {line[:60]!r}"
                ) from None
    if stated is not None and limit is None and count != stated:
        raise ValueError(
            f"{path} is truncated: its first line states {stated} words. Received: {count} words"
        )
    rows = np.frombuffer(numbers, np.float32) if keys else np.zeros(0, np.float32)
    return WordVectors(rows.reshape(-1, dim or 1), keys, path.name)


def _by_gensim(path: Path, is_fasttext: bool, limit: int | None) -> Any:
    with optional_import("gensim"):
        from gensim.models import KeyedVectors, fasttext
    if is_fasttext:
        return fasttext.load_facebook_vectors(path)
    return KeyedVectors.load_word2vec_format(path, binary=True, limit=limit)


def _selected(
    rows: np.ndarray,
    pairs: Iterable[tuple[str, int]],
    wanted: set[str] | None,
    limit: int | None,
    source: str,
) -> WordVectors:
    """Selects the wanted words and their rows."""
    keys: dict[str, int] = {}
    for word, row in itertools.islice(pairs, limit):
        if _is_word(word) and _is_wanted(word, wanted):
            keys.setdefault(word, row)
    if wanted is None and limit is None:
        return WordVectors(rows, keys, source)
    used = sorted(set(keys.values()))
    new = {row: index for index, row in enumerate(used)}
    return WordVectors(rows[used], {word: new[row] for word, row in keys.items()}, source)


def _keys(path: Path) -> Iterator[tuple[str, int]]:
    """Yields the words and rows of `NAME.keys.tsv.gz`; NAME may lack the width in NAME.300d.npz."""
    keys = path.with_name(path.stem + KEYS)
    if not keys.is_file():
        keys = path.with_name(Path(path.stem).stem + KEYS)
    with gzip.open(keys, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            word, _, row = line.rstrip("\r\n").partition("\t")
            yield word, int(row)


def _is_wanted(word: str, wanted: set[str] | None) -> bool:
    return wanted is None or word in wanted or compared_form(word) in wanted


def _is_word(word: str) -> bool:
    """Returns False for what no tokenizer gives: nothing, a tab or a line break in a word."""
    return bool(word) and BREAKS.isdisjoint(word)
