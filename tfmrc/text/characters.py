"""Character classes of code points, looked up in the graph."""

import functools
import unicodedata

import numpy as np
import tensorflow as tf

from tfmrc.text.code_points import NUM_CODES, CodePointTable
from tfmrc.text.words.unspaced import UNSPACED

# A space is 0, so that a padded neighbour reads as a space.
SPACE = 0
LETTER = 1  # letters without case, lower case letters, and numbers that are not digits (½, Ⅳ)
UPPER = 2
DIGIT = 3
SINGLE = 4  # letters of scripts without spaces between words; each is a token
EXTEND = 5  # extends the previous character: accents, vowel signs, joiners, skin tones, controls
APOSTROPHE = 6
PERIOD = 7
COMMA = 8  # and the Arabic decimal and thousands separators
HYPHEN = 9
DASH = 10
CONNECTOR = 11  # & and _
AT = 12
DIVIDER = 13  # : and /
PLUS = 14
FLAG = 15  # regional indicators; two form a flag
SYMBOL = 16  # everything else; each is a token

ZERO_WIDTH_JOINER = 0x200D

_BY_CATEGORY = {
    **dict.fromkeys(("Lu", "Lt"), UPPER),
    **dict.fromkeys(("Ll", "Lo", "Lm", "Nl", "No"), LETTER),
    "Nd": DIGIT,
    **dict.fromkeys(("Mn", "Mc", "Me", "Cf", "Cc"), EXTEND),
    **dict.fromkeys(("Zs", "Zl", "Zp"), SPACE),
}

_SPECIAL = {
    **dict.fromkeys("'\N{RIGHT SINGLE QUOTATION MARK}\N{FULLWIDTH APOSTROPHE}", APOSTROPHE),
    ".": PERIOD,
    **dict.fromkeys(",\N{ARABIC DECIMAL SEPARATOR}\N{ARABIC THOUSANDS SEPARATOR}", COMMA),
    **dict.fromkeys("-\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{MINUS SIGN}", HYPHEN),
    **dict.fromkeys("\N{EN DASH}\N{EM DASH}\N{HORIZONTAL BAR}", DASH),
    **dict.fromkeys("&_", CONNECTOR),
    "@": AT,
    **dict.fromkeys(":/", DIVIDER),
    "+": PLUS,
    # Format characters that separate words.
    **dict.fromkeys("\N{ZERO WIDTH SPACE}\N{ZERO WIDTH NO-BREAK SPACE}", SYMBOL),
}

_SKIN_TONES = (0x1F3FB, 0x1F3FF)
_FLAGS = (0x1F1E6, 0x1F1FF)
_ASSIGNED = ((0, 0x34000), (0xE0000, 0xE1000))  # other code points are private or unassigned


@functools.cache
def class_table() -> CodePointTable:
    """Returns the table of the classes, uint8."""
    classes = np.full(NUM_CODES, SYMBOL, np.uint8)
    for first, last in _ASSIGNED:
        assigned = [*map(chr, range(first, last))]
        part = classes[first:last]
        part[:] = [_BY_CATEGORY.get(unicodedata.category(c), SYMBOL) for c in assigned]
        part[[c.isspace() for c in assigned]] = SPACE
    for first, last in UNSPACED:
        part = classes[first : last + 1]
        part[part == LETTER] = SINGLE
    for (first, last), name in ((_SKIN_TONES, EXTEND), (_FLAGS, FLAG)):
        classes[first : last + 1] = name
    for character, name in _SPECIAL.items():
        classes[ord(character)] = name
    return CodePointTable(classes)


def character_classes(code_points: tf.Tensor) -> tf.Tensor:
    """Returns the class of each code point, uint8 of the same shape.

    Args:
        code_points: int32 tensor of any shape.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.characters import character_classes
        >>> points = tf.strings.unicode_decode("a1 'Ü", "UTF-8")
        >>> print(character_classes(points).numpy())
        [1 3 0 6 2]
    """
    return class_table().lookup(code_points)
