"""What an index of passages does, and where it is."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from os import PathLike, fspath
from typing import Any, Protocol

import numpy as np

from tfmrc.documents.document import Passage
from tfmrc.utils.arguments import suggestion

GROUP = "tfmrc.document_stores"
MOST_WORDS = 64  # of a question
COMMON = frozenset(
    "a an and are as at be by can could did do does for from had has have how i in is it its me my "
    "of on or should that the their there this to was we were what when where which who whom whose "
    "why will with would you your".split()
)
"""Words of a question that are not searched for if it has others: nearly every passage has them."""


class DocumentStore(Protocol):
    """An index of the documents of one folder.

    Attributes:
        folder: str. The folder.
    """

    folder: str

    @property
    def dense(self) -> bool:
        """Whether passages have vectors."""

    def versions(self) -> Mapping[str, str]:
        """Returns the version of each document by its name."""

    def put(
        self,
        name: str,
        version: str,
        text: str,
        passages: Sequence[Passage],
        vectors: np.ndarray | None = None,
    ) -> None:
        """Stores a document and its passages in place of earlier ones, all or nothing.

        The vectors of the passages, if there are any, are float16 `[N, dim]` of length 1.
        """

    def remove(self, name: str) -> None:
        """Removes a document and its passages."""

    def search(self, question: str, k: int = 10) -> list[Passage]:
        """Returns the k different passages that fit a question best, with their scores."""

    def nearest(self, vector: np.ndarray, k: int = 10) -> list[Passage]:
        """Returns the k different passages with the largest cosines, which are their scores."""

    def passages(self) -> Iterator[Passage]:
        """Yields the passages of all documents."""

    def document_text(self, name: str) -> str:
        """Returns the text of a document, to which the places of passages refer.

        Raises:
            KeyError: If there is no such document.
        """

    def close(self) -> None:
        """Closes the index."""


def open_store(
    location: str | PathLike[str], *, folder: str | PathLike[str] | None = None
) -> DocumentStore:
    """Opens an index of passages.

    Args:
        location: str or path. A file, opened as `tfmrc.documents.SQLiteStore`; `NAME.lance` in a
            folder or in object storage, as `tfmrc.documents.LanceDBStore`; or `NAME://...` for a
            store that a package has registered by the name in the entry points
            `tfmrc.document_stores`, which is called with the same arguments.
        folder: str, path or None. The folder whose documents are stored, to write the index and to
            make a new one; None to read it. Default: None.

    Raises:
        FileNotFoundError: If there is no index, and no folder is given.
        ValueError: If it is damaged, of another version or of another folder, or no package has
            registered the name.

    Example:

    >>> open_store("opensurch://localhost/handbook")
    Traceback (most recent call last):
    ...
    ValueError: There is no store 'opensurch' in the entry points tfmrc.document_stores.
    """
    from tfmrc.documents.sqlite_store import SQLiteStore

    if fspath(location).endswith(".lance"):
        from tfmrc.documents.lancedb_store import LanceDBStore

        return LanceDBStore(location, folder=folder)
    scheme, separator, _ = fspath(location).partition("://")
    if not separator:
        return SQLiteStore(location, folder=folder)
    known = {point.name: point for point in entry_points(group=GROUP)}
    if scheme not in known:
        raise ValueError(
            f"There is no store {scheme!r} in the entry points {GROUP}{suggestion(scheme, known)}"
        )
    store: DocumentStore = known[scheme].load()(fspath(location), folder=folder)
    return store


# === What stores share ===


def no_index(path: str | PathLike[str]) -> FileNotFoundError:
    """Returns the error for an index that is not there."""
    return FileNotFoundError(
        f"There is no index {path}: `tfmrc index FOLDER --to {path}` makes one."
    )


def check_index(
    path: str | PathLike[str], is_current: bool, stored: str, folder: str | PathLike[str] | None
) -> None:
    """Raises a ValueError if an index is of another version, or of another folder than this one."""
    if not is_current:
        raise ValueError(
            f"{path} is not an index of this version of tfmrc: choose another name, or delete it "
            "and run `tfmrc index` again."
        )
    if folder is not None and stored != str(folder):
        raise ValueError(
            f"{path} is the index of {stored}; choose another name for that of {folder}, or delete "
            "this one."
        )


def words_of(question: str) -> list[str]:
    """Returns the words of a question that are searched for.

    Example:

    >>> words_of("Which owl was the owl of the mill?")
    ['owl', 'mill']
    """
    words = list(dict.fromkeys(re.findall(r"\w+", question.lower())))[:MOST_WORDS]
    return [word for word in words if word not in COMMON] or words


def different(passages: Iterable[Passage], k: int) -> list[Passage]:
    """Returns the first k passages with different texts."""
    found: dict[str, Passage] = {}
    for passage in passages:
        found.setdefault(passage.text, passage)
        if len(found) == k:
            break
    return list(found.values())


def place_of(passage: Passage) -> str:
    """Returns the place of a passage in its document as JSON."""
    fields = ("start", "end", "heading", "page", "page_starts")
    return json.dumps({field: getattr(passage, field) for field in fields})


def passage_of(name: str, text: str, place: str, score: float = 0.0) -> Passage:
    """Returns the passage of a document at a place of `place_of`."""
    values = json.loads(place).items()
    fields: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in values}
    return Passage(text=text, document=name, score=score, **fields)
