"""HTML: the text that a reader of the page sees, by selectolax. Nothing is run or fetched."""

import re
from collections.abc import Iterator
from typing import Any

from tfmrc.documents.document import Document, DocumentBuilder
from tfmrc.documents.formats.encoding import decode
from tfmrc.utils.optional import optional_import

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LEFT_OUT = set("head iframe nav noscript object script select style svg template textarea".split())
_INLINE = set(
    "-text a abbr b bdi bdo big cite code data del dfn em font i img input ins kbd label mark q s "
    "samp small span strike strong sub sup time tt u var wbr".split()
)
_CELLS = {"td", "th"}
# Elements that stay open until they are closed; the parser needs time by the square of their depth.
_OPENS = re.compile(
    r"<(?!(?:br|col|dd|dt|hr|img|input|li|link|meta|option|p|td|th|tr)\b)[a-z]", re.I
)
_DEEPEST = 5_000


def read_html(content: bytes) -> Document:
    """Returns the document of an HTML page; its title is a heading if the page has no `<h1>`.

    Raises:
        ValueError: If elements nest too deeply.
        ImportError: If selectolax is missing.

    Example:

    >>> document = read_html(b"<h2>Owls</h2><p>An <b>owl</b>&#33;<script>alert(1)</script>")
    >>> document.text
    'Owls\\n\\nAn owl!'
    """
    with optional_import("tfmrc[documents]"):
        from selectolax.lexbor import LexborHTMLParser
    text = decode(content)
    if len(_OPENS.findall(text)) - text.count("</") > _DEEPEST:
        raise ValueError(f"nests elements more than {_DEEPEST:,} deep")
    page = LexborHTMLParser(text)
    builder = DocumentBuilder()
    title = page.css_first("title")
    if title is not None and page.css_first("h1") is None:
        builder.add(title.text(), level=1)
    parts: list[str] = []
    level = 0
    for node, enters in _walk(page.body):
        if node.tag == "-text":
            parts.append(node.text_content or "")
        elif node.tag in _CELLS:
            parts.append(" | " if enters and "".join(parts).strip() else "")
        elif node.tag not in _INLINE and not (level and node.tag not in _HEADINGS):
            builder.add("".join(parts), level)
            parts, level = [], _HEADINGS.get(node.tag, 0) if enters else 0
    builder.add("".join(parts), level)
    return builder.build()


def _walk(root: Any) -> Iterator[tuple[Any, bool]]:
    """Yields each node below a root with True, and after those below it with False."""
    waiting = [] if root is None else [(root, True)]
    while waiting:
        node, enters = waiting.pop()
        if node.tag in _LEFT_OUT or node.tag == "-comment":
            continue
        yield node, enters
        if enters and node.tag != "-text":
            waiting.append((node, False))
            waiting += [(child, True) for child in reversed(list(node.iter(include_text=True)))]
