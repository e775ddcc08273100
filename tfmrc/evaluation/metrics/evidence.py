"""Scores of evidence: words, sentences and exact spans."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from tfmrc.data.example import Example
from tfmrc.data.transforms.sentences import sentences, words
from tfmrc.evaluation.metrics.score import Scores, mean_score

Place = tuple[int, int, int]  # passage, start and end


class Located(Protocol):
    """A span of a passage, such as `tfmrc.data.Span`, or a result of a predictor."""

    @property
    def passage(self) -> int: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


def score_evidence(
    predictions: Mapping[str, Iterable[Located]], examples: Iterable[Example]
) -> Scores:
    """Computes F1 of the words, the sentences and the spans that were found, of each question.

    A word or a sentence is found if it has a character of a span. Where there is nothing to find,
    F1 is 1 if nothing was found, else 0.

    Args:
        predictions: dict. The spans of each question by the example's id; those with a negative
            start, which stand for none, are left out.
        examples: iterable of `Example`. The questions with the `spans` that are right.

    Returns:
        `Scores` with the means `word_f1`, `sentence_f1` and `span_f1`.

    Raises:
        KeyError: If an example has no prediction.

    Example:

    >>> from tfmrc.data import Span
    >>> spans = (Span(0, 0, 12), Span(0, 26, 39))
    >>> passage = "An owl flew. It was late. A cat looked."
    >>> example = Example("q", "What happened?", (passage,), spans=spans)
    >>> scores = score_evidence({"q": [Span(0, 0, 12), Span(0, 28, 31)]}, [example])
    >>> [round(float(scores[name]), 2) for name in ("word_f1", "sentence_f1", "span_f1")]
    [0.77, 1.0, 0.5]
    """
    kinds: dict[str, tuple[str, Callable[[str], Sequence[tuple[int, int]]] | None]] = {
        "word": ("Words", words),
        "sentence": ("Sentences", sentences),
        "span": ("Exact spans", None),
    }
    found: dict[str, dict[Any, float]] = {name: {} for name in kinds}
    for example in examples:
        sides = [
            {(one.passage, one.start, one.end) for one in spans if one.start >= 0}
            for spans in (predictions[example.id], example.spans)
        ]
        for name, (_, split) in kinds.items():
            ours, right = (_parts(example.passages, side, split) for side in sides)
            total = len(ours) + len(right)
            found[name][example.id] = 2 * len(ours & right) / total if total else 1.0
    rows = tuple(
        mean_score(
            f"{name}_f1",
            f"{label}, F1",
            found[name],
            scorer="own",
            tokenisation="tfmrc.data.transforms.sentences",
        )
        for name, (label, _) in kinds.items()
    )
    return Scores("evidence", rows)


def _parts(
    passages: Sequence[str],
    spans: set[Place],
    split: Callable[[str], Sequence[tuple[int, int]]] | None,
) -> set[Place]:
    """Returns the words or sentences that have a character of a span; without `split` the spans."""
    if split is None:
        return spans
    return {
        (number, start, end)
        for number in {number for number, _, _ in spans}
        for start, end in split(passages[number])
        if any(n == number and first < end and start < last for n, first, last in spans)
    }
