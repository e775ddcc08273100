"""Markdown: headings, paragraphs, list items and rows of tables; its marks stay in the text."""

import re

from tfmrc.documents.document import Block, Document
from tfmrc.documents.formats.encoding import decode

_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_WORD = re.compile(r"\w")
_BEGINS = re.compile(r"\s*([-*+]|\d+[.)])\s|\s*\|")  # a list item or a row


def read_markdown(content: bytes) -> Document:
    r"""Returns the document of a Markdown file: the text of the file, divided into blocks.

    Example:

    >>> document = read_markdown(b"# Owls\n\nAn owl\nflew.\n- One\n- Two\n")
    >>> [(block.level, document.text[block.start : block.end]) for block in document.blocks]
    [(1, 'Owls'), (0, 'An owl\nflew.'), (0, '- One'), (0, '- Two')]
    """
    text = decode(content)
    blocks: list[Block] = []
    fence, offset, is_open = "", 0, False  # is_open: the next line may continue the last block
    for line in text.split("\n"):
        start, end = offset + len(line) - len(line.lstrip()), offset + len(line.rstrip())
        found = _FENCE.match(line)
        heading = None if fence else _HEADING.match(line)
        underline = None if fence or not is_open else _UNDERLINE.match(line)
        if found and fence in ("", found[1]):
            fence, is_open = "" if fence else found[1], False
        elif heading:
            if heading[2]:
                first, last = heading.span(2)
                blocks.append(Block(offset + first, offset + last, len(heading[1])))
            is_open = False
        elif underline:
            level = 1 if underline[1][0] == "=" else 2
            blocks[-1], is_open = Block(blocks[-1].start, blocks[-1].end, level), False
        elif not _WORD.search(line):  # blank, a rule, the line below the head of a table
            is_open = False
        elif is_open and (fence or not _BEGINS.match(line)):
            blocks[-1] = Block(blocks[-1].start, end)
        else:
            blocks.append(Block(start, end))
            is_open = True
        offset += len(line) + 1
    return Document(text, blocks)
