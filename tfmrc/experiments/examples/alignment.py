"""Alignment of the training answers of a span model with words, before training begins."""

from collections.abc import Sequence
from typing import Any

from tfmrc.data import TrainingExample

__all__ = ["align_answers"]


def align_answers(
    preprocessor: Any,
    examples: Sequence[TrainingExample],
    annotate: Any = None,
    batch_size: int = 256,
) -> tuple[list[TrainingExample], dict[str, int]]:
    """Counts how training answers align with words, and removes those that have no span.

    Args:
        preprocessor: Has `source` and `align`, as `tfmrc.preprocessing.SANPreprocessor`.
        examples: list of `TrainingExample`. Training examples.
        annotate: Callable or None. Computes the tags that the preprocessor reads. Default: None.
        batch_size: int. Examples per batch. Default: 256.

    Returns:
        The examples with a span, and the numbers of answers that are whole words (`exact`), contain
        a part of a word (`part_of_a_word`), follow the words that are read (`outside_the_window`),
        or have no span (`without_a_span`).
    """
    located = [
        (record, span)
        for record in examples
        if (span := record.example.span_of(record.answer)) is not None
    ]
    counts = {"exact": 0, "part_of_a_word": 0, "outside_the_window": 0}
    for first in range(0, len(located), batch_size):
        part, spans = zip(*located[first : first + batch_size], strict=True)
        annotations = {} if annotate is None else annotate(part)
        source = preprocessor.source(
            [record.example.question for record in part],
            [r.example.passages[s.passage] for r, s in zip(part, spans, strict=True)],
            **annotations,
        )
        begin, _, exact = preprocessor.align(
            source, [span.start for span in spans], [span.end for span in spans]
        )
        inside, exact = begin.numpy() >= 0, exact.numpy()
        counts["exact"] += int(exact.sum())
        counts["part_of_a_word"] += int((inside & ~exact).sum())
        counts["outside_the_window"] += int((~inside).sum())
    counts["without_a_span"] = len(examples) - len(located)
    print(
        f"Training answers without a usable span: {counts['without_a_span']:,} of "
        f"{len(examples):,} (left out)",
        flush=True,
    )
    return [record for record, _ in located], counts
