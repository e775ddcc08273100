"""Word's .docx, by python-docx: headings, paragraphs, and rows of tables."""

import re
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from tfmrc.documents.document import Document, DocumentBuilder
from tfmrc.documents.formats.registry import register_document_format
from tfmrc.utils.optional import optional_import

_LARGEST = 200_000_000  # bytes of the unpacked parts
_HEADING = re.compile(r"(?:Title|Heading (\d))$", re.IGNORECASE)


@register_document_format(".docx")
def read_word(content: bytes) -> Document:
    """Returns the document of a Word file.

    Raises:
        ValueError: If it is broken, encrypted, or too large when it is unpacked.
        ImportError: If python-docx is missing.
    """
    with optional_import("tfmrc[documents]"):
        import docx
        from docx.opc.exceptions import OpcError
        from docx.table import Table
        from lxml.etree import XMLSyntaxError
    try:
        with ZipFile(BytesIO(content)) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > _LARGEST:
            raise ValueError(
                f"has {size:,} bytes when it is unpacked; at most {_LARGEST:,} are read"
            )
        document = docx.Document(BytesIO(content))
    except BadZipFile as error:
        raise ValueError("is not a .docx file, or is encrypted") from error
    except (OpcError, KeyError, XMLSyntaxError) as error:
        raise ValueError(f"is a broken .docx file: {error}") from error
    builder = DocumentBuilder()
    for part in document.iter_inner_content():
        if isinstance(part, Table):
            for row in part.rows:
                builder.add(" | ".join(dict.fromkeys(cell.text for cell in row.cells)))
            continue
        found = _HEADING.match(part.style.name or "") if part.style is not None else None
        builder.add(part.text, min(int(found[1] or 1), 6) if found else 0)
    return builder.build()
