"""The examples whose free answer stands in a passage as it is."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tfmrc.data.example import Example, Span
from tfmrc.data.transforms.sentences import words

_ENDS = frozenset(".!?,;:")


def with_exact_spans(examples: Iterable[Example], style: str) -> Iterator[Example]:
    """Examples whose answer is a part of a passage: that passage alone, with the answer's span.

    Words are compared in lower case; a mark at the end of the answer may be missing in the
    passage. Of several passages one that is marked as relevant comes first, then the first; of
    several places in it the first; of several references the first that stands in a passage.

    Args:
        examples: with free answers, as those of MS MARCO.
        style: whose answers are looked for.

    Yields:
        The examples that have such an answer: one passage, the answer as the passage writes it
        (its style has no other), and its span. The others are left out.

    Example:

    >>> example = Example("1", "who flew", ("It was late.", "An owl flew."), {"qa": ("an owl.",)})
    >>> [found] = with_exact_spans([example], "qa")
    >>> found.passages, found.answers
    (('An owl flew.',), {'qa': ('An owl',)})

    Reference: Zhao et al. 2018, section 3.1 (the part of MS MARCO whose answers are spans).
    """
    for example in examples:
        result = _first(example, example.answers.get(style, ()))
        if result is None:
            continue
        number, start, end = result
        passage = example.passages[number]
        yield replace(
            example,
            passages=(passage,),
            answers={style: (passage[start:end],)},
            relevance=None if example.relevance is None else (example.relevance[number],),
            spans=(Span(0, start, end),),
        )


def _first(example: Example, answers: Sequence[str]) -> tuple[int, int, int] | None:
    """Number of a passage, and start and end of an answer in it."""
    relevance = example.relevance or (False,) * len(example.passages)
    order = sorted(range(len(example.passages)), key=lambda number: not relevance[number])
    passages: dict[int, tuple[list[tuple[int, int]], list[str]]] = {}
    for answer in answers:
        wanted = [answer[start:end].lower() for start, end in words(answer)]
        while wanted and wanted[-1] in _ENDS:
            del wanted[-1]
        if not wanted:
            continue
        for number in order:
            passage = example.passages[number]
            if wanted[0] not in passage.lower():
                continue  # spares most passages the cutting into words
            if number not in passages:
                places = words(passage)
                passages[number] = places, [passage[a:b].lower() for a, b in places]
            places, cut = passages[number]
            for first in range(len(cut) - len(wanted) + 1):
                if cut[first : first + len(wanted)] == wanted:
                    return number, places[first][0], places[first + len(wanted) - 1][1]
    return None
