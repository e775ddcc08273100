"""Adversarial SQuAD: the worst variant of each question."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from tfmrc.evaluation.metrics.pairing import Missing
from tfmrc.evaluation.metrics.registry import Submission, register_metric
from tfmrc.evaluation.metrics.score import Scores, mean_score
from tfmrc.evaluation.metrics.squad import score_squad


def score_adversarial_squad(
    predictions: Mapping[Any, str],
    references: Mapping[Any, Sequence[str]],
    *,
    missing: Missing = "error",
) -> Scores:
    """Computes exact match and F1 on adversarial SQuAD (AddSent, AddOneSent).

    Each question counts as its worst variant. The variants of a question have its id, a hyphen and
    a suffix (`...-high-conf-turk0`). The worst exact match and the worst F1 are taken separately,
    over all variants and the unchanged question if it is present.

    Args:
        predictions: dict. One text by id of the variant.
        references: dict. Reference texts by id of the variant.
        missing: str. As in `score_squad`. Default: "error".

    Returns:
        `Scores` with `exact_match` and `f1`; `size` is the number of original questions.

    Example:

    >>> scores = score_adversarial_squad(
    ...     {"a": "York", "a-high-conf-turk0": "Leeds", "b": "ten"},
    ...     {"a": ["York"], "a-high-conf-turk0": ["York"], "b": ["ten"]},
    ... )
    >>> scores["f1"].value, scores["f1"].size
    (0.5, 2)
    """
    plain = score_squad(predictions, references, missing=missing)
    rows = []
    for row in plain.rows:
        worst: dict[Hashable, float] = {}
        for key, value in (row.per_example or {}).items():
            original = str(key).split("-", 1)[0]
            worst[original] = min(worst.get(original, 1.0), value)
        rows.append(
            mean_score(
                row.name,
                row.label,
                worst,
                scorer="SQuAD v1.1 rules, worst variant",
                tokenisation=row.tokenisation,
            )
        )
    counts = dict(plain.counts) | {"variants": plain.rows[0].size}
    return Scores("Adversarial SQuAD", tuple(rows), counts)


@register_metric("adversarial", lambda given: given.rules == "adversarial", order=20)
def _adversarial(given: Submission) -> Iterator[Scores]:
    """The worst variant of each question, and the unchanged questions."""
    known, texts = given.answers, given.texts
    yield score_adversarial_squad(texts, known, missing=given.missing)
    unchanged = {key: answers for key, answers in known.items() if "-" not in key}
    if unchanged:
        answers = {key: text for key, text in texts.items() if key in unchanged}
        yield score_squad(answers, unchanged, missing=given.missing).prefixed("unchanged")
