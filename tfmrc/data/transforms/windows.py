"""Division of long texts into passages of whole sentences."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from tfmrc.data.transforms.sentences import sentences, words

Interval = tuple[int, int]


def windows(
    text: str,
    size: int,
    num_passages: int | None = None,
    *,
    overlap: bool = False,
    units: Sequence[Interval] | None = None,
) -> list[Interval]:
    """Returns the bounds of passages of whole sentences that cover a text.

    Args:
        text: str.
        size: int. Largest number of words and punctuation marks per passage.
        num_passages: int. Largest number of passages; the end of a longer text is left out.
            Default: None, as many as the text needs.
        overlap: bool. If True, a passage begins about every ``size / 2`` words, as far as
            ``num_passages`` allows. If False, the number of passages is minimal, and passages
            overlap only where further whole sentences fit. Default: False.
        units: sequence of (start, end). Units to keep whole instead of sentences, such as the turns
            of a dialogue. A unit that is too long is divided into sentences. Default: None.

    Returns:
        The start and end of each passage, in characters, in the order of the text.

    Example:

    >>> windows("One two. Three four. Five six.", size=6)
    [(0, 20), (9, 30)]

    Reference: masque, section 4.2 ("each summary ... was divided into ten passages").
    """
    spans = words(text)
    if not spans:
        return []
    if len(spans) <= size:
        return [(spans[0][0], spans[-1][1])]
    pieces = _pieces(spans, sentences(text) if units is None else units, text, size)
    return [
        (pieces[first][0], pieces[last - 1][1])
        for first, last in _choose(
            [count for _, _, count in pieces], size, num_passages or len(pieces), overlap
        )
    ]


def covered(text: str, passages: Sequence[Interval]) -> float:
    """Returns the share of a text's words that are in at least one passage.

    Example:

    >>> covered("One two. Three four.", [(0, 8)])
    0.5
    """
    spans = words(text)
    if not spans:
        return 1.0
    inside = sum(any(a <= start and end <= b for a, b in passages) for start, end in spans)
    return inside / len(spans)


def _pieces(
    spans: list[Interval], units: Sequence[Interval], text: str, size: int
) -> list[tuple[int, int, int]]:
    """Returns start, end and word count of each unbreakable piece of at most ``size`` words."""
    starts = [start for start, _ in spans]
    pieces = []
    for unit_start, unit_end in units:
        inner = [(unit_start, unit_end)]
        count = bisect_right(starts, unit_end - 1) - bisect_right(starts, unit_start - 1)
        if count > size:
            part = sentences(text[unit_start:unit_end])
            inner = [(unit_start + start, unit_start + end) for start, end in part]
        for start, end in inner:
            first, last = bisect_right(starts, start - 1), bisect_right(starts, end - 1)
            for begin in range(first, last, size):
                stop = min(begin + size, last)
                whole = stop - begin == last - first
                a, b = (start, end) if whole else (spans[begin][0], spans[stop - 1][1])
                pieces.append((a, b, stop - begin))
    return pieces


def _choose(counts: list[int], size: int, most: int, overlap: bool) -> list[Interval]:
    """Returns the first piece and the end (exclusive) of each passage."""
    total = len(counts)
    before = [0, *accumulate(counts)]

    def reach(first: int) -> int:
        """Returns the end (exclusive) of the longest passage that begins at piece ``first``."""
        return bisect_right(before, before[first] + size) - 1

    needed = [0] * (total + 1)  # number of passages needed from this piece on
    for first in range(total - 1, -1, -1):
        needed[first] = 1 + needed[reach(first)]
    number = min(most, needed[0])
    if overlap:
        half = max(1, size // 2)
        number = min(most, max(needed[0], 1 + -(-max(0, before[total] - size) // half)))
    selected: list[Interval] = []
    if needed[0] > number:  # too long: passages without overlap, and the end is left out
        first = 0
        while len(selected) < number:
            selected.append((first, reach(first)))
            first = reach(first)
        return selected
    # The first piece from which n passages suffice; `needed` is non-increasing.
    earliest = [bisect_left(needed, -n, key=lambda count: -count) for n in range(number + 1)]
    step = before[earliest[1]] / max(1, number - 1)
    selected.append((0, reach(0)))
    while selected[-1][1] < total:
        first, end = selected[-1]
        target = step * len(selected)
        even = min(range(len(before)), key=lambda index: abs(before[index] - target))
        first = min(max(first + 1, even, earliest[number - len(selected)]), end)
        selected.append((first, reach(first)))
    return selected
