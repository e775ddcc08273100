"""Files of documents: what libraries write, and PDF files by hand."""

import io
from collections.abc import Sequence
from typing import Any

Line = tuple[str, float, float]  # text, size, height above the edge, in points


def pdf(pages: Sequence[Sequence[Line]], *, encrypted: bool = False) -> bytes:
    """Returns a PDF file with lines of text; an encrypted one has a password that nobody knows."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Count {} /Kids [{}] >>".format(
            len(pages), " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        content = "".join(
            f"BT /F1 {size} Tf 50 {height} Td ({text}) Tj ET\n" for text, size, height in lines
        )
        objects += [
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(content)} >>\nstream\n{content}endstream",
        ]
    file, places = "%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(file))
        file += f"{number} 0 obj\n{text}\nendobj\n"
    password = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >>"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        f"{file}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R /ID [<41> <41>] "
        f"{password if encrypted else ''} >>\nstartxref\n{len(file)}\n%%EOF\n"
    ).encode("latin-1")


def word(*parts: Any) -> bytes:
    """Returns a .docx file of texts, of (style, text), and of lists of rows."""
    import docx

    document = docx.Document()
    for part in parts:
        if isinstance(part, list):
            table = document.add_table(0, len(part[0]))
            for row in part:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.text = text
        else:
            style, text = part if isinstance(part, tuple) else ("Normal", part)
            document.add_paragraph(text, style=style)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()
