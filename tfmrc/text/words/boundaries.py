"""Rules for token boundaries, applied to all characters of a batch at once."""

from typing import Any

import numpy as np
import tensorflow as tf

from tfmrc.text import characters as ch
from tfmrc.text.code_points import neighbours

ABBREVIATION_LENGTH = 6

# Abbreviations that keep their period; at most ABBREVIATION_LENGTH ASCII letters.
ABBREVIATIONS = (
    *("Adm", "Bros", "Capt", "Co", "Col", "Corp", "Dr", "Gen", "Gov", "Hon", "Inc", "Jr", "Lt"),
    *("Ltd", "Maj", "Messrs", "Mr", "Mrs", "Ms", "Mt", "Prof", "Rep", "Rev", "Sen", "Sgt", "Sr"),
    *("St", "Ave", "Blvd", "Dept"),
    *("co", "dept", "v", "vs", "Vs"),
    *("Jan", "Feb", "Apr", "Aug", "Sept", "Sep", "Oct", "Nov", "Dec"),
    *("Ala", "Ariz", "Ark", "Calif", "Colo", "Conn", "Del", "Fla", "Ga", "Ill", "Kan", "Kans"),
    *("Ky", "Md", "Mass", "Mich", "Minn", "Miss", "Mo", "Mont", "Neb", "Nebr", "Nev", "Okla"),
    *("Pa", "Tenn", "Va", "Wash", "Wis"),
)

# Clitics that follow an apostrophe and are separate words: they|'re, 1990|'s.
CLITICS = ("s", "m", "d", "re", "ve", "ll")


def joined_to_previous(points: tf.Tensor, classes: tf.Tensor, after_joiner: tf.Tensor) -> tf.Tensor:
    """Returns True where a character belongs to the same token as the previous character.

    The input is the concatenation of all strings, each followed by a space, without the characters
    that extend the previous one (`characters.EXTEND`). Each rule reads a few neighbouring
    characters; `docs/reference/text.md` lists the rules with examples.

    Args:
        points: int32 `[N]` code points.
        classes: uint8 `[N]`, the characters' classes.
        after_joiner: bool `[N]`, True if a zero width joiner precedes the character.

    Returns:
        bool `[N]`; False at spaces and after them.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.words.boundaries import joined_to_previous
        >>> from tfmrc.text.characters import character_classes
        >>> points = tf.strings.unicode_decode("don't ", "UTF-8")
        >>> classes = character_classes(points)
        >>> joined_to_previous(points, classes, tf.zeros_like(points, tf.bool)).numpy().astype(int)
        array([0, 1, 0, 1, 1, 0])
    """
    text = _Neighbourhood(points, classes)
    joined = text.words & text.before(text.words)
    joined |= _inside_words(text)
    joined |= _runs(text)
    clitics = _clitics(text)
    joined |= _leading_marks(text, clitics)
    joined |= _single_letter_abbreviations(text)
    joined |= after_joiner & (classes == ch.SYMBOL) & text.class_before(ch.SYMBOL)
    joined &= ~_contractions(text, clitics)
    joined = _join_flags(classes, joined)
    joined = _join_abbreviations(text, joined)
    return _join_addresses(text, joined)


class _Neighbourhood:
    """Masks that several rules share, and shifts of masks."""

    def __init__(self, points: tf.Tensor, classes: tf.Tensor):
        self.points = points
        self.classes = classes
        self.spaces = classes == ch.SPACE
        # The first string has no predecessor; the others follow the final space of a string.
        self.after_space = tf.pad(self.spaces, [[1, 0]], constant_values=True)[:-1]
        self.upper = classes == ch.UPPER
        self.digits = classes == ch.DIGIT
        self.letters = self.upper | (classes == ch.LETTER)
        self.words = self.letters | self.digits
        self.outside = ~self.words
        self.periods = classes == ch.PERIOD
        self.apostrophes = classes == ch.APOSTROPHE
        capital = (points >= ord("A")) & (points <= ord("Z"))
        self.lowered = tf.where(capital, points + (ord("a") - ord("A")), points)

        self._shifted: dict[Any, tf.Tensor] = {}

    def before(self, values: tf.Tensor, positions: int = 1) -> tf.Tensor:
        """Returns the value `positions` characters earlier."""
        return self.after(values, -positions)

    def after(self, values: tf.Tensor, positions: int = 1) -> tf.Tensor:
        """Returns the value `positions` characters later; it is computed once."""
        key = values.ref(), positions
        if key not in self._shifted:
            self._shifted[key] = neighbours(values, positions)
        return self._shifted[key]

    def class_before(self, kind: int, positions: int = 1) -> tf.Tensor:
        """Returns True where the character `positions` earlier has a class, which is not SPACE."""
        return self.before(self.classes, positions) == kind

    def point_before(self, point: str) -> tf.Tensor:
        """Returns True where the previous character is `point`."""
        return self.before(self.points) == ord(point)

    def letter_after(self, letter: str, positions: int = 1) -> tf.Tensor:
        """Returns True where the character `positions` later is a letter in lower or upper case."""
        return self.after(self.lowered, positions) == ord(letter)


