"""The readers of documents, by the ending of the file's name."""

from collections.abc import Callable
from functools import partial
from pathlib import PurePath

from tfmrc.documents.document import Document
from tfmrc.documents.formats.html import read_html
from tfmrc.documents.formats.markdown import read_markdown
from tfmrc.documents.formats.pdf import read_pdf
from tfmrc.documents.formats.plain_text import read_plain_text
from tfmrc.documents.formats.tables import read_csv, read_json_lines
from tfmrc.documents.formats.word import read_word

READERS: dict[str, Callable[[bytes], Document]] = {
    ".csv": read_csv,
    ".docx": read_word,
    ".htm": read_html,
    ".html": read_html,
    ".jsonl": read_json_lines,
    ".markdown": read_markdown,
    ".md": read_markdown,
    ".ndjson": read_json_lines,
    ".pdf": read_pdf,
    ".text": read_plain_text,
    ".tsv": partial(read_csv, delimiter="\t"),
    ".txt": read_plain_text,
    ".xhtml": read_html,
}
"""Functions from the content of a file to its document. Add your own by its ending."""


def read_document(content: bytes, name: str) -> Document:
    r"""Returns the text, headings and pages of a document.

    Args:
        content: bytes. Content of the file.
        name: str. Its name, whose ending says which form it has.

    Raises:
        KeyError: If `READERS` has no such ending.
        ValueError: If it holds no text. A broken file raises the error of what reads it.
        ImportError: If a package is missing.

    Example:

    >>> read_document(b"<h1>Owls</h1><p>An owl", "owls.html").text
    'Owls\n\nAn owl'
    """
    document = READERS[PurePath(name).suffix.lower()](content)
    if not document.text.strip():
        raise ValueError("has no text")
    return document
