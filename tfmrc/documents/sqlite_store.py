"""An index of passages in one SQLite file."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from typing import Any
from urllib.parse import quote

import numpy as np

from tfmrc.documents.document import Document, Passage
from tfmrc.documents.sqlite import sqlite3
from tfmrc.documents.store import check_index, no_index, passage_of, place_of, words_of
from tfmrc.utils.files import user_path

APPLICATION, VERSION = 0x74666D72, 2  # of the file's header
SECONDS = 10  # to wait for another process
PER_DOCUMENT = 1 << 24  # The passages of document 3 are the rows from 3 * PER_DOCUMENT on.
SCHEMA = (
    "CREATE TABLE folder (path TEXT)",
    "CREATE TABLE documents (id INTEGER PRIMARY KEY, name TEXT UNIQUE, version TEXT, content BLOB)",
    "CREATE TABLE vectors (id INTEGER PRIMARY KEY, content BLOB)",  # those of a document
    "CREATE VIRTUAL TABLE passages USING "
    "fts5(text, headings, place UNINDEXED, tokenize='porter unicode61')",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
FROM = f"FROM passages JOIN documents ON documents.id = passages.rowid / {PER_DOCUMENT}"
SEARCH = f"SELECT name, text, place, -rank {FROM} WHERE passages MATCH ? ORDER BY rank"
ALL = f"SELECT name, text, place {FROM} ORDER BY passages.rowid"
ONE = f"SELECT name, text, place {FROM} WHERE passages.rowid = ?"
TOGETHER = 1 << 14  # vectors that are float32 at a time


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
        ValueError: If it is damaged, of another version of tfmrc, or of another folder.
        TimeoutError: If another process keeps it locked.

    Example:

    >>> import os, tempfile
    >>> from tfmrc.documents import read_document, split_document
    >>> folder = tempfile.mkdtemp()
    >>> store = SQLiteStore(os.path.join(folder, "owls.index"), folder=folder)
    >>> document = read_document(b"An owl flew over the mill.", "owls.txt")
    >>> store.put("owls.txt", "1", document, list(split_document(document)))
    >>> [(passage.document, passage.text) for passage in store.search("Do owls fly?")]
    [('owls.txt', 'An owl flew over the mill.')]
    """

    def __init__(
        self, path: str | PathLike[str], *, folder: str | PathLike[str] | None = None
    ) -> None:
        self.path = user_path(path)
        self._vectors: tuple[object, np.ndarray, list[np.ndarray]] | None = None
        is_new = not self.path.is_file() or not self.path.stat().st_size
        if is_new and folder is None:
            raise no_index(path)
        mode = "ro" if folder is None else "rwc"
        with self._errors():
            self._connection = sqlite3.connect(
                f"file:{quote(str(self.path.absolute()))}?mode={mode}",
                uri=True,
                timeout=SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            if folder is not None and is_new:
                self._create(str(folder))
            self._check(folder)
            if folder is not None:
                # Readers are not in the way, and a commit does not wait for the disk.
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")

    def _create(self, folder: str) -> None:
        with self._transaction():
            for statement in SCHEMA:
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO folder VALUES (?)", [folder])

    def _check(self, folder: str | PathLike[str] | None) -> None:
        if self._value("PRAGMA application_id") != APPLICATION:
            raise ValueError(f"{self.path} is not an index of documents, but another database.")
        is_current = self._value("PRAGMA user_version") == VERSION
        stored = self._value("SELECT path FROM folder") if is_current else ""
        check_index(self.path, is_current, stored, folder)

    def versions(self) -> Mapping[str, str]:
        """Returns the version of each document by its name."""
        with self._errors():
            return dict(self._connection.execute("SELECT name, version FROM documents"))

    @property
    def dense(self) -> bool:
        """Whether passages have vectors."""
        with self._errors():
            return bool(self._value("SELECT EXISTS (SELECT 1 FROM vectors)"))

    def put(
        self,
        name: str,
        version: str,
        document: Document,
        passages: Sequence[Passage],
        vectors: np.ndarray | None = None,
    ) -> None:
        """Stores a document and its passages in place of earlier ones, in one transaction."""
        content = zlib.compress(document.text.encode())
        with self._errors(), self._transaction():
            self._remove(name)
            row = self._connection.execute(
                "INSERT INTO documents (name, version, content) VALUES (?, ?, ?)",
                [name, version, content],
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
                self._connection.execute("INSERT INTO vectors VALUES (?, ?)", [row, content])

    def remove(self, name: str) -> None:
        """Removes a document and its passages, in one transaction."""
        with self._errors(), self._transaction():
            self._remove(name)

    def _remove(self, name: str) -> None:
        row = self._value("SELECT id FROM documents WHERE name = ?", name)
        if row is not None:
            self._connection.execute(
                "DELETE FROM passages WHERE rowid >= ? AND rowid < ?",
                [row * PER_DOCUMENT, (row + 1) * PER_DOCUMENT],
            )
            self._connection.execute("DELETE FROM vectors WHERE id = ?", [row])
            self._connection.execute("DELETE FROM documents WHERE id = ?", [row])

    def search(self, question: str, k: int = 10) -> list[Passage]:
        """Returns the k different passages that fit a question best.

        Args:
            question: str. The question; its first 64 different words count.
            k: int. Largest number of passages. Default: 10.

        Returns:
            A list of `Passage`, the best one first, with BM25 scores. A text that occurs more than
            once is there once.
        """
        words = words_of(question)
        query = " OR ".join(f'"{word}"' for word in words)
        found: dict[str, Passage] = {}
        with self._errors():
            for row in self._connection.execute(SEARCH, [query]) if words else ():
                passage = passage_of(*row)
                found.setdefault(passage.text, passage)
                if len(found) == k:
                    break
        return list(found.values())

    def nearest(self, vector: np.ndarray, k: int = 10) -> list[Passage]:
        """Returns the k different passages whose vectors have the largest cosines with a vector.

        Args:
            vector: float `[dim]`, of length 1.
            k: int. Largest number of passages. Default: 10.

        Returns:
            A list of `Passage`, the best one first, with their cosines.
        """
        found: dict[str, Passage] = {}
        with self._errors():
            rows, vectors = self._read_vectors(vector.size)
            wanted = vector.astype(np.float32)
            parts = [part.astype(np.float32) @ wanted for part in vectors]
            cosines = np.concatenate([np.zeros(0, np.float32), *parts])
            for number in np.argsort(-cosines, kind="stable"):
                [(name, text, place)] = self._connection.execute(ONE, [int(rows[number])])
                found.setdefault(text, passage_of(name, text, place, float(cosines[number])))
                if len(found) == k:
                    break
        return list(found.values())

    def _read_vectors(self, dim: int) -> tuple[np.ndarray, list[np.ndarray]]:
        """Returns the rows of all vectors, int64 `[N]`, and the vectors in parts of `[.., dim]`.

        They stay in memory until a process changes the index.
        """
        state = self._value("PRAGMA data_version"), self._connection.total_changes
        if self._vectors is None or self._vectors[0] != state:
            stored = self._connection.execute("SELECT id, content FROM vectors ORDER BY id")
            rows, parts = [np.zeros(0, np.int64)], [np.zeros([0, dim], np.float16)]
            for document, content in stored:
                parts.append(np.frombuffer(content, np.float16).reshape(-1, dim))
                rows.append(document * PER_DOCUMENT + np.arange(len(parts[-1])))
            vectors = np.concatenate(parts)
            cuts = range(TOGETHER, len(vectors), TOGETHER)
            self._vectors = state, np.concatenate(rows), np.split(vectors, cuts)
        return self._vectors[1:]

    def passages(self) -> Iterator[Passage]:
        """Yields the passages of all documents."""
        with self._errors():
            for row in self._connection.execute(ALL):
                yield passage_of(*row)

    def document_text(self, name: str) -> str:
        """Returns the text of a document, to which the places of passages refer.

        Raises:
            KeyError: If there is no such document.
        """
        with self._errors():
            content = self._value("SELECT content FROM documents WHERE name = ?", name)
        if content is None:
            raise KeyError(name)
        return zlib.decompress(content).decode()

    def document_source(self, name: str) -> tuple[str, str]:
        """Returns the folder of a document's file, and the version that was stored.

        Raises:
            KeyError: If there is no such document.
        """
        with self._errors():
            version = self._value("SELECT version FROM documents WHERE name = ?", name)
            if version is None:
                raise KeyError(name)
            return self._value("SELECT path FROM folder"), version

    def close(self) -> None:
        """Closes the file; one that was written becomes a single file again if nobody reads it."""
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()

    def _value(self, statement: str, *values: object) -> Any:
        row = self._connection.execute(statement, values).fetchone()
        return row[0] if row else None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of SQLite as sentences about the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise TimeoutError(
                    f"{self.path} is in use by another process; try again when that has ended."
                ) from error
            if "fts5" in str(error):
                raise OSError(
                    f"{self.path} needs SQLite's full-text search, which TensorFlow hides from "
                    "what is imported after it: import sqlite3 first."
                ) from error
            raise OSError(f"{self.path} cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{self.path} is damaged, or no index of documents ({error}): delete it and run "
                "`tfmrc index` again."
            ) from error
