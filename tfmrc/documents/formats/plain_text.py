"""Plain text: paragraphs between blank lines."""

import re

from tfmrc.documents.document import Block, Document
from tfmrc.documents.formats.encoding import decode

_GAP = re.compile(r"\n\s*\n|\s*\Z")


def read_plain_text(content: bytes) -> Document:
    r"""Returns the document of a plain text: the text of the file, divided at blank lines.

    Example:

    >>> [(block.start, block.end) for block in read_plain_text(b"An owl\nflew.\n\nOne.").blocks]
    [(0, 12), (14, 18)]
    """
    text = decode(content)
    blocks, start = [], len(text) - len(text.lstrip())
    for gap in _GAP.finditer(text, start):
        blocks.append(Block(start, len(text[start : gap.start()].rstrip()) + start))
        start = gap.end()
    return Document(text, [block for block in blocks if block.start < block.end])
