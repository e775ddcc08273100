"""The normalizers of `tokenizer.json`, as the package `tokenizers` computes them."""

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

from tfmrc.text import code_points as cp
from tfmrc.text.checks import checked
from tfmrc.text.subwords.precompiled import Precompiled, read_rules

Normalizer = Callable[[cp.Characters], cp.Characters]
SPACES, LINES = " {2,}", r"\s{2,}|[\n\r\t]"


def normalizers_of(config: Mapping[str, Any] | None) -> list[Normalizer]:
    """Returns the steps of a `normalizer`.

    Args:
        config: dict or None. The value in `tokenizer.json`.

    Raises:
        ValueError: If a component is not supported.

    Example:
        >>> from tfmrc.text.subwords.normalizers import normalizers_of
        >>> len(normalizers_of({"type": "Sequence", "normalizers": [{"type": "Lowercase"}]}))
        1
    """
    parts = _flat(config)
    types = [part["type"] for part in parts]
    steps: list[Normalizer] = []
    for number, (kind, part) in enumerate(zip(types, parts, strict=True)):
        # NFKD alone would reorder marks; without them it replaces single characters.
        if kind == "NFKD" and types[number + 1 : number + 2] == ["StripAccents"]:
            continue
        if kind == "StripAccents":
            steps.append(_strip_accents(after_nfkd=types[number - 1 : number] == ["NFKD"]))
        elif kind == "Lowercase":
            steps.append(cp.Replacements(cp.tables()["lowercase"]))
        elif kind == "NFC":
            steps.append(Composition())
        elif kind == "Strip":
            steps.append(Strip(part["strip_left"], part["strip_right"]))
        elif kind == "Precompiled":
            steps.append(Precompiled(read_rules(part["precompiled_charsmap"])))
        elif kind == "Replace":
            steps.append(_replace(part))
        else:
            _refuse(part)
    return steps


