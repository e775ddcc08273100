"""Replaces free answers by spans, for training and as an upper bound of scores."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tfmrc import data
from tfmrc.data import Example, Span
from tfmrc.experiments.settings import Source

MAX_LENGTH = 60


def with_spans(examples: Iterable[Example], source: Source) -> Iterable[Example]:
    """Returns the examples of a source with the spans that its setting `spans` selects.

    Those without an answer stay as they are.
    """
    style = source.styles[0]

    def read(_: data.Account) -> Iterator[Example]:
        for example in examples:
            if source.spans != "exact":
                yield from (found for found, _ in _nearest(example, style, MAX_LENGTH))
            elif example.answerable is False:
                yield example
            else:
                yield from data.with_exact_spans([example], style)

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

    def with_span() -> Iterator[Example]:
        nonlocal answers
        for example in examples:
            answers += style in example.answers
            for found, score in _nearest(example, style, max_length):
                scores.extend([score] if found.answers else [])
                yield found

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


def _nearest(example: Example, style: str, max_length: int) -> Iterator[tuple[Example, float]]:
    """Yields the example with the passage and the span that are nearest to its answer.

    One with a known span keeps it, and one without an answer stays as it is.
    """
    if example.answerable is False:
        yield example, 0.0
    elif any(example.span_of(answer) for answer in example.answers.get(style, ())):
        yield next(data.with_exact_spans([example], style)), 1.0
    else:
        for found, score in data.with_best_spans([example], style, max_length):
            (span,) = found.spans
            yield (
                replace(
                    found,
                    passages=(found.passages[span.passage],),
                    relevance=None,
                    spans=(Span(0, span.start, span.end),),
                ),
                score,
            )
