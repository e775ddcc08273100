"""Passage ranking: mean average precision and mean reciprocal rank."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from tfmrc.evaluation.metrics.pairing import Missing, pair
from tfmrc.evaluation.metrics.score import Scores, mean_score


def score_ranking(
    predictions: Mapping[Any, Sequence[float]],
    references: Mapping[Any, Sequence[bool]],
    *,
    cutoff: int | None = None,
    missing: Missing = "error",
) -> Scores:
    """Computes MAP and MRR of passages ordered by falling score.

    Passages with equal scores keep the given order: scores that are all equal measure that order
    (the search engine's, in MS MARCO). A question without a relevant passage is not scored (counted
    as `without_relevant`).

    Args:
        predictions: dict. One score per passage, by id.
        references: dict. One truth value per passage, by id, of the same length.
        cutoff: int or None. Number of first ranks that count (10 for MRR@10). None counts all.
            Default: None.
        missing: str. Treatment of an id without scores. `"empty"` scores it 0. Default: "error".

    Returns:
        `Scores` with `map` and `mrr`.

    Raises:
        ValueError: If the lengths differ, a score is not a number, `cutoff` is not positive, or an
            id has no prediction.

    Example:

    >>> from tfmrc.evaluation import score_ranking
    >>> scores = score_ranking({"q": [0.1, 0.9, 0.4]}, {"q": [True, False, True]})
    >>> round(scores["map"].value, 4), scores["mrr"].value
    (0.5833, 0.5)
    """
    if cutoff is not None and cutoff < 1:
        raise ValueError(f"`cutoff` must be positive or None. Received: cutoff={cutoff!r}")
    relevant = [key for key, labels in references.items() if any(labels)]
    pairing = pair(predictions, relevant, missing=missing, known=references.keys())
    precision: dict[Hashable, float] = {}
    reciprocal: dict[Hashable, float] = {}
    for key in pairing.ids:
        if key not in predictions:
            precision[key] = reciprocal[key] = 0.0
            continue
        labels = _ranked(key, predictions[key], references[key])
        ranks = np.flatnonzero(labels[:cutoff]) + 1
        hits = np.arange(1, len(ranks) + 1)
        possible = min(int(labels.sum()), cutoff or len(labels))
        precision[key] = float(np.sum(hits / ranks) / possible)
        reciprocal[key] = float(1 / ranks[0]) if len(ranks) else 0.0
    suffix = "" if cutoff is None else f"@{cutoff}"
    rows = tuple(
        mean_score(
            name, label + suffix, values, scorer="rank of relevant ones", tokenisation="none"
        )
        for name, label, values in (("map", "MAP", precision), ("mrr", "MRR", reciprocal))
    )
    counts = pairing.counts | {"without_relevant": len(references) - len(relevant)}
    return Scores(f"ranking{suffix}", rows, counts)


def _ranked(key: Hashable, scores: Sequence[float], labels: Sequence[bool]) -> np.ndarray:
    values, truth = np.asarray(scores, np.float64), np.asarray(labels, bool)
    if values.shape != truth.shape or values.ndim != 1:
        raise ValueError(
            "There must be one score per passage. Received: "
            f"predictions[{key!r}] of shape {values.shape}, references of shape {truth.shape}"
        )
    if np.isnan(values).any():
        raise ValueError(
            f"Scores must be numbers. Received: predictions[{key!r}]={values.tolist()}"
        )
    return truth[np.argsort(-values, kind="stable")]
