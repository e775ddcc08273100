"""Code points of strings as flat tensors, tables of their properties, and replacements."""

import functools
import json
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfmrc.text.rows import row_and_position
from tfmrc.text.typing import TensorLike

TABLES = Path(__file__).parent / "tables" / "code_points.json"
NUM_CODES = 0x110000
_PAGE = 256


class CodePoints(NamedTuple):
    """The code points of R strings, one after the other.

    Of the strings `["ab", "", "c"]` the fields are `points = [97, 98, 99]`, `row = [0, 0, 2]`,
    `index = [0, 1, 0]` and `num_rows = 3`.

    Attributes:
        points: int32 `[N]`.
        row: int32 `[N]`, the string.
        index: int32 `[N]`, the position in the string.
        num_rows: int32 scalar, R.
    """

    points: tf.Tensor
    row: tf.Tensor
    index: tf.Tensor
    num_rows: tf.Tensor

    @classmethod
    def of(cls, texts: TensorLike) -> "CodePoints":
        """Decodes UTF-8 strings `[R]`; bytes that are not UTF-8 become U+FFFD.

        Example:
            >>> from tfmrc.text.code_points import CodePoints
            >>> points = CodePoints.of(["ab", "", "c"])
            >>> points.row.numpy(), points.index.numpy()
            (array([0, 0, 2], dtype=int32), array([0, 1, 0], dtype=int32))
        """
        texts = tf.convert_to_tensor(texts, tf.string)
        decoded = tf.strings.unicode_decode(texts, "UTF-8")  # ragged [R, ..]
        return cls(decoded.values, *row_and_position(decoded), tf.shape(texts)[0])


def code_point_sizes(points: tf.Tensor) -> tf.Tensor:
    """Returns the number of bytes of code points in UTF-8, int32 of the same shape."""
    return tf.searchsorted(tf.constant([0x80, 0x800, 0x10000]), points, side="right") + 1


