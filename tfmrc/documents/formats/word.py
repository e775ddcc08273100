"""Word's .docx, by python-docx: headings, paragraphs, and rows of tables."""

import re
from io import BytesIO
from zipfile import ZipFile, is_zipfile

from tfmrc.documents.document import Document, DocumentBuilder
from tfmrc.utils.optional import optional_import

_LARGEST = 200_000_000  # bytes of the unpacked parts
_HEADING = re.compile(r"(?:Title|Heading (\d))$", re.IGNORECASE)


def read_word(content: bytes) -> Document:
    """Returns the document of a Word file.

    Raises:
        ValueError: If it is no .docx file, has a password, or is too large when it is unpacked.
            python-docx has errors of its own for what is broken otherwise.
        ImportError: If python-docx is missing.
    """
    with optional_import("tfmrc[documents]"):
        import docx
        from docx.table import Table
    if not is_zipfile(BytesIO(content)):
        raise ValueError("is not a Word file (.docx), is damaged, or has a password")
    size = sum(part.file_size for part in ZipFile(BytesIO(content)).infolist())
    if size > _LARGEST:
        raise ValueError(f"has {size:,} bytes when it is unpacked; at most {_LARGEST:,} are read")
    builder = DocumentBuilder()
    for part in docx.Document(BytesIO(content)).iter_inner_content():
        if isinstance(part, Table):
            for row in part.rows:
                builder.add(" | ".join(dict.fromkeys(cell.text for cell in row.cells)))
            continue
        found = _HEADING.match(part.style.name or "") if part.style is not None else None
        builder.add(part.text, min(int(found[1] or 1), 6) if found else 0)
    return builder.build()
