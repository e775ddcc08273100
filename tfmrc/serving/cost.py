"""Estimates the cost of a request from its texts."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

#: Roughly a subword: a mark, or up to six letters.
WORD = re.compile(rb"[A-Za-z0-9\x80-\xff]{1,6}|[^\sA-Za-z0-9\x80-\xff]")
SPECIAL = 4  # special subwords of a window
JOINED_WINDOWS = 4
JOINED_WORDS = 10_000  # truncated words included


class Cost(NamedTuple):
    """The cost of a request.

    Attributes:
        words: int. Words that the model reads, counted in each window, and may write.
        windows: int. Windows of a model that reads long passages in windows; otherwise rows.
        is_small: bool. Whether no row has more than four windows, and no text is long.
    """

    words: int
    windows: int
    is_small: bool


class CostEstimator:
    """Estimates the costs of requests for one model.

    For a model that reads in windows, a passage costs the words of all its windows. A model without
    windows reads the beginning of each passage: a row costs the words that it reads and may write.

    Args:
        card: dict. The model card of an export, which has the sizes; {} if there is none.

    Example:

    >>> import numpy as np
    >>> from tfmrc.serving.cost import CostEstimator
    >>> estimate = CostEstimator({"preprocessor": {"passage_length": 4, "stride": None}})
    >>> estimate({"passages": np.array([[b"The hill is 310 m high."]], dtype=object)})
    Cost(words=13, windows=3, is_small=True)
    """

    def __init__(self, card: Mapping[str, Any]):
        sizes = card.get("preprocessor") or {}
        self._length: int = sizes.get("passage_length") or 2**31
        self._step: int | None = None
        if "stride" in sizes:
            self._step = sizes["stride"] or max(1, sizes["passage_length"] // 2)
        if "window_length" in sizes:
            self._length = sizes["window_length"] - sizes["question_length"] - SPECIAL
            self._step = max(1, self._length - sizes["overlap"])
        self._longest = sizes.get("longest_passage", 2**31)
        self._written = 0 if self._step else (card.get("decoding") or {}).get("max_length") or 0

    def __call__(self, arrays: Mapping[str, np.ndarray]) -> Cost:
        """Returns the cost of a request.

        Args:
            arrays: dict. The arrays of its inputs.
        """
        rows = max((len(array) for array in arrays.values() if array.ndim), default=1) or 1
        windows, read, raw = np.zeros(rows, dtype=int), rows * (1 + self._written), 0
        for name, array in arrays.items():
            if array.dtype != object:
                continue
            for row, texts in enumerate(array if array.ndim == 2 else array[:, None]):
                for text in filter(None, texts):
                    count = sum(1 for _ in WORD.finditer(text))
                    raw += count
                    if name in ("passage", "passages"):
                        number = self._windows(count)
                        windows[row] += number
                        count = min(count, self._length) if number == 1 else number * self._length
                    read += count
        windows = np.maximum(windows, 1) if self._step else np.ones_like(windows)
        is_small = windows.max() <= JOINED_WINDOWS and raw <= JOINED_WORDS
        return Cost(int(read), int(windows.sum()), bool(is_small))

    def _windows(self, words: int) -> int:
        if self._step is None:
            return 1
        further = min(words, self._longest) - self._length
        return 1 + max(0, -(-further // self._step))