class CodePointTable:
    """An integer or bool for each code point, looked up in the graph.

    The table is stored in distinct pages of 256 code points: the value of code point 0x4E07 is at
    place 7 of the page that `page_of[0x4E]` names, which many other pages of ideographs share.

    Args:
        values: int or bool array `[0x110000]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.text.code_points import NUM_CODES, CodePointTable
        >>> table = CodePointTable(np.arange(NUM_CODES) // 64)
        >>> table.lookup([[65, 0x4E00]]).numpy()
        array([[  1, 312]])
    """

    def __init__(self, values: np.ndarray):
        pages: dict[bytes, int] = {}
        rows = values.reshape(-1, _PAGE)
        numbers = [pages.setdefault(row.tobytes(), len(pages)) for row in rows]
        self._pages = np.frombuffer(b"".join(pages), values.dtype)
        self._page_of = np.array(numbers, np.int32) * _PAGE

    def lookup(self, points: TensorLike) -> tf.Tensor:
        """Returns the values of code points, of the same shape."""
        points = tf.convert_to_tensor(points, tf.int32)
        page = tf.gather(self._page_of, points // _PAGE)
        return tf.gather(self._pages, page + points % _PAGE)


@functools.cache
def tables() -> Mapping[str, Any]:
    """Returns the measured properties of code points (`tools/code_points.py`).

    A property is a list of ranges, or a dict from code point to str. `nfkd` and `decompositions`
    include the syllables of Hangul, which are decomposed by arithmetic and not in the file.
    """
    result = {
        name: {int(code): text for code, text in value.items()}
        if isinstance(value, dict)
        else value
        for name, value in json.loads(TABLES.read_text(encoding="utf-8")).items()
    }
    for code in range(0xAC00, 0xD7A4):
        letters = unicodedata.normalize("NFD", chr(code))
        result["decompositions"][code] = result["nfkd"][code] = letters
    return result


@functools.cache
def white_space() -> np.ndarray:
    """Returns which code points are white space, bool `[0x110000]`."""
    result = having("spaces")
    result[[32, 0x0B, 0x0C, 0x85]] = True
    return result


@functools.cache
def white_space_table() -> CodePointTable:
    """Returns the table of `white_space`."""
    return CodePointTable(white_space())


@functools.cache
def marks_table() -> CodePointTable:
    """Returns the table of combining marks, of the categories Mn, Mc and Me."""
    marks = np.zeros(NUM_CODES, bool)
    for plane in (0, 1, 0xE):  # the others have ideographs, or nothing
        codes = range(plane * 0x10000, (plane + 1) * 0x10000)
        marks[codes] = [unicodedata.category(chr(code))[0] == "M" for code in codes]
    return CodePointTable(marks)


def ends_with_marks(texts: TensorLike, row: tf.Tensor, ends: tf.Tensor) -> tf.Tensor:
    """Moves the ends of spans behind the combining marks that follow them.

    Args:
        texts: string `[R]`.
        row: int32 `[W]`. The text of each row of spans.
        ends: int32 `[W, P]`. Code points; ends below 1 stay.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.code_points import ends_with_marks
        >>> ends_with_marks(["e\u0301a"], tf.constant([0]), tf.constant([[1, 3, -1]])).numpy()
        array([[ 2,  3, -1]], dtype=int32)
    """
    # The space is where the end of a text stays that no other character follows.
    points = tf.strings.unicode_decode(tf.convert_to_tensor(texts) + " ", "UTF-8")  # ragged [R, ..]
    others = tf.where(~marks_table().lookup(points.values))[:, 0]  # places of no marks, ascending
    first = tf.gather(points.row_starts(), row)[:, None]  # [W, 1]
    index = tf.searchsorted(others, tf.reshape(first + tf.cast(ends, tf.int64), [-1]))  # [W P]
    moved = tf.reshape(tf.gather(others, index), tf.shape(ends)) - first  # [W, P]
    return tf.where(ends > 0, tf.cast(moved, tf.int32), ends)


def member(ranges: Iterable[tuple[int, int]]) -> np.ndarray:
    """Returns a bool array `[0x110000]`, True within the ranges, both ends inclusive.

    Example:
        >>> from tfmrc.text.code_points import member
        >>> member([(65, 70)]).sum()
        np.int64(6)
    """
    result = np.zeros(NUM_CODES, bool)
    for first, last in ranges:
        result[first : last + 1] = True
    return result


def having(name: str) -> np.ndarray:
    """Returns which code points have a property of `tables`, bool `[0x110000]`."""
    return member(tables()[name])


class Characters(NamedTuple):
    """M characters, one text after the other.

    Attributes:
        points: int32 `[M]`, code points.
        source: int32 `[M]`, the character of the caller's text that each one comes from.
        text: int32 `[M]`, the text, ascending. What is between special tokens is a text.
    """

    points: tf.Tensor
    source: tf.Tensor
    text: tf.Tensor

    def select(self, which: tf.Tensor) -> "Characters":
        """Returns the characters with the given positions, or where a mask is True."""
        if which.dtype == tf.bool:
            which = tf.where(which)[:, 0]
        return Characters(*(tf.gather(field, which) for field in self))


def int32(values: tf.Tensor) -> tf.Tensor:
    """Returns numbers as int32; True is 1."""
    return tf.cast(values, tf.int32)


def neighbours(values: tf.Tensor, steps: int, fill: int | bool = 0) -> tf.Tensor:
    """Returns for each position the value `steps` positions later, or earlier if negative.

    Beyond the ends of `[M]` the value is `fill`.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.code_points import neighbours
        >>> print(neighbours(tf.constant([1, 2, 3]), -1, 0).numpy())
        [0 1 2]
    """
    size = tf.size(values)
    if steps < 0:
        return tf.pad(values, [[-steps, 0]], constant_values=fill)[:size]
    return tf.pad(values, [[0, steps]], constant_values=fill)[steps:]


def expand(
    characters: Characters, counts: tf.Tensor, first: tf.Tensor, new_points: np.ndarray
) -> tuple[Characters, tf.Tensor, tf.Tensor]:
    """Replaces each character by `counts` others, which begin at `first` in `new_points`.

    For "½a" with "1/2" for "½": `counts = [3, 1]`, `first = [0, -1]` and `new_points = "1/2"` give
    `origin = [0, 0, 0, 1]`, `number = [0, 1, 2, 0]` and the characters "1/2a".

    Args:
        characters: `Characters`, M of them.
        counts: int32 `[M]`.
        first: int32 `[M]`; -1 where a character stays.
        new_points: int32 array, not empty.

    Returns:
        N characters; int32 `[N]` the character that each one replaces; int32 `[N]` its number
        among those that replace it.
    """
    origin = tf.repeat(tf.range(tf.size(counts)), counts)  # [N]
    number = tf.range(tf.size(origin)) - tf.gather(tf.cumsum(counts) - counts, origin)  # [N]
    result, first = characters.select(origin), tf.gather(first, origin)  # [N]
    points = tf.gather(new_points, tf.where(first >= 0, first + number, 0))
    points = tf.where(first >= 0, points, result.points)
    return result._replace(points=points), origin, number


class Replacements:
    """Replaces characters by zero or more others, each by itself.

    Args:
        replacements: dict from code point to str.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.code_points import Characters, Replacements
        >>> zeros = tf.zeros([2], tf.int32)
        >>> result = Replacements({0xBD: "1/2"})(Characters([0xBD, 97], tf.range(2), zeros))
        >>> print(result.points.numpy(), result.source.numpy())
        [49 47 50 97] [0 0 0 1]
    """

    def __init__(self, replacements: Mapping[int, str]):
        counts = np.ones(NUM_CODES, np.int32)
        first = np.full(NUM_CODES, -1, np.int32)
        new_points: list[int] = []
        for code, text in replacements.items():
            counts[code], first[code] = len(text), len(new_points)
            new_points += map(ord, text)
        self._counts, self._first = CodePointTable(counts), CodePointTable(first)
        self._new_points = np.array([*new_points, 0], np.int32)

    def __call__(self, characters: Characters) -> Characters:
        counts, first = (table.lookup(characters.points) for table in (self._counts, self._first))
        return expand(characters, counts, first, self._new_points)[0]
