"""An index of passages in one SQLite file."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from typing import Any
from urllib.parse import quote

import numpy as np

from tfmrc.documents.document import Passage
from tfmrc.documents.sqlite import sqlite3
from tfmrc.documents.store import check_index, different, no_index, passage_of, place_of, words_of
from tfmrc.utils.files import user_path

VERSION = 0x74666D03  # of the file's header, as `application_id`
SECONDS = 10  # to wait for another process
PER_DOCUMENT = 1 << 24  # The passages of document 3 are the rows from 3 * PER_DOCUMENT on.
SCHEMA = (
    "CREATE TABLE folder (path TEXT)",
    "CREATE TABLE documents (id INTEGER PRIMARY KEY, name TEXT UNIQUE, version TEXT, content BLOB)",
    "CREATE TABLE vectors (id INTEGER PRIMARY KEY, content BLOB)",  # those of a document
    "CREATE VIRTUAL TABLE passages USING "
    "fts5(text, headings, place UNINDEXED, tokenize='porter unicode61')",
    "CREATE TRIGGER parts DELETE ON documents BEGIN"
    " DELETE FROM vectors WHERE id = old.id;"
    f" DELETE FROM passages WHERE rowid >= old.id * {PER_DOCUMENT}"
    f" AND rowid < (old.id + 1) * {PER_DOCUMENT}; END",
    f"PRAGMA application_id = {VERSION}",
)
FROM = f"FROM passages JOIN documents ON documents.id = passages.rowid / {PER_DOCUMENT}"
SEARCH = f"SELECT name, text, place, -rank {FROM} WHERE passages MATCH ? ORDER BY rank"
ALL = f"SELECT name, text, place {FROM} ORDER BY passages.rowid"
ONE = f"SELECT name, text, place, ? {FROM} WHERE passages.rowid = ?"


class SQLiteStore:
    """An index of passages in one SQLite file: full-text search (FTS5) by BM25, and vectors.

    A passage fits if it, or a heading above it, has a word of the question; endings of English
    words do not count. Each document is written in one transaction. An index can be searched while
    another process writes it.

    Args:
        path: str or path. The file.
        folder: str, path or None. The folder whose documents it stores, to write it; None to read
            it. Default: None.

    Raises:
        FileNotFoundError: If there is no such file, and no folder is given.
        ValueError: If it is of another version of tfmrc, or of another folder.
        OSError: If it is damaged, or another process keeps it locked.

    Example:

    >>> import os, tempfile
    >>> from tfmrc.documents import read_document, split_document
    >>> folder = tempfile.mkdtemp()
    >>> store = SQLiteStore(os.path.join(folder, "owls.index"), folder=folder)
    >>> document = read_document(b"An owl flew over the mill.", "owls.txt")
    >>> store.put("owls.txt", "1", document.text, list(split_document(document)))
    >>> [(passage.document, passage.text) for passage in store.search("Do owls fly?")]
    [('owls.txt', 'An owl flew over the mill.')]
    """

    def __init__(
        self, path: str | PathLike[str], *, folder: str | PathLike[str] | None = None
    ) -> None:
        self.path = user_path(path)
        self._vectors: tuple[object, np.ndarray, list[np.ndarray]] | None = None
        if folder is None and not self.path.is_file():
            raise no_index(path)
        place = quote(str(self.path.absolute()))
        with self._errors():
            self._connection = sqlite3.connect(
                f"file:{place}?mode={'ro' if folder is None else 'rwc'}",
                uri=True,
                timeout=SECONDS,
                check_same_thread=False,
            )
            if folder is not None and not self._value("SELECT count(*) FROM sqlite_schema"):
                self._create(str(folder))
            is_current = self._value("PRAGMA application_id") == VERSION
            self.folder = self._value("SELECT path FROM folder") if is_current else ""
            check_index(path, is_current, self.folder, folder)
            if folder is not None:
                # Readers are not in the way, and a commit does not wait for the disk.
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")

    def _create(self, folder: str) -> None:
        with self._connection:
            for statement in ("BEGIN IMMEDIATE", *SCHEMA):
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO folder VALUES (?)", [folder])

    def versions(self) -> Mapping[str, str]:
        """Returns the version of each document by its name."""
        return dict(self._rows("SELECT name, version FROM documents"))

    @property
    def dense(self) -> bool:
        """Whether passages have vectors."""
        return bool(self._value("SELECT EXISTS (SELECT 1 FROM vectors)"))

    def put(
        self,
        name: str,
        version: str,
        text: str,
        passages: Sequence[Passage],
        vectors: np.ndarray | None = None,
    ) -> None:
        """Stores a document and its passages in place of earlier ones, in one transaction."""
        with self._errors(), self._connection:
            execute = self._connection.execute
            execute("DELETE FROM documents WHERE name = ?", [name])
            row = execute(
                "INSERT INTO documents (name, version, content) VALUES (?, ?, ?)",
                [name, version, zlib.compress(text.encode())],
            ).lastrowid
            rows = (
                (number, passage.text, "\n".join(passage.heading), place_of(passage))
                for number, passage in enumerate(passages, (row or 0) * PER_DOCUMENT)
            )
            self._connection.executemany(
                "INSERT INTO passages (rowid, text, headings, place) VALUES (?, ?, ?, ?)", rows
            )
            if vectors is not None:
                content = vectors.astype(np.float16).tobytes()
                execute("INSERT INTO vectors VALUES (?, ?)", [row, content])

    def remove(self, name: str) -> None:
        """Removes a document and its passages, in one transaction."""
        with self._errors(), self._connection:
            self._connection.execute("DELETE FROM documents WHERE name = ?", [name])

    def search(self, question: str, k: int = 10) -> list[Passage]:
        """Returns the k different passages that fit a question best.

        Args:
            question: str. The question; its first 64 different words count.
            k: int. Largest number of passages. Default: 10.

        Returns:
            A list of `Passage`, the best one first, with BM25 scores. A text that occurs more than
            once is there once.
        """
        query = " OR ".join(f'"{word}"' for word in words_of(question)) or '""'
        return different((passage_of(*row) for row in self._rows(SEARCH, query)), k)

    def nearest(self, vector: np.ndarray, k: int = 10) -> list[Passage]:
        """Returns the k different passages whose vectors have the largest cosines with a vector.

        Args:
            vector: float `[dim]`, of length 1.
            k: int. Largest number of passages. Default: 10.

        Returns:
            A list of `Passage`, the best one first, with their cosines.
        """
        rows, parts = self._read_vectors(vector.size)
        wanted = vector.astype(np.float32)
        cosines = np.concatenate([part.astype(np.float32) @ wanted for part in parts])
        best = np.argsort(-cosines, kind="stable")
        found = (next(self._rows(ONE, float(cosines[n]), int(rows[n]))) for n in best)
        return different((passage_of(*row) for row in found), k)

    def _read_vectors(self, dim: int) -> tuple[np.ndarray, list[np.ndarray]]:
        """Returns the rows of all vectors, int64 `[N]`, and those of each document `[.., dim]`.

        They stay in memory until a process changes the index.
        """
        state = self._value("PRAGMA data_version"), self._connection.total_changes
        if self._vectors is None or self._vectors[0] != state:
            rows: list[np.ndarray] = []
            parts: list[np.ndarray] = []
            for document, content in self._rows("SELECT id, content FROM vectors ORDER BY id"):
                parts.append(np.frombuffer(content, np.float16).reshape(-1, dim))
                rows.append(document * PER_DOCUMENT + np.arange(len(parts[-1])))
            self._vectors = state, np.concatenate(rows), parts
        return self._vectors[1:]

    def passages(self) -> Iterator[Passage]:
        """Yields the passages of all documents."""
        return (passage_of(*row) for row in self._rows(ALL))

    def document_text(self, name: str) -> str:
        """Returns the text of a document, to which the places of passages refer.

        Raises:
            KeyError: If there is no such document.
        """
        content = self._value("SELECT content FROM documents WHERE name = ?", name)
        if content is None:
            raise KeyError(name)
        return zlib.decompress(content).decode()

    def close(self) -> None:
        """Closes the file; one that was written becomes a single file again if nobody reads it."""
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()

    def _rows(self, statement: str, *values: object) -> Iterator[Any]:
        """Yields the rows of a statement."""
        with self._errors():
            yield from self._connection.execute(statement, values)

    def _value(self, statement: str, *values: object) -> Any:
        return next(self._rows(statement, *values), [None])[0]

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of SQLite as sentences about the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise OSError(
                f"{self.path} is in use, damaged or no index of documents ({error}). If it is "
                "damaged, delete it and run `tfmrc index` again."
            ) from error
