"""Checks that answers train something: that they have spans, and are within what is read."""

import warnings
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfmrc.data.batching.dataset import Annotate, strings
from tfmrc.data.batching.training_example import Examples, TrainingExample, records

if TYPE_CHECKING:
    from tfmrc.preprocessing.base import Preprocessor

FIRST = 1_000
"""Examples of a stream that are looked at: it may be long, and is read again for training."""

SAMPLE = 300
"""Answers that are read to count those whose weight is 0."""


def check_spans(examples: Examples, styles: Sequence[str], name: str) -> None:
    """Raises a ValueError if no answer has a span, and warns if some have none.

    Without a span an example has no label, and its loss is 0.

    Args:
        examples: list of `Example` or `TrainingExample`, or a stream of them or callable that
            returns one, of which the first `FIRST` are read. Those without an answer are not
            counted.
        styles: sequence of str. The answer styles.
        name: str. Name of the preprocessor, for the message.

    Raises:
        ValueError: If there are answers, and none has one of the styles, or none has a span.

    Example:
        >>> from tfmrc.data import Example, with_exact_spans
        >>> from tfmrc.preprocessing.span_labels import check_spans
        >>> examples = [Example("1", "Who flew?", ("An owl flew.",), {"span": ("An owl",)})]
        >>> check_spans(list(with_exact_spans(examples, "span")), ["span"], "SANPreprocessor")
    """
    is_known = isinstance(examples, list | tuple)
    read = islice(examples() if callable(examples) else examples, None if is_known else FIRST)
    answered: list[TrainingExample] = []
    other_styles: dict[str, None] = {}
    for example in read:
        of_styles = list(records([example], styles))
        answered += [record for record in of_styles if record.answer]
        if not of_styles:
            other_styles.update(dict.fromkeys(example.answers))
    if other_styles and not answered:
        raise ValueError(
            f"{name} reads answers of other styles than the examples have: pass "
            f"`styles={tuple(other_styles)!r}`. Received: styles={tuple(styles)!r}"
        )
    among = "" if is_known else f" in the first {FIRST:,} examples"
    missing = sum(record.example.span_of(record.answer) is None for record in answered)
    if answered and missing == len(answered):
        raise ValueError(
            f"{name} makes labels of spans, and no answer has one. Find them in the passages: "
            f"`examples = list(tfmrc.data.with_exact_spans(examples, {answered[0].style!r}))`. "
            f"Received: {missing:,} answers without a span{among}"
        )
    if missing:
        warnings.warn(
            f"{missing:,} of {len(answered):,} answers{among} have no span, so their examples "
            "train nothing. `tfmrc.data.with_exact_spans` finds those that a passage contains.",
            stacklevel=3,
        )


def warn_of_unread(
    preprocessor: "Preprocessor",
    examples: Examples,
    styles: Sequence[str],
    annotate: Annotate | None,
) -> None:
    """Warns if some of the first answers have the weight 0 in all labels, and so train nothing.

    Args:
        preprocessor: `Preprocessor`. Answers without a span are not counted if it needs spans.
        examples: list of `Example` or `TrainingExample`, a stream or a callable.
        styles: sequence of str. The answer styles.
        annotate: callable or None. That of `tfmrc.data.make_dataset`.
    """
    read = records(examples() if callable(examples) else examples, styles)
    answered = [
        record
        for record in islice(read, FIRST)
        if record.answer
        and not (preprocessor.needs_spans and record.example.span_of(record.answer) is None)
    ][:SAMPLE]
    if not answered:
        return
    given = strings(answered) | {"rotation": np.zeros(len(answered), np.int32)}
    with tf.device("/CPU:0"):
        batch = preprocessor.batch(given if annotate is None else given | annotate(answered))
    weights = [np.reshape(weight, [len(answered), -1]) for weight in tf.nest.flatten(batch[2:])]
    unread = np.sum(~np.any(np.hstack(weights), axis=1)) if weights else 0
    if unread:
        warnings.warn(
            f"{unread:,} of the first {len(answered):,} answers are not within what the model "
            "reads of a passage, so their examples train nothing; a greater length of passages "
            "reads more.",
            stacklevel=3,
        )
