"""Spans of whole sentences."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from tfmrc.data.example import Example, Span
from tfmrc.data.transforms.sentences import sentences


def with_sentences(examples: Iterable[Example]) -> Iterator[Example]:
    """Replaces the spans and the answers of examples by the sentences that contain them.

    Labels of `tfmrc.models.EvidenceReader`.

    Args:
        examples: iterable of `Example`. Those without a span stay as they are.

    Example:

    >>> passage = "It was late. An owl flew."
    >>> example = Example("1", "Who?", (passage,), {"qa": ("owl",)}, spans=(Span(0, 16, 19),))
    >>> [result] = with_sentences([example])
    >>> result.answers, result.spans
    ({'qa': ('An owl flew.',)}, (Span(passage=0, start=13, end=25),))
    """
    for example in examples:
        spans = sentence_spans(example.passages, example.spans)
        texts = tuple(example.span_text(span) for span in spans)
        answers = dict.fromkeys(example.answers, texts) if spans else example.answers
        yield replace(example, answers=answers, spans=spans)


def sentence_spans(
    passages: Sequence[str],
    spans: Iterable[Span],
    split: Callable[[str], Sequence[tuple[int, int]]] = sentences,
) -> tuple[Span, ...]:
    """Returns the sentences of passages that overlap with spans, each once, in order.

    Args:
        passages: sequence of str. The passages.
        spans: iterable of `Span`. The spans.
        split: function from a text to the offsets of its parts. Default: its sentences.

    Example:

    >>> sentence_spans(["It was late. An owl flew."], [Span(0, 9, 19)])
    (Span(passage=0, start=0, end=12), Span(passage=0, start=13, end=25))
    """
    given = tuple(spans)
    return tuple(
        Span(number, start, end)
        for number in sorted({span.passage for span in given})
        for start, end in split(passages[number])
        if any(s.passage == number and s.start < end and start < s.end for s in given)
    )
