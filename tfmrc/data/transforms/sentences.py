"""Words and sentences of Python strings, by which readers divide texts into passages."""

import re
import unicodedata
from functools import cache

from tfmrc.text.words.unspaced import RANGES

# A number with its separators, a run of letters, or one punctuation mark. Close to the graph
# tokenizer `text.Tokenizer`; see docs/how-to/your_questions.md for the agreement.
_WORD = r"\d+(?:[.,]\d+)*|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|{0}+?(?=n['’]t\b)|{0}+|[^\w\s]"
_USUAL_WORD = re.compile(_WORD.format(r"\w"))

# End marks, closing marks and spaces, followed by a sentence that does not begin in lower case.
# The first set matches only at the beginning of a run of marks, so that a long run is tried once.
_END = re.compile(
    r"""(?:(?<![.!?…])[.!?…]++(?:\s?["'”’)\]])*\s+|[。！？]+[」』”’]*\s*)(?=["'“‘(\[]*\s?[^\sa-z,;:)\]])|\n\s*"""
)

_ABBREVIATIONS = frozenset(
    "adm al approx ave blvd brig bros ca capt cf cmdr co col corp cpl dept dr e.g ed eds est etc "
    "fig figs ft gen gov hon i.e inc jr lt ltd maj messrs mr mrs ms mt no nos op pp pres prof "
    "pt rep rev sen sgt sr st vol vols vs".split()
)
# Abbreviations that may also end a sentence.
_MAY_END = frozenset("al bros co corp etc inc jr ltd sr".split())
_LONGEST = 40  # characters before a period that can be an abbreviation with opening marks


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Returns the pattern of the characters that need the second one, of words in all scripts.

    Marks and joiners are part of their word, and a letter of a script without spaces is a word.
    """
    marks = "".join(
        character
        for character in map(chr, range(0x80, 0x10000))  # a set of rarer ones takes long to search
        if unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")
        and character not in "\N{ZERO WIDTH SPACE}\N{ZERO WIDTH NO-BREAK SPACE}"
    )
    word = _WORD.format(rf"(?:[^\W{RANGES}][{marks}]*)")
    word = rf"(?=\w)(?!\d)[{RANGES}][{marks}]*|{word}[{marks}]*"
    return re.compile(f"[{marks}{RANGES}]"), re.compile(word)


def words(text: str) -> list[tuple[int, int]]:
    """Returns the start and end of each word and punctuation mark, in characters.

    Each letter of a script without spaces between words is a word, as of `text.Tokenizer`.

    Example:

    >>> text = "It didn't cost $1,000.50."
    >>> [text[start:end] for start, end in words(text)]
    ['It', 'did', "n't", 'cost', '$', '1,000.50', '.']
    """
    pattern = _USUAL_WORD
    if not text.isascii():
        special, any_word = _patterns()
        pattern = any_word if special.search(text) else pattern
    return [result.span() for result in pattern.finditer(text)]


def sentences(text: str) -> list[tuple[int, int]]:
    """Returns the start and end of each sentence, in characters, without surrounding spaces.

    A sentence ends at ``.``, ``!`` or ``?`` (and following closing marks) before a word that does
    not begin in lower case, and at the end of a line. Abbreviations and initials do not end it.

    Example:

    >>> text = "Dr. J. Owl flew. \\"Why?\\" asked the cat. It slept"
    >>> [text[start:end] for start, end in sentences(text)]
    ['Dr. J. Owl flew.', '"Why?" asked the cat.', 'It slept']
    """
    result, start = [], 0
    for end in _END.finditer(text):
        if _is_abbreviation(text[max(start, end.start() - _LONGEST) : end.start()], end.group()):
            continue
        result.append((start, end.end()))
        start = end.end()
    result.append((start, len(text)))
    return [span for span in (_strip(text, *span) for span in result) if span[0] < span[1]]


def _is_abbreviation(before: str, end: str) -> bool:
    if not end.startswith(".") or end.rstrip() != ".":
        return False
    parts = before.split()
    if not parts:
        return False
    word = parts[-1].lstrip("\"'“‘([")
    if len(word) == 1 and word.isupper():
        return True
    word = word.lower()
    return word in _ABBREVIATIONS and word not in _MAY_END


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())
