"""The text of a document, its headings and pages, and passages of it."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Block:
    """A paragraph, list item, row or heading: `document.text[start:end]`.

    Attributes:
        start: int. Offset of its first character.
        end: int. Offset after its last character.
        level: int. 1 to 6 for a heading, 0 for other text. Default: 0.
    """

    start: int
    end: int
    level: int = 0


@dataclass(frozen=True)
class Document:
    """The text of a document, and where its blocks and pages are.

    Attributes:
        text: str. The text, to which all offsets refer.
        blocks: sequence of `Block`, in their order, without overlap.
        pages: sequence of int. Offset at which each page, or row of a table, begins: in the gap
            before its text; () if there are none. Default: ().
    """

    text: str
    blocks: Sequence[Block]
    pages: Sequence[int] = ()


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A part of a document between two headings.

    Attributes:
        text: str. `document.text[start:end]`.
        start: int. Offset of its first character in the document's text.
        end: int. Offset after its last character.
        heading: tuple of str. The headings above it, the outermost first. Default: ().
        document: str. Name of the document. Default: "".
        page: int or None. The page on which it begins, from 1, or the row of a table; None for a
            document without pages. Default: None.
        page_starts: tuple of int. Offsets in the document's text at which further pages begin
            within the passage. Default: ().
        score: float. How well it fits a question, higher is better. Default: 0.0.
    """

    text: str
    start: int
    end: int
    heading: tuple[str, ...] = ()
    document: str = ""
    page: int | None = None
    page_starts: tuple[int, ...] = ()
    score: float = 0.0

    def page_at(self, offset: int) -> int | None:
        """Returns the page of a character of the document.

        Example:

        >>> passage = Passage(text="An owl", start=90, end=96, page=1, page_starts=(93,))
        >>> passage.page_at(92), passage.page_at(93)
        (1, 2)
        """
        return None if self.page is None else self.page + bisect_right(self.page_starts, offset)


class DocumentBuilder:
    """Builds a document from its blocks.

    Example:

    >>> builder = DocumentBuilder()
    >>> builder.add("Owls", level=1)
    >>> builder.add("An owl")
    >>> builder.add("flew.", joins=True)
    >>> document = builder.build()
    >>> [document.text[block.start : block.end] for block in document.blocks]
    ['Owls', 'An owl flew.']
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._pages: list[int] = []

    def add(self, text: str, level: int = 0, *, joins: bool = False) -> None:
        """Adds a block, or with `joins` text to the last one; runs of spaces become one.

        Without text there is no block, but an empty heading ends what the last one was above.
        """
        text = " ".join(text.split())
        text = text.encode("utf-8", "replace").decode()  # no half of a surrogate pair
        gap = (" " if joins else "\n\n") if text and self._length else ""
        start = self._length + len(gap)
        self._parts += [gap, text]
        self._length = start + len(text)
        if joins:
            self._blocks[-1] = replace(self._blocks[-1], end=self._length)
        elif text or level:
            self._blocks.append(Block(start, self._length, level))

    def new_page(self) -> None:
        """Begins a page after the text that was added."""
        self._pages.append(self._length)

    def build(self) -> Document:
        """Returns the document."""
        return Document("".join(self._parts), self._blocks, self._pages)
