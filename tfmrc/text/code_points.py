"""Code points of strings as flat tensors, and tables of their properties."""

import functools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

TABLES = Path(__file__).parent / "tables" / "code_points.json"
NUM_CODES = 0x110000
_PAGE = 256


class CodePoints(NamedTuple):
    """The code points of R strings, one after the other.

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
    def of(cls, texts: Any) -> "CodePoints":
        """Decodes UTF-8 strings `[R]`; bytes that are no UTF-8 become U+FFFD.

        Example:
            >>> from tfmrc.text.code_points import CodePoints
            >>> points = CodePoints.of(["ab", "", "c"])
            >>> points.row.numpy(), points.index.numpy()
            (array([0, 0, 2], dtype=int32), array([0, 1, 0], dtype=int32))
        """
        texts = tf.convert_to_tensor(texts, tf.string)
        decoded = tf.strings.unicode_decode(texts, "UTF-8")
        row = tf.cast(decoded.value_rowids(), tf.int32)
        first = tf.cast(tf.gather(decoded.row_starts(), row), tf.int32)
        return cls(decoded.values, row, tf.range(tf.size(row)) - first, tf.shape(texts)[0])


class CodePointTable:
    """An integer for each code point, looked up in the graph.

    The table is stored in distinct pages of 256 code points.

    Args:
        values: int array `[0x110000]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.text.code_points import NUM_CODES, CodePointTable
        >>> table = CodePointTable(np.arange(NUM_CODES) // 64)
        >>> table.lookup([[65, 0x4E00]]).numpy()
        array([[  1, 312]], dtype=int32)
    """

    def __init__(self, values: np.ndarray):
        pages: dict[bytes, int] = {}
        rows = values.astype(np.int32).reshape(-1, _PAGE)
        numbers = [pages.setdefault(row.tobytes(), len(pages)) for row in rows]
        self._pages = np.frombuffer(b"".join(pages), np.int32)
        self._page_of = np.array(numbers, np.int32) * _PAGE

    def lookup(self, points: Any) -> tf.Tensor:
        """Returns the integers of code points, int32 of the same shape."""
        points = tf.convert_to_tensor(points, tf.int32)
        page = tf.gather(self._page_of, points // _PAGE)
        return tf.gather(self._pages, page + points % _PAGE)


@functools.cache
def tables() -> Mapping[str, Any]:
    """Returns the measured properties of code points (`tools/code_points.py`)."""
    result: dict[str, Any] = json.loads(TABLES.read_text(encoding="utf-8"))
    return result


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
