"""The file of an indexed document, while it is as it was read."""

from pathlib import Path

from tfmrc.documents.store import DocumentStore


def stamp(path: Path) -> str:
    """Returns size and time of a file, with which the version of its document ends."""
    info = path.stat()
    return f"{info.st_size}-{info.st_mtime_ns}"


def original_file(store: DocumentStore, name: str) -> Path:
    """Returns the file of a document.

    Args:
        store: `DocumentStore`. The index.
        name: str. Name of the document.

    Raises:
        FileNotFoundError: If there is no such document, or its file has changed since it was
            indexed, or is gone.

    Example:

    >>> import pathlib, tempfile
    >>> from tfmrc import documents
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "owls.md").write_text("An owl flew.")
    >>> _ = documents.index(folder, folder / "owls.index")
    >>> store = documents.open_store(folder / "owls.index")
    >>> original_file(store, "owls.md").name
    'owls.md'
    >>> _ = (folder / "owls.md").write_text("An owl swam away.")
    >>> original_file(store, "owls.md")
    Traceback (most recent call last):
    ...
    FileNotFoundError: owls.md is not in the index, or its file has changed since it was indexed; \
run `tfmrc index` again.
    """
    path = Path(store.folder, name)
    version = store.versions().get(name, "")
    if not (path.is_file() and version.endswith(f"-{stamp(path)}")):
        raise FileNotFoundError(
            f"{name} is not in the index, or its file has changed since it was indexed; run "
            "`tfmrc index` again."
        )
    return path
