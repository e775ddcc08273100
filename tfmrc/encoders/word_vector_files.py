"""Readers of word vectors: GloVe, word2vec, fastText, spaCy and tfmrc's compact format."""

import gzip
import itertools
import os
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from tfmrc.encoders.word_vectors import KEYS, WordVectors, compared_form

__all__ = ["load_word_vectors"]

FORMATS = ("auto", "text", "word2vec", "npz", "spacy")
SPACY = "spacy:"
BOM = b"\xef\xbb\xbf"
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
FASTTEXT = (793712314).to_bytes(4, "little")  # a fastText model, not its .vec file
FLORET = [b"<", b">"]  # the last fields of the first line of a floret table
CHUNK = 8192  # rows
MAX_DIM, MAX_WORD = 1 << 16, 1 << 12


def load_word_vectors(
    source: str | os.PathLike[str],
    words: Iterable[str] | None = None,
    limit: int | None = None,
    format: str = "auto",
) -> WordVectors:
    """Loads word vectors.

    | data | `source` | `format` |
    | --- | --- | --- |
    | GloVe: lines of a word and its numbers, separated by single spaces | a file | `text` |
    | word2vec's text format and fastText's `.vec`: the same after a line `words width` | a file | `text` |
    | word2vec's binary format | a file | `word2vec` |
    | compact format (`WordVectors.save`): `NAME.npz` and `NAME.keys.tsv.gz` | the `.npz` file | `npz` |
    | an installed spaCy pipeline, or its folder | `spacy:en_core_web_md` | `spacy` |

    Text and binary files may be gzipped, which is detected by content. They are streamed, so only
    the selected vectors are held in memory. A byte order mark is skipped. A word of a text file may
    contain spaces, as a few words of GloVe do. If a word occurs twice, the first vector is used. A
    word that is empty or contains a tab or a line break is left out.

    Args:
        source: str or path. See the table.
        words: iterable of str. Only words whose compared form (NFKC, lower case) is that of one of
            these are loaded. Default: None, all words.
        limit: int. Number of words to read from the beginning (files are sorted by frequency).
            Default: None, all words.
        format: str. See the table. Default: `auto`, detected.

    Returns:
        `WordVectors`.

    Raises:
        ValueError: The file has a wrong format, is truncated or is not UTF-8, or a number is not
            finite in float32. The message names the file and the line (or word, if binary).
        FileNotFoundError: The file or pipeline does not exist.
        ImportError: spaCy is not installed.

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
    if format not in FORMATS:
        raise ValueError(
            f"`format` must be one of {', '.join(FORMATS)}. Received: format={format!r}"
        )
    if limit is not None and limit < 1:
        raise ValueError(f"`limit` must be at least 1. Received: limit={limit}")
    name = os.fspath(source)
    wanted = None if words is None else {compared_form(word) for word in words}
    if format == "spacy" or (format == "auto" and name.startswith(SPACY)):
        rows, pairs = _spacy(name.removeprefix(SPACY))
        return _selected(rows, pairs, wanted, limit, name)
    path = Path(name)
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file of word vectors. Received: {name!r} "
            f"(an installed spaCy pipeline is written {SPACY}NAME)"
        )
    if format == "npz" or (format == "auto" and path.suffix == ".npz"):
        rows, keys_path = _compact_rows(path)
        return _selected(rows, _keys(keys_path, len(rows)), wanted, limit, path.name)
    location = _Location()
    with _opened(path) as file:
        try:
            return _streamed(file, path, wanted, limit, format, location)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(
                f"{path}, after {location}: the compressed file is damaged or truncated: {error}"
            ) from error


class _Location:
    """The current line or word of a file, for messages."""

    unit, number = "line", 0

    def __str__(self) -> str:
        return f"{self.unit} {self.number}"


class _Gathered:
    """Collects rows in chunks, so that they are copied only once."""

    def __init__(self, dim: int):
        self.dim = dim
        self.chunks: list[np.ndarray] = []
        self.keys: dict[str, int] = {}

    def add(self, word: str, vector: np.ndarray) -> None:
        row = len(self.keys)
        if row % CHUNK == 0:
            self.chunks.append(np.empty((CHUNK, self.dim), np.float32))
        self.chunks[-1][row % CHUNK] = vector
        self.keys[word] = row

    def finish(self, source: str) -> WordVectors:
        rows = np.empty((len(self.keys), self.dim), np.float32)
        for number in range(len(self.chunks)):
            begin = number * CHUNK
            rows[begin : begin + CHUNK] = self.chunks[number][: len(rows) - begin]
            self.chunks[number] = rows[:0]
        return WordVectors(rows, self.keys, source)


def _opened(path: Path) -> Any:
    with open(path, "rb") as file:
        start = file.read(4)
    if start == ZIP:
        raise ValueError(f"{path} is a zip archive: unpack it and pass one of its files.")
    if start == FASTTEXT:
        raise ValueError(
            f"{path} is a fastText model of subword vectors: pass its .vec file, or create one "
            "with `fasttext print-word-vectors`."
        )
    if start[:2] == GZIP:
        return gzip.open(path, "rb")
    if path.suffix == ".gz":
        raise ValueError(
            f"{path}, line 1: the name ends in .gz, but the file is not compressed by gzip. "
            f"Received: first bytes {start!r}"
        )
    return open(path, "rb")


def _streamed(
    file: Any,
    path: Path,
    wanted: set[str] | None,
    limit: int | None,
    format: str,
    location: _Location,
) -> WordVectors:
    first = file.readline()
    location.number = 1
    if first.split()[6:] == FLORET:
        raise ValueError(
            f"{path} is a floret table of hashed subwords: pass a file with a vector for each word."
        )
    header = _header(first)
    if format == "word2vec" and header is None:
        raise ValueError(
            f"{path}, line 1: the binary format begins with the number of words and their width. "
            f"Received: {first[:60]!r}"
        )
    if header is not None:
        if format == "word2vec" or (format == "auto" and _is_binary(file.peek(1 << 16), header[1])):
            location.unit, location.number = "word", 0
            return _binary(file, path, header, wanted, limit, location)
        first = b""
    with warnings.catch_warnings():  # NumPy warns if a field is not a number
        warnings.simplefilter("error", DeprecationWarning)
        return _text(file, first, path, header, wanted, limit, location)


def _header(line: bytes) -> tuple[int, int] | None:
    fields = line.removeprefix(BOM).split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _is_binary(start: bytes, dim: int) -> bool:
    """Returns True unless the header is followed by a line of a word and `dim` numbers."""
    if not start:
        return False
    line, *more = start.split(b"\n", 1)
    fields = line.split()[1:]
    if not more and len(fields) > 1:
        fields.pop()  # the last number may be incomplete
    try:
        numbers = [float(field) for field in fields[-dim:]]
    except ValueError:
        return True
    return not numbers


def _text(
    file: IO[bytes],
    first: bytes,
    path: Path,
    header: tuple[int, int] | None,
    wanted: set[str] | None,
    limit: int | None,
    location: _Location,
) -> WordVectors:
    gathered = _Gathered(header[1]) if header else None
    count = 0
    lines: Iterator[bytes] = file
    if first:
        lines = itertools.chain([first], file)
        location.number = 0
    for line in lines:
        location.number += 1
        if location.number == 1:
            line = line.removeprefix(BOM)
        if line.isspace():
            continue
        try:
            text = line.decode("utf-8").rstrip("\r\n ")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path}, {location}: not UTF-8 (byte {error.start} is {line[error.start]:#x}); "
                "convert the file, for example with `iconv -f LATIN1 -t UTF-8`."
            ) from error
        if gathered is None:
            if "\t" in text:  # of a file whose fields are separated by tabs
                raise _not_a_line(text, len(text.split()) - 1, path, location)
            gathered = _Gathered(max(1, len(text.split(" ")) - 1))
        word, numbers = _word_and_numbers(text, gathered.dim, path, location)
        count += 1
        if limit is not None and count > limit:
            count -= 1
            break
        if not _is_word(word) or word in gathered.keys or not _is_wanted(word, wanted):
            continue
        gathered.add(word, _finite(_parsed(numbers, gathered.dim, path, location), path, location))
    if gathered is None or not count:
        raise ValueError(f"{path}: the file has no vectors. Received: an empty file")
    if header is not None and limit is None and count != header[0]:
        raise ValueError(
            f"{path}, after {location}: the first line states {header[0]} words. "
            f"Received: {count} words"
        )
    return gathered.finish(path.name)


def _word_and_numbers(text: str, dim: int, path: Path, location: _Location) -> tuple[str, str]:
    """Splits a line into a word, which may contain spaces, and `dim` numbers."""
    if text.count(" ") == dim:
        word, _, numbers = text.partition(" ")
        return word, numbers
    fields = text.rsplit(" ", dim)
    if len(fields) != dim + 1 or _ends_in_a_number(fields[0]):
        raise _not_a_line(text, dim, path, location)
    return fields[0], text[len(fields[0]) + 1 :]


def _not_a_line(text: str, dim: int, path: Path, location: _Location) -> ValueError:
    tabs = " separated by single spaces, not tabs" if "\t" in text else ""
    return ValueError(
        f"{path}, {location}: expected a word and {dim} numbers{tabs}. Received: {text[:60]!r}"
    )


def _ends_in_a_number(word: str) -> bool:
    """Returns True for what is left of a line if it has more numbers than the others."""
    *before, last = word.split(" ")
    try:
        return bool(before) and np.isfinite(float(last))
    except ValueError:
        return False


def _parsed(numbers: str, dim: int, path: Path, location: _Location) -> np.ndarray:
    try:
        vector = np.fromstring(numbers, np.float64, sep=" ")
    except (ValueError, DeprecationWarning):
        vector = np.empty(0)
    if vector.size != dim:
        raise ValueError(
            f"{path}, {location}: expected {dim} numbers after the word. Received: {numbers[:60]!r}"
        )
    return vector


def _finite(vector: np.ndarray, path: Path, location: _Location) -> np.ndarray:
    with np.errstate(over="ignore"):
        result = vector.astype(np.float32, copy=False)
    if not np.isfinite(result).all():
        bad = vector[~np.isfinite(result)][0]
        raise ValueError(f"{path}, {location}: numbers must be finite in float32. Received: {bad}")
    return result


def _is_wanted(word: str, wanted: set[str] | None) -> bool:
    return wanted is None or word in wanted or compared_form(word) in wanted


def _binary(
    file: Any,
    path: Path,
    header: tuple[int, int],
    wanted: set[str] | None,
    limit: int | None,
    location: _Location,
) -> WordVectors:
    """Reads entries of a word, a space, `dim` little-endian float32 and an optional line break."""
    count, dim = header
    if not count or not 0 < dim <= MAX_DIM:
        raise ValueError(
            f"{path}, line 1: expected the number of words and their width. Received: {header}"
        )
    gathered = _Gathered(dim)
    for _ in range(min(count, limit or count)):
        location.number += 1
        word = _binary_word(file, path, count, location)
        numbers = file.read(4 * dim)
        if len(numbers) < 4 * dim:
            raise ValueError(
                f"{path}, {location}: the file is truncated. "
                f"Received: {location.number - 1} of {count} words"
            )
        if _is_word(word) and word not in gathered.keys and _is_wanted(word, wanted):
            gathered.add(word, _finite(np.frombuffer(numbers, "<f4"), path, location))
    if limit is None and file.read(64).strip():
        raise ValueError(
            f"{path}, after {location}: the first line states {count} words of {dim} numbers. "
            "Received: more bytes"
        )
    return gathered.finish(path.name)


def _binary_word(file: Any, path: Path, count: int, location: _Location) -> str:
    letters = bytearray()
    while (letter := file.read(1)) != b" ":
        if not letter or len(letters) > MAX_WORD:
            raise ValueError(
                f"{path}, {location}: the file is truncated or not in word2vec's binary format. "
                f"Received: {location.number - 1} of {count} words"
            )
        letters += letter
    try:
        return letters.lstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}, {location}: not UTF-8, or the file is damaged before this word. "
            f"Received: {bytes(letters[:60])!r}"
        ) from error


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
        if _is_wanted(word, wanted):
            keys.setdefault(word, row)
    if wanted is None and limit is None:
        return WordVectors(rows, keys, source)
    used = sorted(set(keys.values()))
    new = {row: index for index, row in enumerate(used)}
    return WordVectors(rows[used], {word: new[row] for word, row in keys.items()}, source)


def _compact_rows(path: Path) -> tuple[np.ndarray, Path]:
    """Returns the array and the path of the keys, `NAME.keys.tsv.gz`."""
    candidates = [path.with_name(stem + KEYS) for stem in (path.stem, Path(path.stem).stem) if stem]
    keys_path = next((candidate for candidate in candidates if candidate.is_file()), None)
    if keys_path is None:
        raise FileNotFoundError(
            f"{path} needs a file of keys in the same folder: {candidates[0].name}, "
            "lines `word TAB row`."
        )
    try:
        with np.load(path, allow_pickle=False) as arrays:
            rows = arrays["rows"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(
            f"{path}: expected an .npz file with an array `rows` [R, dim]. Received: {error}"
        ) from error
    return rows, keys_path


def _keys(path: Path, num_rows: int) -> Iterator[tuple[str, int]]:
    number = 0
    try:
        with gzip.open(path, "rb") as file:
            for line in file:
                number += 1
                try:
                    word, row = line.decode("utf-8").rstrip("\r\n").split("\t")
                    if not word or not 0 <= int(row) < num_rows:
                        raise ValueError
                except ValueError:
                    raise ValueError(
                        f"{path}, line {number}: expected `word TAB row` in UTF-8, rows from 0 to "
                        f"{num_rows - 1}. Received: {line[:60]!r}"
                    ) from None
                yield word, int(row)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"{path}, after line {number}: the compressed file is damaged or truncated: {error}"
        ) from error


def _spacy(name: str) -> tuple[np.ndarray, list[tuple[str, int]]]:
    """Reads the vectors of a pipeline's vocabulary, without loading its components."""
    try:
        from spacy.strings import StringStore
        from spacy.util import get_package_path, is_package
        from spacy.vectors import Vectors
    except ImportError as error:
        raise ImportError(
            'The vectors of a spaCy pipeline need spaCy: pip install "tfmrc[spacy]". '
            f"Received: {SPACY}{name}"
        ) from error
    folder = get_package_path(name) if is_package(name) else Path(name)
    configs = [*folder.glob("config.cfg"), *folder.glob("*/config.cfg")]
    if not configs:
        raise FileNotFoundError(
            f"The spaCy pipeline is not installed: python -m spacy download {name}. "
            f"Received: {SPACY}{name}"
        )
    path = configs[0].parent / "vocab"
    strings = StringStore().from_disk(path / "strings.json")
    vectors = Vectors(strings=strings).from_disk(path)
    if not vectors.key2row or not vectors.data.size:
        raise ValueError(
            f"The pipeline has no table of word vectors; use one whose name ends in md or lg. "
            f"Received: {SPACY}{name}"
        )
    pairs = [
        (strings[key], int(row))
        for key, row in vectors.key2row.items()
        if row >= 0 and key in strings
    ]
    return np.asarray(vectors.data), [(word, row) for word, row in pairs if _is_word(word)]


def _is_word(word: str) -> bool:
    """Returns False for what no tokenizer gives: nothing, a tab or a line break in a word."""
    return bool(word) and not any(mark in word for mark in "\t\n\r")
