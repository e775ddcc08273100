"""The K-best oracle: the score of the best of the first K answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from tfmrc.evaluation.metrics.pairing import Missing, check_texts, pair
from tfmrc.evaluation.metrics.registry import Submission, register_metric
from tfmrc.evaluation.metrics.score import Scores, mean_score
from tfmrc.evaluation.metrics.squad import TOKENISATION, best_match


def score_oracle(
    predictions: Mapping[Any, Sequence[str]],
    references: Mapping[Any, Sequence[str]],
    *,
    k: Sequence[int] = (1, 2, 3, 4),
    missing: Missing = "error",
) -> Scores:
    """Computes exact match and F1 of the best of the first K answers, for each K (SAN's Figure 3).

    Args:
        predictions: dict. Answers by id, best first. Fewer than K answers are allowed.
        references: dict. Reference texts by id.
        k: list of int. The numbers of answers. Default: (1, 2, 3, 4).
        missing: str. Treatment of an id without answers. `"empty"` scores it 0.
            Default: "error".

    Returns:
        `Scores` with `exact_match@K` and `f1@K`. The two maxima are taken separately.

    Raises:
        ValueError: If a prediction is missing.
        TypeError: If the answers of an id are one string.

    Example:

    >>> scores = score_oracle({"q": ["Leeds", "York"]}, {"q": ["York"]}, k=(1, 2))
    >>> scores["exact_match@1"].value, scores["exact_match@2"].value
    (0.0, 1.0)
    """
    check_texts(predictions, "predictions")
    check_texts(references)
    ids, counts = pair(predictions, references, missing=missing)
    matches = {
        key: [
            best_match(text, references[key], key=key)
            for text in list(predictions.get(key, ()))[: max(k, default=1)] or [""]
        ]
        for key in ids
    }
    rows = tuple(
        mean_score(
            f"{name}@{number}",
            f"{label}, best of {number}",
            {key: max(both[column] for both in best[:number]) for key, best in matches.items()},
            scorer="SQuAD v1.1 rules, oracle",
            tokenisation=TOKENISATION,
        )
        for number in k
        for column, name, label in ((0, "exact_match", "Exact match"), (1, "f1", "F1"))
    )
    return Scores("K-best oracle", rows, counts, table="Best of K answers")


@register_metric(
    "oracle",
    lambda given: (
        given.answers
        and given.target == "answer"
        and given.rules != "adversarial"
        and any(p.alternatives for p in given.predictions.values())
    ),
    order=40,
)
def _oracle(given: Submission) -> Scores:
    """The best of an answer and its alternatives."""
    known = given.answers
    texts = {k: [p.answer, *p.alternatives] for k, p in given.predictions.items() if k in known}
    count = max(map(len, texts.values()), default=1)
    return score_oracle(texts, known, k=range(1, count + 1), missing=given.missing)
