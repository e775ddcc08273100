"""Scores of evidence: words, sentences and exact spans."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Protocol

from tfmrc.data.example import Span
from tfmrc.data.transforms.sentences import words
from tfmrc.data.transforms.with_sentences import sentence_spans
from tfmrc.evaluation.metrics.registry import Submission, register_metric
from tfmrc.evaluation.metrics.score import Scores, mean_score


class Labelled(Protocol):
    """Passages with the spans that are right: `tfmrc.data.Example` or a `Reference`."""

    @property
    def id(self) -> str: ...

    @property
    def passages(self) -> tuple[str, ...]: ...

    @property
    def spans(self) -> tuple[Span, ...]: ...


class Located(Protocol):
    """A span of a passage, such as `tfmrc.data.Span`, or a result of a predictor."""

    @property
    def passage(self) -> int: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


def score_evidence(
    predictions: Mapping[str, Iterable[Located]], examples: Iterable[Labelled]
) -> Scores:
    """Computes F1 of the evidence of each question, in words, sentences and exact spans.

    A word or a sentence is found if it has a character of a span. Where there is nothing to find,
    F1 is 1 if nothing was found, else 0.

    Args:
        predictions: dict. The spans of each question by the example's id; those with a negative
            start, which stand for none, are left out.
        examples: iterable of `tfmrc.data.Example` or `tfmrc.evaluation.Reference`. The questions
            with the `spans` that are right.

    Returns:
        `Scores` with the means `word_f1`, `sentence_f1` and `span_f1`.

    Raises:
        KeyError: If an example has no prediction.

    Example:

    >>> from tfmrc.data import Example, Span
    >>> spans = (Span(0, 0, 12), Span(0, 26, 39))
    >>> passage = "An owl flew. It was late. A cat looked."
    >>> example = Example("q", "What happened?", (passage,), spans=spans)
    >>> scores = score_evidence({"q": [Span(0, 0, 12), Span(0, 28, 31)]}, [example])
    >>> [round(float(scores[name]), 2) for name in ("word_f1", "sentence_f1", "span_f1")]
    [0.77, 1.0, 0.5]
    """
    found: dict[str, dict[Any, float]] = {"word": {}, "sentence": {}, "span": {}}
    for example in examples:
        ours, right = (
            [Span(one.passage, one.start, one.end) for one in spans if one.start >= 0]
            for spans in (predictions[example.id], example.spans)
        )
        found["span"][example.id] = _f1(ours, right)
        if not right:  # the passages may be unknown
            found["word"][example.id] = found["sentence"][example.id] = found["span"][example.id]
            continue
        parts = partial(sentence_spans, example.passages)
        found["word"][example.id] = _f1(parts(ours, words), parts(right, words))
        found["sentence"][example.id] = _f1(parts(ours), parts(right))
    labels = {"word": "Words", "sentence": "Sentences", "span": "Exact spans"}
    rows = tuple(
        mean_score(
            f"{name}_f1",
            f"{label}, F1",
            found[name],
            scorer="own",
            tokenisation="tfmrc.data.transforms.sentences",
        )
        for name, label in labels.items()
    )
    return Scores("evidence", rows)


@register_metric("evidence", lambda submission: submission.scores("spans", submission.references))
def _evidence(submission: Submission) -> Scores:
    found = submission.scores("spans", submission.references)
    spans = {key: [Span(*place) for place in places] for key, places in found.items()}
    return score_evidence(spans, submission.references.values())


def _f1(ours: Iterable[Span], right: Iterable[Span]) -> float:
    one, other = {*ours}, {*right}
    total = len(one) + len(other)
    return 2 * len(one & other) / total if total else 1.0
