"""Passage ranking: mean average precision and mean reciprocal rank."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tfmrc.evaluation.metrics.pairing import Missing, pair
from tfmrc.evaluation.metrics.registry import Submission, register_metric
from tfmrc.evaluation.metrics.score import Scores, mean_score


def score_ranking(
    predictions: Mapping[Any, Sequence[float]],
    references: Mapping[Any, Sequence[bool]],
    *,
    missing: Missing = "error",
) -> Scores:
    """Computes MAP and MRR of passages ordered by falling score.

    Passages with equal scores keep the given order: scores that are all equal measure that order
    (the search engine's, in MS MARCO). A question without a relevant passage is not scored (counted
    as `without_relevant`).

    Args:
        predictions: dict. One score per passage, by id.
        references: dict. One truth value per passage, by id, of the same length.
        missing: str. Treatment of an id without scores. `"empty"` scores it 0. Default: "error".

    Returns:
        `Scores` with `map` and `mrr`.

    Raises:
        ValueError: If the lengths differ, or an id has no prediction.

    Example:

    >>> from tfmrc.evaluation import score_ranking
    >>> scores = score_ranking({"q": [0.1, 0.9, 0.4]}, {"q": [True, False, True]})
    >>> round(scores["map"].value, 4), scores["mrr"].value
    (0.5833, 0.5)
    """
    relevant = [key for key, labels in references.items() if any(labels)]
    ids, counts = pair(predictions, relevant, missing=missing, known=references.keys())
    precision: dict[Hashable, float] = {}
    reciprocal: dict[Hashable, float] = {}
    for key in ids:
        if key not in predictions:
            precision[key] = reciprocal[key] = 0.0
            continue
        scores, labels = (np.asarray(given[key]) for given in (predictions, references))
        if scores.shape != labels.shape:
            raise ValueError(
                "There must be one score per passage. Received: "
                f"predictions[{key!r}] of shape {scores.shape}, references of shape {labels.shape}"
            )
        # Stable: passages of equal scores keep the given order.
        ranks = np.flatnonzero(labels[np.argsort(-scores, kind="stable")]) + 1
        precision[key] = float(np.mean(np.arange(1, len(ranks) + 1) / ranks))
        reciprocal[key] = float(1 / ranks[0])
    rows = tuple(
        mean_score(name, label, values, scorer="rank of relevant ones", tokenisation="none")
        for name, label, values in (("map", "MAP", precision), ("mrr", "MRR", reciprocal))
    )
    counts |= {"without_relevant": len(references) - len(relevant)}
    return Scores("ranking", rows, counts)


def _relevance(given: Submission) -> dict[str, tuple[bool, ...]]:
    return {k: r.relevance for k, r in given.references.items() if r.relevance is not None}


def _in_given_order(given: Submission) -> Submission:
    """Returns equal scores for all passages, which rank them in the order given."""
    predictions = {
        key: replace(given.predictions[key], scores={"relevance": [0.0] * len(labels)})
        for key, labels in _relevance(given).items()
        if key in given.predictions
    }
    return replace(given, predictions=predictions)


@register_metric(
    "ranking",
    lambda given: given.scores("relevance", _relevance(given)),
    order=50,
    of_model=True,
    baselines={"passages in the order given": _in_given_order},
)
def _ranking(given: Submission) -> Scores:
    """MAP and MRR by the predicted relevance; passages that the model does not read rank last."""
    labels = _relevance(given)
    scores = {
        key: [*row, *[-1.0] * (len(labels[key]) - len(row))][: len(labels[key])]
        for key, row in given.scores("relevance", labels).items()
    }
    return score_ranking(scores, labels, missing=given.missing)
