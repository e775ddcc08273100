"""What an index of passages does, and where it is."""

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from os import PathLike, fspath
from typing import Protocol

from tfmrc.documents.document import Document, Passage
from tfmrc.utils.arguments import suggestion

GROUP = "tfmrc.document_stores"


class DocumentStore(Protocol):
    """An index of the documents of one folder."""

    def versions(self) -> Mapping[str, str]:
        """Returns the version of each document by its name."""

    def put(self, name: str, version: str, document: Document, passages: Sequence[Passage]) -> None:
        """Stores a document and its passages in place of earlier ones, all or nothing."""

    def remove(self, name: str) -> None:
        """Removes a document and its passages."""

    def search(self, question: str, k: int = 10) -> list[Passage]:
        """Returns the k different passages that fit a question best, with their scores."""

    def document_text(self, name: str) -> str:
        """Returns the text of a document, to which the places of passages refer."""

    def document_source(self, name: str) -> tuple[str, str]:
        """Returns the folder of a document's file, and the version that was stored."""

    def close(self) -> None:
        """Ends the use of the index."""


def open_store(
    location: str | PathLike[str], *, folder: str | PathLike[str] | None = None
) -> DocumentStore:
    """Opens an index of passages.

    Args:
        location: str or path. A file, opened as `tfmrc.documents.SQLiteStore`; or `NAME://...` for
            a store that a package has registered by the name in the entry points
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
