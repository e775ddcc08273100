"""A page of a PDF file as a picture, with characters of the document's text marked."""

import io
import os
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from tfmrc.documents.formats.pdf import letter_places
from tfmrc.documents.original import stamp
from tfmrc.utils.optional import optional_import

LONGEST_SIDE = 1600  # pixels
FILL, OUTLINE = (255, 196, 0, 90), (180, 95, 6, 255)
MARGIN = 2  # pixels between a mark and its edge


def page_picture(
    path: str | os.PathLike[str], page: int, text: str = "", start: int = 0, end: int = 0
) -> bytes:
    """Returns a page of a PDF file as PNG, with the characters `text[start:end]` marked.

    The longer side has 1,600 pixels. What is on other pages is not marked. PDFium is not
    thread-safe: call this in one thread at a time.

    Args:
        path: str or path. The file.
        page: int. The page, from 1.
        text: str. The text of the document, as of `read_document`. Default: "".
        start: int. Offset of the first character to mark. Default: 0.
        end: int. Offset after the last one. Default: 0.

    Raises:
        IndexError: If there is no such page.
        ImportError: If pypdfium2 is missing.
    """
    with optional_import("tfmrc[documents]"):
        import pypdfium2
    from PIL import ImageDraw  # Matplotlib, which tfmrc needs, needs it too

    starts = _page_starts(os.fspath(path), stamp(Path(path)))
    if not 0 < page < len(starts):
        raise IndexError(f"There is no page {page}; the last one is page {len(starts) - 1}.")
    # Both texts have the same letters; spaces and line ends differ.
    first, last = (len(letter_places(text[:end])) - starts[page - 1] for end in (start, end))
    file = io.BytesIO()
    with pypdfium2.PdfDocument(path) as pdf:
        sheet = pdf[page - 1]
        bitmap = sheet.render(scale=LONGEST_SIDE / max(sheet.get_size()))
        place, image = bitmap.get_posconv(sheet), bitmap.to_pil()
        draw = ImageDraw.Draw(image, "RGBA")
        for left, bottom, right, top in _boxes(sheet, max(first, 0), max(last, 0)):
            corners = place.to_bitmap(left, bottom), place.to_bitmap(right, top)
            (x, last_x), (y, last_y) = (sorted(sides) for sides in zip(*corners, strict=True))
            box = (x - MARGIN, y - MARGIN, last_x + MARGIN, last_y + MARGIN)
            draw.rectangle(box, fill=FILL, outline=OUTLINE, width=MARGIN)
        image.save(file, "PNG", compress_level=3)
    return file.getvalue()


@lru_cache(maxsize=8)
def _page_starts(path: str, version: str) -> list[int]:
    """Returns the number of letters before each page, and that of the whole file."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as pdf:
        texts = (sheet.get_textpage().get_text_range() for sheet in pdf)
        return list(accumulate((len(letter_places(text)) for text in texts), initial=0))


def _boxes(sheet: Any, first: int, last: int) -> Iterator[tuple[float, float, float, float]]:
    """Yields left, bottom, right, top of the lines with letters of a page; none if not known."""
    text_page = sheet.get_textpage()
    text = text_page.get_text_range()
    places = letter_places(text)[first:last]
    if places and len(text) == text_page.count_chars():
        for number in range(text_page.count_rects(places[0], places[-1] + 1 - places[0])):
            yield text_page.get_rect(number)
