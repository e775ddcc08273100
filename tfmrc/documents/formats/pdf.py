"""PDF: lines of text by PDFium; paragraphs by the gaps between them, headings by their size."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tfmrc.documents.document import Document, DocumentBuilder
from tfmrc.utils.optional import optional_import

_LARGER = 1.1  # a heading's size, in that of the text
_WIDER = 1.25  # the gap before a paragraph, in that between two lines
_LONGEST_HEADING = 200  # characters
_ITEM = re.compile(r"[-*•◦▪–]\s|\(?\d{1,3}[.)]\s")
_HYPHENS = "\x02\ufffe"  # PDFium's marks of a word that is divided
_HYPHEN = re.compile(f"[{_HYPHENS}]\\s*")
_ENDS = re.compile(r"[.!?:…][\"'”’»)\]]*$")


@dataclass(frozen=True)
class _Line:
    text: str
    size: float  # of its letters, in points
    height: float  # of its lower edge above that of the page


def read_pdf(content: bytes) -> Document:
    """Returns the document of a PDF file, with its pages.

    Raises:
        ValueError: If it has a password, is damaged or has no text.
        ImportError: If pypdfium2 is missing.
    """
    with optional_import("tfmrc[documents]"):
        import pypdfium2
    try:
        file = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if "assword" in str(error):
            raise ValueError("has a password: save a copy without it") from error
        raise ValueError("is not a PDF file, or is damaged") from error
    pages = [_lines(page) for page in file]
    if not any(pages):
        raise ValueError("has no text (a scan?): add its text first, for example with OCRmyPDF")
    return _document(pages)


def letter_places(text: str) -> list[int]:
    """Returns the offsets of what the text of a document keeps of the text of a page: no spaces.

    Example:

    >>> letter_places("An ow\\x02\\r\\nl")
    [0, 1, 3, 4, 8]
    """
    return [n for n, letter in enumerate(text) if not (letter.isspace() or letter in _HYPHENS)]


def _lines(page: Any) -> list[_Line]:
    """Returns the lines of a page."""
    import pypdfium2.raw as pdfium

    text_page = page.get_textpage()
    text = text_page.get_text_range()
    is_aligned = len(text) == text_page.count_chars()  # else no place of a character is known
    lines, offset = [], 0
    for line in text.split("\r\n"):
        if line.strip():
            place = offset + len(line) - len(line.lstrip())
            size = pdfium.FPDFText_GetFontSize(text_page, place) if is_aligned else 0.0
            height = text_page.get_charbox(place, loose=True)[1] if is_aligned else 0.0
            lines.append(_Line(line, round(size, 1), height))
        offset += len(line) + 2
    text_page.close()
    page.close()
    return lines


def _document(pages: list[list[_Line]]) -> Document:
    characters: Counter[float] = Counter()
    for line in (line for page in pages for line in page):
        characters[line.size] += len(line.text)
    usual = characters.most_common(1)[0][0]
    sizes = sorted((size for size in characters if size > usual * _LARGER), reverse=True)
    levels = {size: min(number, 6) for number, size in enumerate(sizes, 1)}
    builder, before, level_before = DocumentBuilder(), "", 0
    for page in pages:
        builder.new_page()
        for line, is_apart in _with_gaps(page):
            level = levels.get(line.size, 0) if len(line.text) < _LONGEST_HEADING else 0
            text = _HYPHEN.sub("", line.text.strip())
            joined = not is_apart and before and level == level_before and not _ITEM.match(text)
            if joined and line is page[0]:
                joined = not _ENDS.search(before)
            builder.add(text, level, joins=bool(joined))
            before, level_before = text, level
    return builder.build()


def _with_gaps(lines: list[_Line]) -> Iterator[tuple[_Line, bool]]:
    """Yields each line of a page, and whether there is a paragraph's gap before it."""
    gaps = [above.height - line.height for above, line in zip(lines, lines[1:], strict=False)]
    down = sorted(gap for gap in gaps if gap > 0)
    usual = down[len(down) // 4] if down else 0.0  # between the lines of a paragraph
    for line, gap in zip(lines, [0.0, *gaps], strict=False):
        yield line, gap > usual * _WIDER
