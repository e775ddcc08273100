"""Tokenisers for scoring: plain functions from a text to its words, each with a name and version.

A score depends on how text was cut into words, so every score carries the tokeniser's
`description`. `"english"` is this module's own (no model, no data files); `"spacy"` is the
tokeniser of the official MS MARCO script and needs `pip install spacy`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tfmrc.evaluation.metrics.score import package_version

# Units that stand apart from the number they follow ("5km" is two words, "sp2" and "1st" are one).
_UNITS = (
    "km|cm|mm|nm|µm|kg|mg|µg|g|m|l|ml|kb|mb|gb|tb|hz|khz|mhz|ghz|kw|mw|kwh|mph|kph|lbs?|oz|ft|"
    "yd|in|am|pm|a\\.m\\.|p\\.m\\."
)
_ABBREVIATIONS = (
    "mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|inc|ltd|corp|co|bros|gen|gov|rev|messrs|mt|ph|adm|"
    "jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
)
_ENGLISH = re.compile(
    rf"""
      https?://[^\s<>"]*[^\s<>"'.,;:!?)\]}}]            # a web address, less closing punctuation
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)+                      # a mail address
    | (?:[^\W\d_]\.){{2,}}                              # U.S.  e.g.  a.m.
    | (?:{_ABBREVIATIONS})\.(?!\w)                      # Mr.  etc.
    | n['’]t(?!\w)                                      # the second half of don't
    | ['’](?:s|m|re|ve|ll|d)(?!\w)                      # the second half of it's
    | can(?=not(?!\w)) | gon(?=na(?!\w))                # cannot, gonna
    | [^\W\d_]+?(?=n['’]t(?!\w))                        # the first half of don't
    | \d+(?:[.,]\d+)*(?=(?:{_UNITS})(?!\w))             # the number before a unit
    | \d+(?:[.,:]\d+)+                                  # 5.00  2,000  10:30
    | [^\W_]+(?:['’](?!(?:s|m|re|ve|ll|d)(?!\w))[^\W\d_]+)?  # sp2  o'clock
      (?:\.[a-z0-9]+(?![^\W_]))*                         # example.org
    | \.{{2,}} | -{{2,}}
    | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Tokenizer:
    """A function from text to words, with the description that every score shows.

    Example:

    >>> from tfmrc.evaluation import get_tokenizer
    >>> get_tokenizer("english")("It isn't 5km, it's $5.00.")
    ['It', 'is', "n't", '5', 'km', ',', 'it', "'s", '$', '5.00', '.']
    """

    name: str
    description: str
    split: Callable[[str], list[str]]

    def __call__(self, text: str) -> list[str]:
        return self.split(text)


def _english(text: str) -> list[str]:
    return _ENGLISH.findall(text)


def _spacy() -> Tokenizer:
    try:
        import spacy
    except ImportError as error:
        raise ImportError(
            "The tokeniser of the official MS MARCO script needs spaCy: pip install spacy "
            "(or use tokenizer='english'). Received: tokenizer='spacy'"
        ) from error
    cut = spacy.blank("en").tokenizer

    def split(text: str) -> list[str]:
        # White space of more than one character is a word of its own, empty once stripped: so the
        # official script's ROUGE-L counts it.
        return [token.text.strip() for token in cut(text)]

    return Tokenizer("spacy", f"spaCy {package_version('spacy')} blank English", split)


@cache
def get_tokenizer(name: str) -> Tokenizer:
    """The tokeniser of this name: `"english"`, `"whitespace"` or `"spacy"`.

    Args:
        name: `"english"` cuts contractions, punctuation, hyphens and units from their words and
            leaves text that is already cut as it is; `"whitespace"` takes the text as already cut;
            `"spacy"` is spaCy's blank English tokeniser, which must be installed.

    Raises:
        ValueError: the name is unknown.
        ImportError: spaCy is asked for and not installed.

    Example:

    >>> get_tokenizer("whitespace")("is this  K2 ?")
    ['is', 'this', 'K2', '?']
    """
    if name == "english":
        return Tokenizer("english", "tfmrc english 1", _english)
    if name == "whitespace":
        return Tokenizer("whitespace", "white space", str.split)
    if name == "spacy":
        return _spacy()
    raise ValueError(
        f"`tokenizer` must be 'english', 'whitespace' or 'spacy'. Received: tokenizer={name!r}"
    )
