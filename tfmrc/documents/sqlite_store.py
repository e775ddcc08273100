"""An index of passages in one SQLite file."""

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from typing import Any
from urllib.parse import quote

from tfmrc.documents.document import Document, Passage
from tfmrc.documents.sqlite import sqlite3
from tfmrc.utils.files import user_path

__all__ = ["SQLiteStore"]

APPLICATION, VERSION = 0x74666D72, 1  # of the file's header
SECONDS = 10  # to wait for another process
MOST_WORDS = 64  # of a question
COMMON = frozenset(
    "a an and are as at be by can could did do does for from had has have how i in is it its me my "
    "of on or should that the their there this to was we were what when where which who whom whose "
    "why will with would you your".split()
)
"""Words of a question that are not searched for if it has others: nearly every passage has them."""

# A text that occurs below the same heading more than once is one row of `texts`.
SCHEMA = """
CREATE TABLE folder (path TEXT NOT NULL);

CREATE TABLE documents (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, version TEXT NOT NULL,
    content BLOB NOT NULL
);

CREATE TABLE texts (
    id INTEGER PRIMARY KEY, text TEXT NOT NULL, heading TEXT NOT NULL, UNIQUE (text, heading)
);

CREATE TABLE passages (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL, text INTEGER NOT NULL,
    start INTEGER NOT NULL, end INTEGER NOT NULL, page INTEGER, page_starts TEXT NOT NULL
);

CREATE INDEX passages_of_document ON passages (document);

CREATE INDEX passages_of_text ON passages (text);

CREATE VIRTUAL TABLE words USING fts5(
    text, heading, content='texts', content_rowid='id', tokenize='porter unicode61'
);

CREATE TRIGGER text_added AFTER INSERT ON texts BEGIN
    INSERT INTO words (rowid, text, heading) VALUES (new.id, new.text, new.heading);
END;

CREATE TRIGGER text_removed AFTER DELETE ON texts BEGIN
    INSERT INTO words (words, rowid, text, heading)
    VALUES ('delete', old.id, old.text, old.heading);
END;
""".split("\n\n")
SEARCH = """
SELECT texts.text, texts.heading, found.rank, documents.name,
    passages.start, passages.end, passages.page, passages.page_starts
FROM (
    SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?
) AS found
JOIN texts ON texts.id = found.rowid
JOIN passages ON passages.id = (SELECT min(id) FROM passages WHERE text = texts.id)
JOIN documents ON documents.id = passages.document
ORDER BY found.rank
"""


class SQLiteStore:
    """An index of passages in one SQLite file: full-text search (FTS5) by BM25.

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
        is_new = not self.path.is_file() or not self.path.stat().st_size
        if is_new and folder is None:
            raise FileNotFoundError(
                f"There is no index {path}: `tfmrc index FOLDER --to {path}` makes one."
            )
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
            if self._value("SELECT count(*) FROM sqlite_master"):
                return  # another process was faster
            for statement in SCHEMA:
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO folder VALUES (?)", [folder])
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {VERSION}")

    def _check(self, folder: str | PathLike[str] | None) -> None:
        if self._value("PRAGMA application_id") != APPLICATION:
            raise ValueError(f"{self.path} is not an index of documents, but another database.")
        version = self._value("PRAGMA user_version")
        if version != VERSION:
            raise ValueError(
                f"{self.path} is an index of version {version}, and this tfmrc reads version "
                f"{VERSION}: delete it and run `tfmrc index` again."
            )
        stored = self._value("SELECT path FROM folder")
        if folder is not None and stored != str(folder):
            raise ValueError(
                f"{self.path} is the index of {stored}; choose another file for {folder}, or "
                "delete this one."
            )

    def versions(self) -> Mapping[str, str]:
        """Returns the version of each document by its name."""
        with self._errors():
            return dict(self._connection.execute("SELECT name, version FROM documents"))

    def put(self, name: str, version: str, document: Document, passages: Sequence[Passage]) -> None:
        """Stores a document and its passages in place of earlier ones, in one transaction."""
        content = zlib.compress(document.text.encode("utf-8", "surrogatepass"))
        keys = [(passage.text, "\n".join(passage.heading)) for passage in passages]
        places = [
            (passage.start, passage.end, passage.page, json.dumps(passage.page_starts))
            for passage in passages
        ]
        with self._errors(), self._transaction():
            self._remove(name)
            row = self._connection.execute(
                "INSERT INTO documents (name, version, content) VALUES (?, ?, ?)",
                [name, version, content],
            ).lastrowid
            self._connection.executemany(
                "INSERT OR IGNORE INTO texts (text, heading) VALUES (?, ?)", keys
            )
            self._connection.executemany(
                "INSERT INTO passages (document, text, start, end, page, page_starts) "
                "SELECT ?, id, ?, ?, ?, ? FROM texts WHERE text = ? AND heading = ?",
                [(row, *place, *key) for place, key in zip(places, keys, strict=True)],
            )

    def remove(self, name: str) -> None:
        """Removes a document and its passages, in one transaction."""
        with self._errors(), self._transaction():
            self._remove(name)

    def _remove(self, name: str) -> None:
        row = self._value("SELECT id FROM documents WHERE name = ?", name)
        self._connection.execute(
            "DELETE FROM texts WHERE id IN (SELECT text FROM passages WHERE document = ?1) AND "
            "NOT EXISTS (SELECT 1 FROM passages WHERE text = texts.id AND document != ?1)",
            [row],
        )
        self._connection.execute("DELETE FROM passages WHERE document = ?", [row])
        self._connection.execute("DELETE FROM documents WHERE id = ?", [row])

    def count_passages(self) -> int:
        """Returns the number of different passages."""
        with self._errors():
            return int(self._value("SELECT count(*) FROM texts"))

    def search(self, question: str, k: int = 10) -> list[Passage]:
        """Returns the k different passages that fit a question best.

        Args:
            question: str. The question; its first 64 different words count.
            k: int. Largest number of passages. Default: 10.

        Returns:
            A list of `Passage`, the best one first, with the place where each occurs first and
            with its BM25 score.
        """
        words = list(dict.fromkeys(re.findall(r"\w+", question.lower())))[:MOST_WORDS]
        words = [word for word in words if word not in COMMON] or words
        query = " OR ".join(f'"{word}"' for word in words)
        with self._errors():
            rows = self._connection.execute(SEARCH, [query, k]).fetchall() if words else []
        return [
            Passage(
                text=text,
                start=start,
                end=end,
                heading=tuple(heading.split("\n")) if heading else (),
                document=name,
                page=page,
                page_starts=tuple(json.loads(page_starts)),
                score=-rank,
            )
            for text, heading, rank, name, start, end, page, page_starts in rows
        ]

    def document_text(self, name: str) -> str:
        """Returns the text of a document, to which the places of passages refer.

        Raises:
            KeyError: If there is no such document.
        """
        with self._errors():
            content = self._value("SELECT content FROM documents WHERE name = ?", name)
        if content is None:
            raise KeyError(name)
        return zlib.decompress(content).decode("utf-8", "surrogatepass")

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
