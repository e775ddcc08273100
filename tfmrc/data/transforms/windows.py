"""Long texts cut into passages of whole sentences."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from tfmrc.data.transforms.sentences import sentences, words

Place = tuple[int, int]


def split_summary(text: str, num_passages: int = 10, size: int = 130) -> list[str]:
    """Cut a text into passages of whole sentences that overlap by about half.

    Each passage holds at most ``size`` words, each sentence stands whole in at least one of
    them, and their beginnings are spread evenly over the text. A sentence of more than ``size``
    words is cut. A short text gives fewer passages; of a text too long for ``num_passages``
    passages the end is left out (``covered`` of ``windows`` says how much).

    Args:
        text: the text.
        num_passages: the most passages.
        size: the most words of a passage; marks count as words.

    Returns:
        The passages, in the order of the text.

    Example:

    >>> split_summary("One two. Three four. Five six. Seven eight.", num_passages=3, size=6)
    ['One two. Three four.', 'Three four. Five six.', 'Five six. Seven eight.']

    Reference: masque, section 4.2 ("each summary ... was divided into ten passages").
    """
    return [text[start:end] for start, end in windows(text, size, num_passages, overlap=True)]


def windows(
    text: str,
    size: int,
    num_passages: int | None = None,
    *,
    overlap: bool = False,
    units: Sequence[Place] | None = None,
) -> list[Place]:
    """Where passages of whole sentences stand in a text.

    Args:
        text: the text.
        size: the most words of a passage; marks count as words.
        num_passages: the most passages; the end of a longer text is left out. ``None`` for as
            many as the text needs.
        overlap: begin a passage about every ``size / 2`` words, as far as ``num_passages``
            allows. Otherwise as few passages as hold the text, which overlap only as far as
            whole sentences fit in.
        units: places that take the place of sentences: a dialogue's turns. A unit that is too
            long is cut into its sentences.

    Returns:
        Start and end of each passage, in characters, in the order of the text.

    Raises:
        ValueError: if ``size`` or ``num_passages`` is below 1.

    Example:

    >>> windows("One two. Three four. Five six.", size=6)
    [(0, 20), (9, 30)]
    """
    if size < 1:
        raise ValueError(f"A passage has at least one word. Received: size={size!r}")
    if num_passages is not None and num_passages < 1:
        raise ValueError(f"num_passages must be at least 1. Received: num_passages={num_passages}")
    places = words(text)
    if not places:
        return []
    if len(places) <= size:
        return [(places[0][0], places[-1][1])]
    pieces = _pieces(places, sentences(text) if units is None else units, text, size)
    return [
        (pieces[first][0], pieces[last - 1][1])
        for first, last in _choose(
            [count for _, _, count in pieces], size, num_passages or len(pieces), overlap
        )
    ]


def covered(text: str, passages: Sequence[Place]) -> float:
    """Share of the text's words that stand in at least one of the passages.

    Example:

    >>> covered("One two. Three four.", [(0, 8)])
    0.5
    """
    places = words(text)
    if not places:
        return 1.0
    inside = sum(any(a <= start and end <= b for a, b in passages) for start, end in places)
    return inside / len(places)


def _pieces(
    places: list[Place], units: Sequence[Place], text: str, size: int
) -> list[tuple[int, int, int]]:
    """Start, end and number of words of the parts that are kept whole, none above ``size``."""
    starts = [start for start, _ in places]
    pieces = []
    for unit_start, unit_end in units:
        inner = [(unit_start, unit_end)]
        if _count(starts, unit_start, unit_end) > size:
            part = sentences(text[unit_start:unit_end])
            inner = [(unit_start + start, unit_start + end) for start, end in part]
        for start, end in inner:
            first, last = bisect_right(starts, start - 1), bisect_right(starts, end - 1)
            for begin in range(first, last, size):
                stop = min(begin + size, last)
                whole = stop - begin == last - first
                a, b = (start, end) if whole else (places[begin][0], places[stop - 1][1])
                pieces.append((a, b, stop - begin))
    return pieces


def _count(starts: list[int], start: int, end: int) -> int:
    return bisect_right(starts, end - 1) - bisect_right(starts, start - 1)


def _choose(counts: list[int], size: int, most: int, overlap: bool) -> list[Place]:
    """First and last piece (excluded) of each passage."""
    total = len(counts)
    before = [0, *accumulate(counts)]

    def reach(first: int) -> int:
        """The piece behind the last one that fits into a passage that begins at ``first``."""
        return bisect_right(before, before[first] + size) - 1

    needed = [0] * (total + 1)  # passages that hold everything from this piece on
    for first in range(total - 1, -1, -1):
        needed[first] = 1 + needed[reach(first)]
    number = min(most, needed[0])
    if overlap:
        half = max(1, size // 2)
        number = min(most, max(needed[0], 1 + -(-max(0, before[total] - size) // half)))
    selected: list[Place] = []
    if needed[0] > number:  # too long: one passage after the other, and the end is left out
        first = 0
        while len(selected) < number:
            selected.append((first, reach(first)))
            first = reach(first)
        return selected
    # The first piece from which n passages suffice; the numbers that are needed fall.
    earliest = [bisect_left(needed, -n, key=lambda count: -count) for n in range(number + 1)]
    step = before[earliest[1]] / max(1, number - 1)
    selected.append((0, reach(0)))
    while selected[-1][1] < total:
        first, end = selected[-1]
        even = _nearest(before, step * len(selected))
        first = min(max(first + 1, even, earliest[number - len(selected)]), end)
        selected.append((first, reach(first)))
    return selected


def _nearest(numbers: list[int], value: float) -> int:
    """The place of the number that is nearest to the value, in a growing list."""
    place = bisect_right(numbers, value)
    return place - (place > 0 and value - numbers[place - 1] <= numbers[place] - value)
