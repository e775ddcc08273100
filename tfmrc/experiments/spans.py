"""Spans that stand for free answers: what is trained on, and the bound that they put on scores."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tfmrc import data
from tfmrc.data import Example, Span
from tfmrc.experiments.settings import Source

MAX_LENGTH = 60

__all__ = ["MAX_LENGTH", "Spans", "nearest_texts", "with_spans", "write_spans"]


@dataclass(frozen=True)
class Spans:
    """Examples whose free answer became a span of one passage; readable as often as the stream."""

    examples: Iterable[Example]
    source: Source
    max_length: int = MAX_LENGTH

    def __iter__(self) -> Iterator[Example]:
        style = self.source.styles[0]
        if self.source.spans == "exact":
            yield from data.with_exact_spans(self.examples, style)
            return
        for example, _ in data.with_best_spans(self.examples, style, self.max_length):
            yield _alone(example, style)


def with_spans(examples: Iterable[Example], source: Source) -> Spans:
    """The examples of a source, as its `spans` says."""
    return Spans(examples, source)


def write_spans(
    path: Path, examples: Iterable[Example], style: str, max_length: int
) -> dict[str, Any]:
    """Finds the nearest span of every answer once and writes the examples, each with its passage.

    Args:
        path: File of examples; `.gz` is compressed.
        examples: With free answers.
        style: Style of the answers.
        max_length: Largest number of words of a span.

    Returns:
        How many answers there are, how many have a span, and the mean ROUGE-L of the spans.
    """
    scores: list[float] = []
    answers = 0

    def counted() -> Iterator[Example]:
        nonlocal answers
        for example in examples:
            answers += style in example.answers
            yield example

    def found() -> Iterator[Example]:
        for example, score in data.with_best_spans(counted(), style, max_length):
            scores.append(score)
            yield _alone(example, style)

    data.write_examples(path, found())
    mean = sum(scores) / max(1, len(scores))
    return {"answers": answers, "with_a_span": len(scores), "rouge_l_of_spans": mean}


def nearest_texts(examples: Iterable[Example], style: str, max_length: int) -> dict[str, str]:
    """The text of the nearest span by id; "" where no passage has a word of the answer."""
    known = list(examples)
    found = {
        example.id: example.answers[style][0]
        for example, _ in data.with_best_spans(known, style, max_length)
    }
    return {example.id: found.get(example.id, "") for example in known}


def _alone(example: Example, style: str) -> Example:
    """The example with the passage of its span alone."""
    (span,) = example.spans
    return replace(
        example,
        passages=(example.passages[span.passage],),
        relevance=None,
        spans=(Span(0, span.start, span.end),),
        answers={style: example.answers[style]},
    )