def _inside_words(text: _Neighbourhood) -> tf.Tensor:
    """Finds marks that join two word characters in one token: 1,000.5, O'Brien, AT&T."""
    classes, before, after = text.classes, text.before, text.after
    words_before, words_after = before(text.words), after(text.words)
    digits_before, digits_after = before(text.digits), after(text.digits)
    letters_before = before(text.letters)
    inside = (classes == ch.CONNECTOR) | (classes == ch.AT) | text.apostrophes
    inside = inside & words_before & words_after
    # A sentence end without a space (end.Next) is split; Ph.D. is not.
    sentence_end = before(text.letters & ~text.upper) & after(text.upper) & ~after(text.periods, 2)
    inside |= text.periods & words_before & words_after & ~sentence_end
    inside |= (classes == ch.COMMA) & digits_before & digits_after
    inside |= (classes == ch.DIVIDER) & words_before & digits_after
    hyphen = (classes == ch.HYPHEN) & words_before & words_after
    inside |= hyphen & letters_before & digits_after  # COVID-19; not 20-year, well-known, 1990-91
    return inside | before(inside)


def _runs(text: _Neighbourhood) -> tf.Tensor:
    """Finds marks of several characters, and marks that end a word: ... -- `` '' C++."""
    same = text.points == text.before(text.points)
    grave = text.points == ord("`")
    straight = text.points == ord("'")
    pair = same & (grave | straight)
    pair &= ~text.before(pair)
    plus = text.before(text.letters) | text.class_before(ch.PLUS)
    plus &= text.classes == ch.PLUS
    return (same & (text.periods | (text.classes == ch.HYPHEN))) | pair | plus


def _leading_marks(text: _Neighbourhood, clitics: tf.Tensor) -> tf.Tensor:
    """Finds marks that begin a token: .5, -5, @name, and 's after a space."""
    classes, before, after = text.classes, text.before, text.after
    fresh = text.after_space | text.point_before("(") | text.point_before("[")
    fresh |= text.class_before(ch.SYMBOL) & ~before(text.words, 2)
    point = text.periods & ~before(text.words) & ~before(text.periods) & after(text.digits)
    minus = (classes == ch.HYPHEN) & fresh & after(text.digits)
    name = (classes == ch.AT) & fresh & after(text.words)
    return before(point | minus | name | (text.after_space & clitics))


def _single_letter_abbreviations(text: _Neighbourhood) -> tf.Tensor:
    """Finds periods of initials and abbreviations: J. R. R., U.S., e.g., (r. 1435)."""
    before = text.before
    after_word_mark = before(text.words, 2) | text.class_before(ch.CONNECTOR, 2)
    after_word_mark |= text.class_before(ch.AT, 2) | before(text.apostrophes, 2)
    after = text.after
    single = before(text.letters) & ~after_word_mark
    # "I" ends a sentence (World War I.) more often than it is an initial.
    initial = single & before(text.upper & (text.points != ord("I")))
    before_number = single & before(~text.upper) & after(text.spaces) & after(text.digits, 2)
    dotted = before(text.letters) & before(text.periods, 2) & before(text.letters, 3)
    return text.periods & (initial | before_number | dotted) & ~after(text.periods)


def _contractions(text: _Neighbourhood, clitics: tf.Tensor) -> tf.Tensor:
    """Finds the first character of n't, 's, 're and other clitics."""
    before, after = text.before, text.after
    negation = (text.lowered == ord("n")) & before(text.letters) & after(text.apostrophes)
    negation &= text.letter_after("t", 2) & after(text.outside, 3)
    return negation | (before(text.words) & clitics)


