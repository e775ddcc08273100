"""Documents divided into passages at headings, paragraphs and sentences."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from tfmrc.data.transforms.sentences import sentences
from tfmrc.documents.document import Block, Document, Passage

PASSAGE_LENGTH = 150
"""Subwords of a passage: those of the ready reader's window without the question."""

_LONGEST = 5000  # characters of a sentence; what is longer is a table or a list of numbers
_WORD = re.compile(r"\w+|[^\w\s]")
_PER_SUBWORD = 7  # letters; 0.92 (0.83 to 1.09) subwords of MiniLM per counted one, on SQuAD
_WRAPPED = re.compile(r"(?<=[^\n]{40})\n(?=[^\n])")  # a short line is one of a list or an address

Span = tuple[int, int]


def split_document(
    document: Document, name: str = "", passage_length: int = PASSAGE_LENGTH
) -> Iterator[Passage]:
    """Yields the passages of a document.

    A passage holds text below one heading: whole paragraphs if they fit, else whole sentences. A
    page begins a new one, unless a paragraph goes on there.

    Args:
        document: `Document`. The document.
        name: str. Its name. Default: "".
        passage_length: int. Largest number of subwords of a passage, about; only a sentence that
            is longer makes a longer one. Default: 150.

    Example:

    >>> from tfmrc.documents import read_document
    >>> document = read_document(b"<h1>Owls</h1>An owl flew. It slept.<h2>Food", "owls.html")
    >>> [(passage.heading, passage.text) for passage in split_document(document)]
    [(('Owls',), 'An owl flew. It slept.')]
    """
    pages = document.pages
    for path, blocks in _sections(document):
        for start, end in _spans(document, blocks, passage_length):
            first = bisect_right(pages, start)
            yield Passage(
                text=document.text[start:end],
                start=start,
                end=end,
                heading=path,
                document=name,
                page=first or None,
                page_starts=tuple(pages[first : bisect_left(pages, end)]),
            )


def _sections(document: Document) -> Iterator[tuple[tuple[str, ...], list[Block]]]:
    """Yields the headings above each run of blocks, and these blocks."""
    path: list[tuple[int, str]] = []
    blocks: list[Block] = []
    for block in document.blocks:
        if not block.level:
            blocks.append(block)
            continue
        yield tuple(heading for _, heading in path), blocks
        path = [above for above in path if above[0] < block.level]
        heading = " ".join(document.text[block.start : block.end].split())
        path += [(block.level, heading)] * bool(heading)
        blocks = []
    yield tuple(heading for _, heading in path), blocks


def _spans(document: Document, blocks: list[Block], limit: int) -> Iterator[Span]:
    """Yields the start and end of each passage of the blocks."""
    text, pages = document.text, document.pages
    start, end, size = 0, 0, 0
    for block in blocks:
        if size and bisect_right(pages, block.start) > bisect_left(pages, end):
            yield start, end
            size = 0
        parts = [(block.start, block.end)]
        counts = [subword_count(text[block.start : block.end])]
        if counts[0] > limit:
            parts = [(block.start + a, block.start + b) for a, b in _sentences(text, block)]
            counts = [subword_count(text[a:b]) for a, b in parts]
        for part, count in zip(parts, counts, strict=True):
            if size and size + count > limit:
                yield start, end
                size = 0
            start = start if size else part[0]
            end, size = part[1], size + count
    if size:
        yield start, end


def _sentences(text: str, block: Block) -> Iterator[Span]:
    """Yields the sentences of a block, offsets from its start; a monstrous one in parts."""
    part = text[block.start : block.end]
    for start, end in sentences(_WRAPPED.sub(" ", part)):
        while end - start > _LONGEST:
            cut = part.rfind(" ", start + 1, start + _LONGEST) + 1 or start + _LONGEST
            yield start, cut
            start = cut
        yield start, end


def sentence_at(text: str, start: int, end: int) -> Span:
    """Returns start and end of the sentence, or sentences, with the characters `start:end`.

    Example:

    >>> text = "It slept. An owl flew. It saw a mill."
    >>> text[slice(*sentence_at(text, 13, 16))]
    'An owl flew.'
    """
    spans = sentences(_WRAPPED.sub(" ", text))
    first = max((a for a, _ in spans if a <= start), default=start)
    last = min((b for _, b in spans if b >= end), default=end)
    return first, last


def subword_count(text: str) -> int:
    """Returns about how many subwords a text has, without a tokenizer.

    A word counts one for each seven letters begun, a letter outside ASCII counts one.

    Example:

    >>> subword_count("Owls fly."), subword_count("industriously"), subword_count("梟が飛んだ")
    (3, 2, 5)
    """
    return sum(
        1 + (len(word) - 1) // _PER_SUBWORD if word.isascii() else len(word)
        for word in _WORD.findall(text)
    )
