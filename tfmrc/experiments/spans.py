"""Replaces free answers by spans, for training and as an upper bound of scores."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tfmrc import data
from tfmrc.data import Example, Span
from tfmrc.experiments.settings import Source

MAX_LENGTH = 60

LEFT_OUT = "questions whose answer does not occur in a passage"
WITHOUT_ANSWER = "questions without an answer"

__all__ = ["MAX_LENGTH", "nearest_texts", "with_spans", "write_spans"]


@dataclass(frozen=True)
class NearestSpans:
    """Examples whose free answers are replaced by the nearest spans; iterated repeatedly."""

    examples: Iterable[Example]
    style: str
    max_length: int = MAX_LENGTH

    def __iter__(self) -> Iterator[Example]:
        for example, _ in data.with_best_spans(self.examples, self.style, self.max_length):
            yield _alone(example, self.style)


def with_spans(examples: Iterable[Example], source: Source) -> Iterable[Example]:
    """Returns the examples of a source with the spans that its setting `spans` selects.

    With `spans: exact` it is a stream whose report counts what is left out.
    """
    style = source.styles[0]
    if source.spans != "exact":
        return NearestSpans(examples, style)

    def read(report: data.Report) -> Iterator[Example]:
        for example in examples:
            found = [*data.with_exact_spans([example], style)]
            if not found:
                report.note(LEFT_OUT if example.answers.get(style) else WITHOUT_ANSWER)
            yield from found
        if isinstance(examples, data.ExampleStream):
            report.take(examples.report)

    return data.ExampleStream(read)


def write_spans(
    path: Path, examples: Iterable[Example], style: str, max_length: int
) -> dict[str, Any]:
    """Finds the nearest span of every answer and writes the examples, each with one passage.

    Args:
        path: Path. File of examples; compressed if it ends in `.gz`.
        examples: iterable of `Example`. Examples with free answers.
        style: str. Style of the answers.
        max_length: int. Largest number of words of a span.

    Returns:
        A dict with the number of answers, the number with a span, and the mean ROUGE-L of spans.
    """
    scores: list[float] = []
    answers = 0

    def counted() -> Iterator[Example]:
        nonlocal answers
        for example in examples:
            answers += style in example.answers
            yield example

    def with_span() -> Iterator[Example]:
        for example, score in data.with_best_spans(counted(), style, max_length):
            scores.append(score)
            yield _alone(example, style)

    data.write_examples(path, with_span())
    mean = sum(scores) / max(1, len(scores))
    return {"answers": answers, "with_a_span": len(scores), "rouge_l_of_spans": mean}


def nearest_texts(examples: Iterable[Example], style: str, max_length: int) -> dict[str, str]:
    """Returns the text of the nearest span by id; "" if no passage has a word of the answer."""
    known = list(examples)
    texts = {
        example.id: example.answers[style][0]
        for example, _ in data.with_best_spans(known, style, max_length)
    }
    return {example.id: texts.get(example.id, "") for example in known}


def _alone(example: Example, style: str) -> Example:
    """Returns the example with only the passage of its span."""
    (span,) = example.spans
    return replace(
        example,
        passages=(example.passages[span.passage],),
        relevance=None,
        spans=(Span(0, span.start, span.end),),
        answers={style: example.answers[style]},
    )