def _clitics(text: _Neighbourhood) -> tf.Tensor:
    """Finds apostrophes that begin a clitic such as 's or 're."""
    result = tf.zeros_like(text.spaces)
    for ending in CLITICS:
        follows = text.after(text.outside, len(ending) + 1)
        for index, letter in enumerate(ending, 1):
            follows &= text.letter_after(letter, index)
        result |= follows
    return text.apostrophes & result


def _join_flags(classes: tf.Tensor, joined: tf.Tensor) -> tf.Tensor:
    """Joins regional indicators in pairs."""
    positions = tf.where(classes == ch.FLAG)[:, 0]
    first = positions != tf.pad(positions, [[1, 0]], constant_values=-2)[:-1] + 1
    run = tf.cumsum(tf.cast(first, tf.int32)) - 1
    number = tf.range(tf.size(positions))
    odd = (number - tf.gather(tf.boolean_mask(number, first), run)) % 2 == 1
    return _set(joined, tf.boolean_mask(positions, odd), True)


def _join_abbreviations(text: _Neighbourhood, joined: tf.Tensor) -> tf.Tensor:
    """Joins the period to the words in `ABBREVIATIONS`."""
    candidate = text.periods & text.before(text.letters) & ~joined & ~text.after(text.words)
    positions = tf.where(candidate & ~text.after(text.periods))[:, 0]
    width = ABBREVIATION_LENGTH + 1
    window = positions[:, None] + tf.range(-width, 0, dtype=tf.int64)  # [P, width], before periods
    valid = window >= 0
    window = tf.maximum(window, 0)
    # To the left of the period, the word starts at the nearest character that begins a token.
    begins = ~tf.gather(joined, window) & valid
    later_begins = tf.cumsum(tf.cast(begins, tf.int32), axis=1, reverse=True, exclusive=True)
    in_word = valid & (later_begins == 0)
    letters = tf.where(in_word, tf.gather(text.points, window), 0)
    # Words are packed into integers, letters as digits to the base 128: "Co" is 67 * 128 + 111.
    powers = np.array([128**index for index in range(width - 1, -1, -1)], np.int64)
    packed = tf.reduce_sum(tf.cast(letters, tf.int64) * powers, axis=1)
    known = [np.dot([*map(ord, word)], powers[-len(word) :]) for word in ABBREVIATIONS]
    is_known = tf.reduce_any(packed[:, None] == tf.constant(known, tf.int64), axis=1)
    is_known &= tf.reduce_all((letters < 128) & (letters >= 0), axis=1)
    return _set(joined, tf.boolean_mask(positions, is_known), True)


def _join_addresses(text: _Neighbourhood, joined: tf.Tensor) -> tf.Tensor:
    """Joins web addresses, from http:// or www. to the last word character or slash."""
    after, points = text.after, text.lowered
    scheme = (points == ord(":")) & text.before(text.letters)
    scheme &= text.letter_after("/", 1) & text.letter_after("/", 2)
    web = (points == ord("w")) & ~text.before(text.words) & after(text.periods, 3)
    web &= text.letter_after("w", 1) & text.letter_after("w", 2)
    result = tf.where(scheme | web)[:, 0]
    # All addresses between two spaces end at the same character, so the first one covers the
    # others. The ranges do not overlap, and their total length is at most that of the text.
    spaces = tf.where(text.spaces)[:, 0]
    space = tf.searchsorted(spaces, result)
    is_first = space != tf.pad(space, [[1, 0]], constant_values=-1)[:-1]
    result, space = tf.boolean_mask(result, is_first), tf.boolean_mask(space, is_first)
    selected = tf.where(text.words | (points == ord("/")))[:, 0]
    last = tf.gather(selected, tf.searchsorted(selected, tf.gather(spaces, space)) - 1)
    first = result + tf.cast(tf.gather(web, result), tf.int64)
    return _set(joined, tf.ragged.range(first, last + 1).values, True)


def _set(mask: tf.Tensor, positions: tf.Tensor, value: bool) -> tf.Tensor:
    return tf.tensor_scatter_nd_update(
        mask, positions[:, None], tf.fill(tf.shape(positions, tf.int64), value)
    )
