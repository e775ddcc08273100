"""Tokenizers for scoring: functions from a text to its words, each with a name and a version.

A score depends on how the text was cut into words, so every score carries the `description` of its
tokenizer. `"spacy"` is the tokenizer of the official MS MARCO script and needs `pip install spacy`.
`"english"` and `"unicode"` are built in: one pattern each, no model and no data files.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from tfmrc.evaluation.metrics.score import package_version
from tfmrc.text.words.unspaced import RANGES
from tfmrc.utils.optional import optional_import

# Units that are cut from the number they follow ("5km" is two words, "sp2" and "1st" are one).
_UNITS = (
    "km|cm|mm|nm|µm|kg|mg|µg|g|m|l|ml|kb|mb|gb|tb|hz|khz|mhz|ghz|kw|mw|kwh|mph|kph|lbs?|oz|ft|"
    "yd|in|am|pm|a\\.m\\.|p\\.m\\."
)
_ABBREVIATIONS = (
    "mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|inc|ltd|corp|co|bros|gen|gov|rev|messrs|mt|ph|adm|"
    "jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
)
_URL = r"""https?://[^\s<>"]*[^\s<>"'.,;:!?)\]}]"""  # less closing punctuation
_MAIL_NAME = re.compile(r"[\w.+-]")
_MAIL_DOMAIN = re.compile(r"@[\w-]+(?:\.[\w-]+)+")

# Han and Hiragana are written without spaces: each character is a separate word.
_SINGLE = r"\u3005-\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_JOINERS = "\u200c\u200d"

# Letters that are compared one by one: of scripts without spaces, and of Korean, whose words have
# endings, as the metrics of CMRC, JSQuAD and KorQuAD do.
_HANGUL = r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_CHARACTER = re.compile(f"[{RANGES}{_HANGUL}]")


def spaced_characters(text: str) -> str:
    """Returns a text with a space around each letter of a script without spaces, and of Korean.

    >>> spaced_characters("1817年 mill")
    '1817 年  mill'
    """
    return _CHARACTER.sub(r" \g<0> ", text)


def has_characters(texts: Iterable[str]) -> bool:
    """Returns True if most letters are of scripts without spaces, or of Korean."""
    whole = "".join(texts)
    return 2 * len(_CHARACTER.findall(whole)) > sum(map(str.isalnum, whole))


def _pattern(letter: str, word: str, other: str) -> re.Pattern[str]:
    """Returns the pattern of the built-in tokenizers.

    Args:
        letter: one letter.
        word: one letter or digit.
        other: any other character that is not white space.
    """
    return re.compile(
        rf"""
          {_URL}
        | (?:{letter}\.){{2,}}                              # U.S.  e.g.  a.m.
        | (?:{_ABBREVIATIONS})\.(?!\w)                      # Mr.  etc.
        | n['’]t(?!\w)                                      # the second half of don't
        | ['’](?:s|m|re|ve|ll|d)(?!\w)                      # the second half of it's
        | can(?=not(?!\w)) | gon(?=na(?!\w))                # cannot, gonna
        | (?:{letter})+?(?=n['’]t(?!\w))                    # the first half of don't
        | \d+(?:[.,]\d+)*(?=(?:{_UNITS})(?!\w))             # the number before a unit
        | \d+(?:[.,:]\d+)+                                  # 5.00  2,000  10:30
        | (?:{word})+(?:['’](?!(?:s|m|re|ve|ll|d)(?!\w))(?:{letter})+)?  # sp2  o'clock
          (?:\.[a-z0-9]+(?![^\W_]))*                         # example.org
        | \.{{2,}} | -{{2,}}
        | {other}
        """,
        re.VERBOSE | re.IGNORECASE,
    )


_ENGLISH = _pattern(letter=r"[^\W\d_]", word=r"[^\W_]", other=r"\S")


@dataclass(frozen=True)
class ScoringTokenizer:
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