def _flat(config: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    if config is None:
        return []
    if config["type"] == "Sequence":
        return [part for inner in config["normalizers"] for part in _flat(inner)]
    return [config]


def _strip_accents(after_nfkd: bool) -> Normalizer:
    accents = cp.having("accents")
    replaced = {code: chr(code) for code in np.flatnonzero(accents).tolist()}
    if after_nfkd:
        replaced = cp.tables()["nfkd"] | replaced
    return cp.Replacements(
        {code: "".join(c for c in text if not accents[ord(c)]) for code, text in replaced.items()}
    )


def _refuse(part: Mapping[str, Any]) -> NoReturn:
    raise ValueError(
        "A normalizer must be Precompiled, NFC, NFKD before StripAccents, StripAccents, Lowercase, "
        f"Strip, or Replace of {SPACES!r}, {LINES!r} or a string by one character. "
        f"Received: {str(part)[:200]}"
    )


def _replace(part: Mapping[str, Any]) -> Normalizer:
    pattern, content = part["pattern"], part["content"]
    text = pattern.get("String", "")
    repeated = len(text) == 2 and text[0] == text[1]
    overlaps = any(text[-size:] == text[:size] for size in range(1, len(text)))
    if len(content) == 1 and pattern.get("Regex") in (SPACES, LINES):
        return Runs(pattern["Regex"], content)
    if len(content) == len(text) == 1:
        return cp.Replacements({ord(text): content})
    if len(content) != 1 or len(text) < 2 or (overlaps and not repeated):
        _refuse(part)
    return Literal(text, content)


class Strip:
    """Removes white space at the ends of texts."""

    def __init__(self, left: bool, right: bool):
        self._sides = [True] * left + [False] * right

    def __call__(self, characters: cp.Characters) -> cp.Characters:
        for left in self._sides:
            other = ~cp.white_space_table().lookup(characters.points)  # [M]
            # The number of other characters up to each one, within its text.
            count = tf.cumsum(cp.int32(other), reverse=not left)
            side = "left" if left else "right"
            edge = tf.searchsorted(characters.text, characters.text, side=side)  # [M]
            padded = tf.pad(count, [[1, 0]]) if left else tf.pad(count, [[0, 1]])  # [M + 1]
            characters = characters.select(count > tf.gather(padded, edge))
        return characters


class Runs:
    """Replaces two or more spaces in a row by one character, which comes from the last one.

    With the pattern of `LINES` all white space counts, and single line ends and tabs are replaced.
    """

    def __init__(self, pattern: str, content: str):
        space, single = np.zeros(cp.NUM_CODES, bool), np.zeros(cp.NUM_CODES, bool)
        space[32] = True
        if pattern == LINES:
            space = cp.white_space()
            single[[*map(ord, "\n\r\t")]] = True
        self._kinds = cp.CodePointTable(space.astype(np.int32) + single)
        self._content = ord(content)

    def __call__(self, characters: cp.Characters) -> cp.Characters:
        kinds = self._kinds.lookup(characters.points)
        space = kinds > 0
        linked = space & cp.neighbours(space, -1)
        linked &= characters.text == cp.neighbours(characters.text, -1, -1)
        followed = cp.neighbours(linked, 1)
        replaced = linked | (kinds > 1)
        points = tf.where(replaced, self._content, characters.points)
        return characters._replace(points=points).select(~followed)


class Literal:
    """Replaces a string by one character, which comes from the last one of the string."""

    def __init__(self, text: str, content: str):
        self._codes = [ord(character) for character in text]
        self._content = ord(content)

    def __call__(self, characters: cp.Characters) -> cp.Characters:
        points, text = characters.points, characters.text
        size = len(self._codes)
        match = cp.neighbours(text, size - 1, -1) == text  # [M], at the first character
        for step, code in enumerate(self._codes):
            match &= cp.neighbours(points, step, -1) == code
        if self._codes[0] == self._codes[-1]:
            # Of the matches in a row every second one counts: "aa" is twice in "aaaa".
            begins = match & ~(cp.neighbours(match, -1) & (cp.neighbours(text, -1, -1) == text))
            index, first = tf.range(tf.size(points)), tf.cast(tf.where(begins)[:, 0], tf.int32)
            run = tf.searchsorted(first, index, side="right")
            match &= (index - tf.gather(tf.pad(first, [[1, 0]]), run)) % 2 == 0
        removed = match
        for step in range(1, size - 1):
            removed |= cp.neighbours(match, -step)
        last = cp.neighbours(match, 1 - size)
        return characters._replace(points=tf.where(last, self._content, points)).select(~removed)


class Composition:
    """NFC: composes characters with the marks that follow them.

    Refused are texts with marks that Unicode would reorder, or compose over another mark.
    """

    def __init__(self) -> None:
        nfc, decompositions = cp.tables()["nfc"], cp.tables()["decompositions"]
        self._replacements = cp.Replacements(nfc)
        # The order of marks, which is stable; of those that the package `tokenizers` knows.
        known = cp.member([*cp.tables()["marks"], *cp.tables()["combining"]])
        order = np.zeros(cp.NUM_CODES, np.int32)
        for code in np.flatnonzero(known).tolist():
            order[code] = unicodedata.combining(chr(code))
        first, last = order.copy(), order.copy()
        for code, text in decompositions.items():
            first[code], last[code] = order[ord(text[0])], order[ord(text[-1])]
        self._first, self._last = cp.CodePointTable(first), cp.CodePointTable(last)
        pairs = {}
        for code in decompositions.keys() - nfc.keys():
            if len(pair := _canonical_pair(code)) == 2:
                pairs[pair[0] * cp.NUM_CODES + pair[1]] = code
        self._keys = np.array(sorted(pairs), np.int64)
        self._composed = np.array([pairs[key] for key in self._keys.tolist()], np.int32)
        follows = np.zeros(cp.NUM_CODES, bool)
        follows[self._keys % cp.NUM_CODES] = True
        self._follows = cp.CodePointTable(follows)

    def __call__(self, characters: cp.Characters) -> cp.Characters:
        first = self._first.lookup(characters.points)  # [M]
        disordered = (first > 0) & (self._before(characters) > first)
        characters = self._replacements(self._checked(characters, disordered))
        *fields, _ = tf.while_loop(
            lambda points, source, text, found: tf.reduce_any(found),
            lambda *fields: self._with_pairs(cp.Characters(*fields[:3]), fields[3]),
            (*characters, self._pairs(characters)[0]),
            shape_invariants=(tf.TensorShape([None]),) * 4,
        )
        characters = cp.Characters(*fields)
        first = self._first.lookup(characters.points)
        over = self._follows.lookup(characters.points) & (first > self._before(characters))
        return self._checked(characters, over & (self._before(characters) > 0))

    def _before(self, characters: cp.Characters) -> tf.Tensor:
        """Returns the order of the mark before each character in its text; 0 for none, `[M]`."""
        same = characters.text == cp.neighbours(characters.text, -1, -1)
        return tf.where(same, cp.neighbours(self._last.lookup(characters.points), -1), 0)

    def _pairs(self, characters: cp.Characters) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns which characters compose with the next one, bool `[M]`, and the results."""
        points, text = characters.points, characters.text
        second = cp.neighbours(points, 1)
        possible = self._follows.lookup(second) & (text == cp.neighbours(text, 1, -1))
        key = tf.cast(points, tf.int64) * cp.NUM_CODES + tf.cast(second, tf.int64)
        place = tf.minimum(tf.searchsorted(self._keys, key), len(self._keys) - 1)
        found = possible & (tf.gather(self._keys, place) == key)
        return found & ~cp.neighbours(found, -1), tf.gather(self._composed, place)

    def _with_pairs(
        self, characters: cp.Characters, found: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
        points = tf.where(found, self._pairs(characters)[1], characters.points)
        characters = characters._replace(points=points).select(~cp.neighbours(found, -1))
        return *characters, self._pairs(characters)[0]

    def _checked(self, characters: cp.Characters, crossing: tf.Tensor) -> cp.Characters:
        points = checked(
            characters.points,
            ~tf.reduce_any(crossing),
            "Combining marks that NFC would reorder, or compose over another mark, are not "
            "supported by this tokenizer. Received: code points ",
            tf.boolean_mask(characters.points, crossing),
        )
        return characters._replace(points=points)


def _canonical_pair(code: int) -> list[int]:
    """Returns the two characters of which Unicode composes one; others for other characters."""
    syllable = code - 0xAC00
    if not 0 <= syllable < 11172:
        mapping = unicodedata.decomposition(chr(code))
        return [] if mapping.startswith("<") else [int(part, 16) for part in mapping.split()]
    if syllable % 28:
        return [code - syllable % 28, 0x11A7 + syllable % 28]
    return [0x1100 + syllable // 588, 0x1161 + syllable % 588 // 28]
