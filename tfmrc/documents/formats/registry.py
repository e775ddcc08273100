"""The registry of forms of documents, by the ending of the file's name."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path, PurePath
from pkgutil import iter_modules

from tfmrc.documents.document import Document

Reader = Callable[[bytes], Document]

_READERS: dict[str, Reader] = {}


def register_document_format(*suffixes: str) -> Callable[[Reader], Reader]:
    """Registers the decorated function as the reader of files by the ending of their names.

    It gets the content of the file, as bytes, and returns a `Document`. It raises a ValueError
    that says what is wrong with a file; the index leaves the file out and reports the sentence.

    Args:
        *suffixes: str. Endings in lower case, such as ".txt".

    Example:

    >>> @register_document_format(".notes")
    ... def read_notes(content):
    ...     builder = DocumentBuilder()
    ...     for line in content.decode().splitlines():
    ...         builder.add(line)
    ...     return builder.build()
    >>> from tfmrc.documents import DocumentBuilder
    >>> read_document(b"An owl flew.", "monday.notes").text
    'An owl flew.'
    """

    def register(reader: Reader) -> Reader:
        _READERS.update(dict.fromkeys(suffixes, reader))
        return reader

    return register


def document_formats() -> dict[str, Reader]:
    """Returns the readers by ending: those of the modules beside this one, and users' own."""
    _import_readers()
    return _READERS


def read_document(content: bytes, name: str) -> Document:
    """Returns the text, headings and pages of a document.

    Args:
        content: bytes. Content of the file.
        name: str. Its name, whose ending says which form it has.

    Raises:
        ValueError: If it cannot be read or holds no text; the message begins with a verb.
        ImportError: If a package is missing.

    Example:

    >>> read_document(b"<h1>Owls</h1><p>An owl", "owls.jpg")
    Traceback (most recent call last):
    ...
    ValueError: has the ending .jpg, which no reader is registered for
    """
    suffix = PurePath(name).suffix.lower()
    reader = document_formats().get(suffix)
    if reader is None:
        raise ValueError(f"has the ending {suffix}, which no reader is registered for")
    if not content.strip():
        raise ValueError("is empty")
    document = reader(content)
    if not document.text.strip():
        raise ValueError("has no text")
    return document


@cache
def _import_readers() -> None:
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"{__package__}.{module.name}")