def _words(pattern: re.Pattern[str], text: str) -> list[str]:
    """Cuts a text into words in time linear in its length.

    Mail addresses are located first, from their "@" outwards. A pattern that looks for the "@" from
    every position takes quadratic time.
    """
    addresses = list(_mail_addresses(text))
    if not addresses:
        return pattern.findall(text)
    words = []
    ends = [name_end for _, name_end, _ in addresses]
    position = 0
    while match := pattern.search(text, position):
        begin, end = match.span()
        index = bisect_right(ends, begin)
        if index < len(addresses) and not match.group().lower().startswith(("http:/", "https:/")):
            start, _, address_end = addresses[index]
            if start <= begin:
                end = address_end
        words.append(text[begin:end])
        position = end
    return words


def _mail_addresses(text: str) -> Iterator[tuple[int, int, int]]:
    """Returns start, end of the name (the index of "@") and end of every mail address."""
    for sign in re.finditer("@", text):
        domain = _MAIL_DOMAIN.match(text, sign.start())
        start = sign.start()
        while domain and start and _MAIL_NAME.match(text, start - 1):
            start -= 1
        if domain and start < sign.start():
            yield start, sign.start(), domain.end()


@cache
def _unicode_pattern() -> re.Pattern[str]:
    """Returns the pattern of `"unicode"`: marks belong to the letter before them."""
    marks = _JOINERS + "".join(_ranges(lambda c: unicodedata.category(c).startswith("M")))
    return _pattern(
        letter=rf"[^\W\d_{_SINGLE}][{marks}]*+",
        word=rf"[^\W_{_SINGLE}][{marks}]*+",
        other=rf"\S[{marks}]*+",
    )


def _ranges(holds: Callable[[str], bool]) -> Iterator[str]:
    """Returns the ranges `a-b` of a character class for which a property holds."""
    first: int | None = None
    for code in range(0x110000 + 1):
        inside = code < 0x110000 and holds(chr(code))
        if inside and first is None:
            first = code
        elif not inside and first is not None:
            yield rf"\U{first:08x}-\U{code - 1:08x}"
            first = None


def _spacy() -> ScoringTokenizer:
    with optional_import("tfmrc[spacy]"):  # or use tokenizer="english"
        import spacy
    tokenize = spacy.blank("en").tokenizer

    def split(text: str) -> list[str]:
        # White space of more than one character is a token, empty once stripped. The official
        # script's ROUGE-L counts it.
        return [token.text.strip() for token in tokenize(text)]

    return ScoringTokenizer("spacy", f"spaCy {package_version('spacy')} blank English", split)


@cache
def get_tokenizer(name: str) -> ScoringTokenizer:
    """Returns the tokenizer of this name.

    Args:
        name: str. `"english"` cuts contractions, punctuation, hyphens and units from their words
            and leaves text that is already tokenized as it is. `"unicode"` does the same in
            Unicode's composed form (NFC), with combining marks, vowel signs and joiners as part of
            their word, and each Han or Hiragana character as a word. `"whitespace"` takes the text
            as already tokenized. `"spacy"` is spaCy's blank English tokenizer, which must be
            installed.

    Raises:
        KeyError: If the name is unknown.
        ImportError: If spaCy is requested but not installed.

    Example:

    >>> get_tokenizer("whitespace")("is this  K2 ?")
    ['is', 'this', 'K2', '?']
    >>> get_tokenizer("unicode")("हिन्दी, 東京")
    ['हिन्दी', ',', '東', '京']
    """
    if name == "spacy":
        return _spacy()
    version = unicodedata.unidata_version
    tokenizers: dict[str, tuple[str, Callable[[str], list[str]]]] = {
        "english": ("tfmrc english 1", lambda text: _words(_ENGLISH, text)),
        "unicode": (
            f"tfmrc unicode 1 (Unicode {version}, NFC)",
            lambda text: _words(_unicode_pattern(), unicodedata.normalize("NFC", text)),
        ),
        "whitespace": ("white space", str.split),
    }
    return ScoringTokenizer(name, *tokenizers[name])
