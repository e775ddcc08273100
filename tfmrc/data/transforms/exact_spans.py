"""Selection of examples whose free-form answer occurs in a passage."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tfmrc.data.example import Example, Span
from tfmrc.data.transforms.sentences import words

_ENDS = frozenset(".!?,;:")


def with_exact_spans(examples: Iterable[Example], style: str) -> Iterator[Example]:
    """Selects examples whose answer occurs in a passage, and keeps that passage and the span.

    A reference whose position is known stays where it is. For examples without one, words are
    compared in lower case; punctuation at the end of the answer may be missing in the passage. The
    first reference that occurs is used, in the first relevant passage or else the first passage, at
    its first occurrence.

    Args:
        examples: iterable of `Example` with free-form answers, such as MS MARCO.
        style: str. Answer style to look for.

    Yields:
        Examples with one passage, one answer (spelled as in the passage) and its span. Examples
        whose answers do not occur are left out.

    Example:

    >>> example = Example("1", "who flew", ("It was late.", "An owl flew."), {"qa": ("an owl.",)})
    >>> [result] = with_exact_spans([example], "qa")
    >>> result.passages, result.answers
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
    """Returns the index of a passage, and the start and end of an answer in it."""
    for answer in answers:
        if (span := example.span_of(answer)) is not None:
            return span.passage, span.start, span.end
    relevance = example.relevance or (False,) * len(example.passages)
    order = sorted(range(len(example.passages)), key=lambda number: not relevance[number])
    passages: dict[int, tuple[list[tuple[int, int]], list[str]]] = {}
    for answer in answers:
        whole = [answer[start:end].lower() for start, end in words(answer)]
        wanted = list(whole)
        while wanted and wanted[-1] in _ENDS:
            del wanted[-1]
        if not wanted:
            continue
        for number in order:
            passage = example.passages[number]
            if wanted[0] not in passage.lower():
                continue  # avoids splitting most passages into words
            if number not in passages:
                spans = words(passage)
                passages[number] = spans, [passage[a:b].lower() for a, b in spans]
            spans, cut = passages[number]
            for first in range(len(cut) - len(wanted) + 1):
                if cut[first : first + len(wanted)] == wanted:
                    end = first + len(wanted)
                    for mark in whole[len(wanted) :]:  # punctuation that is not missing
                        if cut[end : end + 1] != [mark]:
                            break
                        end += 1
                    return number, spans[first][0], spans[end - 1][1]
    return None
