"""Word repetition in generated text."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfmrc.evaluation.metrics.registry import Submission, register_metric
from tfmrc.evaluation.metrics.score import Score, Scores, Statistics, library_version, ratio
from tfmrc.evaluation.metrics.tokenizers import get_tokenizer


def score_repetition(predictions: Mapping[Any, str], *, tokenizer: str = "english") -> Scores:
    """Computes word duplication rates over all words of all texts (lower is less repetitive).

    The question generation paper counts "words which appear more than once" over the total. This
    has two readings, and both are given: `duplication_rate` counts every occurrence after the first
    within its text, `duplicated_words_rate` counts each repeated word once.

    Args:
        predictions: dict. Texts by id. Words are compared in lower case.
        tokenizer: str. Name of the tokenizer (see `get_tokenizer`). Default: "english".

    Example:

    >>> from tfmrc.evaluation import score_repetition
    >>> scores = score_repetition({"q": "the mill and the weir and the owl"})
    >>> scores["duplication_rate"].value, scores["duplicated_words_rate"].value
    (0.375, 0.25)
    """
    tokenize = get_tokenizer(tokenizer)
    counts = [Counter(tokenize(text.lower())) for text in predictions.values()]
    ids = tuple(predictions)
    extra = [sum(n - 1 for n in words.values()) for words in counts]
    repeated = [sum(n > 1 for n in words.values()) for words in counts]
    total = [sum(words.values()) for words in counts]
    rows = []
    for name, label, repeats in (
        ("duplication_rate", "Word duplication rate", extra),
        ("duplicated_words_rate", "Duplicated words rate", repeated),
    ):
        statistics = Statistics(ids, np.array([repeats, total], np.float64).T.reshape(-1, 2), ratio)
        rows.append(
            Score(
                name=name,
                label=label,
                value=statistics.score() if sum(total) else None,
                scorer="repeated words over all words",
                version=library_version(),
                tokenisation=f"{tokenize.description}, lower-cased",
                size=len(ids),
                note="" if sum(total) else "no words",
                per_example={
                    key: part / all_
                    for key, part, all_ in zip(ids, repeats, total, strict=True)
                    if all_
                },
                statistics=statistics,
            )
        )
    return Scores("word duplication", tuple(rows), {})


@register_metric("repetition", lambda given: given.answers and given.target == "question", order=20)
def _repetition(given: Submission) -> Scores:
    known = given.answers
    return score_repetition({key: text for key, text in given.texts.items() if key in known})
