"""An index of passages as a table of LanceDB, in a folder or in object storage."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from os import PathLike, fspath
from typing import Any

import numpy as np

from tfmrc.documents.document import Passage
from tfmrc.documents.store import check_index, different, no_index, passage_of, place_of, words_of
from tfmrc.utils.files import user_path
from tfmrc.utils.optional import optional_import

SUFFIX = ".lance"
VERSION = b"1"
DIM = 384  # of MiniLM's vectors
TOGETHER = 4096  # rows that are written at once
DOCUMENT = "number = -1"  # the row of a document, beside those of its passages
PLACED = ["document", "text", "place"]


class LanceDBStore:
    """An index of passages as a table of LanceDB: full-text search by BM25, and vectors.

    It is for collections that outgrow one file or one machine; Lance writes a new version of the
    table with some thousand passages at a time. What was not written when a process was killed is
    read again at the next call.

    Args:
        path: str or path. The table, `NAME.lance` in a folder or at an address of object storage,
            such as `s3://bucket/handbook.lance`.
        folder: str, path or None. The folder whose documents it stores, to write it; None to read
            it. Default: None.

    Raises:
        FileNotFoundError: If there is no such table, and no folder is given.
        ValueError: If it is of another version of tfmrc, or of another folder.
        ImportError: If LanceDB is not installed.
    """

    def __init__(
        self, path: str | PathLike[str], *, folder: str | PathLike[str] | None = None
    ) -> None:
        with optional_import("tfmrc[lancedb]"):
            import lancedb
        location = fspath(path) if "://" in fspath(path) else str(user_path(path).absolute())
        place, _, name = location.removesuffix(SUFFIX).rpartition("/")
        # Every search sees what other processes have written.
        database = lancedb.connect(place, read_consistency_interval=timedelta(0))
        self._pending: dict[str, list[dict[str, Any]]] = {}
        self._writes = folder is not None
        try:
            self._table: Any = database.open_table(name)
        except ValueError as error:
            if folder is None:
                raise no_index(path) from error
            self._table = _created(database, name, str(folder))
        self._schema = self._table.schema
        about = self._schema.metadata or {}
        self.folder = about.get(b"folder", b"").decode()
        check_index(path, about.get(b"version") == VERSION, self.folder, folder)

    @cached_property
    def dense(self) -> bool:
        """Whether passages have vectors."""
        return bool(self._rows("vector IS NOT NULL", ["number"], 1))

    def versions(self) -> Mapping[str, str]:
        """Returns the version of each document by its name."""
        self._flush()
        rows = self._rows(DOCUMENT, ["document", "version"])
        return {row["document"]: row["version"] for row in rows}

    def put(
        self,
        name: str,
        version: str,
        text: str,
        passages: Sequence[Passage],
        vectors: np.ndarray | None = None,
    ) -> None:
        """Stores a document and its passages in place of earlier ones, all or nothing."""
        # Each row has the text up to the next passage: Lance fails where one value is very large.
        cuts = [0, *(passage.start for passage in passages), len(text)]
        parts = [text[begin:end] for begin, end in pairwise(cuts)]
        rows: list[dict[str, Any]] = [{"number": -1, "version": version, "content": parts[0]}]
        for number, passage in enumerate(passages):
            searched = "\n".join((*passage.heading, passage.text))
            rows.append({"number": number, "text": searched, "place": place_of(passage)})
            rows[-1]["content"] = parts[number + 1]
            if vectors is not None:
                rows[-1]["vector"] = vectors[number].astype(np.float16)
        self._pending[name] = rows
        if sum(map(len, self._pending.values())) >= TOGETHER:
            self._flush()

    def remove(self, name: str) -> None:
        """Removes a document and its passages."""
        self._pending.pop(name, None)
        self._table.delete(_is(name))

    def _flush(self) -> None:
        """Writes the documents that were put, in place of earlier ones of their names."""
        if not self._pending:
            return
        import pyarrow as pa

        rows = [{"document": name, **row} for name, rows in self._pending.items() for row in rows]
        (
            self._table.merge_insert(["document", "number"])
            .when_matched_update_all()
            .when_not_matched_insert_all()
            .when_not_matched_by_source_delete(" OR ".join(map(_is, self._pending)))
            .execute(pa.Table.from_pylist(rows, schema=self._schema), on_bad_vectors="null")
        )
        self._pending.clear()

    def search(self, question: str, k: int = 10) -> list[Passage]:
        """Returns the k different passages that fit a question best, with BM25 scores."""
        words = " ".join(words_of(question))
        if not words:
            return []
        found = self._table.search(words, query_type="fts", fts_columns="text")
        return _best(found.select([*PLACED, "_score"]), k, lambda row: row["_score"])

    def nearest(self, vector: np.ndarray, k: int = 10) -> list[Passage]:
        """Returns the k different passages with the largest cosines, which are their scores."""
        found = self._table.search(vector.astype(np.float16), vector_column_name="vector")
        found = found.distance_type("dot").select([*PLACED, "_distance"])
        return _best(found, k, lambda row: 1 - row["_distance"])

    def passages(self) -> Iterator[Passage]:
        """Yields the passages of all documents."""
        found = self._table.search().where("number >= 0").select(PLACED).to_batches(TOGETHER)
        return (_passage(row) for batch in found for row in batch.to_pylist())

    def document_text(self, name: str) -> str:
        """Returns the text of a document, to which the places of passages refer.

        Raises:
            KeyError: If there is no such document.
        """
        rows = sorted(self._rows(_is(name), ["number", "content"]), key=itemgetter("number"))
        if not rows:
            raise KeyError(name)
        return "".join(row["content"] for row in rows)

    def close(self) -> None:
        """Closes the table; one that was written is compacted and indexed."""
        self._flush()
        if self._writes:
            self._table.optimize()

    def _rows(
        self, condition: str, columns: Sequence[str], limit: int | None = None
    ) -> list[dict[str, Any]]:
        found = self._table.search().where(condition).select(list(columns))
        rows: list[dict[str, Any]] = found.limit(limit).to_list()
        return rows


def _created(database: Any, name: str, folder: str) -> Any:
    """Returns a new table: a row for each passage, and one for each document."""
    import pyarrow as pa
    from lancedb.index import FTS

    texts = ("document", "version", "content", "text", "place")
    fields = [(key, pa.string()) for key in texts]
    fields += [("number", pa.int32()), ("vector", pa.list_(pa.float16(), DIM))]
    about = {"version": VERSION, "folder": folder}
    table = database.create_table(name, schema=pa.schema(fields, metadata=about))
    table.create_index("text", config=FTS(stem=True, remove_stop_words=False))
    return table


def _is(name: str) -> str:
    """Returns the condition of a document's rows."""
    return "document = '{}'".format(name.replace("'", "''"))


def _best(found: Any, k: int, score: Any) -> list[Passage]:
    """Returns the k best different passages of a search."""
    limit = k
    while True:
        rows = found.limit(limit).to_list()
        best = different((_passage(row, score(row)) for row in rows), k)
        if len(best) == k or len(rows) < limit:
            return best
        limit *= 4


def _passage(row: Mapping[str, Any], score: float = 0.0) -> Passage:
    passage = passage_of(row["document"], row["text"], row["place"], score)
    return replace(passage, text=passage.text[-(passage.end - passage.start) :])
