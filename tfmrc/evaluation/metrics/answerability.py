"""Answerability: F1 of the decision to answer, and the precision-recall curve."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfmrc.evaluation.metrics.pairing import Missing, pair
from tfmrc.evaluation.metrics.registry import Submission, register_metric
from tfmrc.evaluation.metrics.score import (
    Score,
    Scores,
    Statistics,
    library_version,
    ratio,
    score_of,
    shortest,
)


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """Precision and recall at every threshold that changes a decision, in falling order.

    `best_threshold` gives the best F1 on the same data, so `best_f1` is an upper estimate, as in
    Masque's Figure 4.
    """

    thresholds: np.ndarray
    precision: np.ndarray
    recall: np.ndarray

    @property
    def f1(self) -> np.ndarray:
        total = self.precision + self.recall
        product = 2 * self.precision * self.recall
        return np.divide(product, total, out=np.zeros_like(total), where=total > 0)

    @property
    def best_threshold(self) -> float:
        return float(self.thresholds[int(np.argmax(self.f1))])

    @property
    def best_f1(self) -> float:
        return float(np.max(self.f1))

    @property
    def average_precision(self) -> float:
        """The area under the curve as the sum of precision times the step in recall."""
        return float(np.sum(np.diff(self.recall, prepend=0.0) * self.precision))


def precision_recall_curve(
    predictions: Mapping[Any, float], references: Mapping[Any, bool], *, missing: Missing = "error"
) -> PrecisionRecallCurve:
    """Computes the precision-recall curve of the answerable probability.

    Answerable questions are the positives.

    Args:
        predictions: dict. The probability (or any score) that the question can be answered, by id.
        references: dict. Whether it can, by id. At least one must be answerable.
        missing: str. Treatment of an id without a prediction. `"empty"` counts as least answerable.
            Default: "error".

    Raises:
        ValueError: If a prediction is missing, or no question is answerable.

    Example:

    >>> from tfmrc.evaluation import precision_recall_curve
    >>> curve = precision_recall_curve(
    ...     {"a": 0.9, "b": 0.8, "c": 0.6, "d": 0.1}, {"a": True, "b": False, "c": True, "d": False}
    ... )
    >>> curve.best_threshold, round(curve.best_f1, 4)
    (0.6, 0.8)
    """
    ids, _ = pair(predictions, references, missing=missing)
    scores = np.array([float(predictions.get(key, -np.inf)) for key in ids])
    truth = np.array([bool(references[key]) for key in ids])
    if not truth.any():
        raise ValueError(
            "A precision-recall curve needs an answerable question. "
            f"Received: {len(truth)} references, none of them answerable"
        )
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], np.cumsum(truth[order])
    last = np.append(ranked[1:] != ranked[:-1], True)  # equal scores are decided together
    taken = np.arange(1, len(ranked) + 1)
    return PrecisionRecallCurve(
        ranked[last], (hits / taken)[last], (hits / truth.sum())[last].astype(np.float64)
    )


def score_answerability(
    predictions: Mapping[Any, float],
    references: Mapping[Any, bool],
    *,
    threshold: float | None = None,
    missing: Missing = "error",
) -> Scores:
    """Computes F1, precision and recall of answerability; answerable is the positive class.

    `best_answerable_f1` is the F1 at the best threshold on these data. It is an upper estimate, as
    in Masque's Figure 4. `answerable_f1` is the F1 at a threshold that was fixed before, for
    instance by `precision_recall_curve(...).best_threshold` on the dev set. The notes name the
    thresholds.

    Args:
        predictions: dict. The probability that the question can be answered, by id.
        references: dict. Whether it can, by id.
        threshold: float or None. Smallest probability at which the question is answered. None if no
            threshold was fixed before. Default: None.
        missing: str. Treatment of an id without a prediction. `"empty"` counts as "cannot be
            answered". Default: "error".

    Returns:
        `Scores` with `best_answerable_f1`, its precision and recall, and `average_precision`. With
        a threshold, `answerable_f1`, `answerable_precision` and `answerable_recall` come first.

    Raises:
        ValueError: As `precision_recall_curve`.

    Example:

    >>> from tfmrc.evaluation import score_answerability
    >>> predictions, truth = {"a": 0.4, "b": 0.2}, {"a": True, "b": False}
    >>> scores = score_answerability(predictions, truth, threshold=0.5)
    >>> scores["answerable_f1"].value, scores["answerable_f1"].note
    (0.0, 'threshold 0.5')
    >>> scores["best_answerable_f1"].value, scores["best_answerable_f1"].note
    (1.0, 'threshold 0.4, the best on these data')
    """
    curve = precision_recall_curve(predictions, references, missing=missing)
    ids, counts = pair(predictions, references, missing=missing)
    truth = {key: references[key] for key in ids}
    given = {key: float(predictions.get(key, -np.inf)) for key in ids}

    def rows_at(limit: float, note: str = "") -> list[Score]:
        decided = {key: value >= limit for key, value in given.items()}
        below = max((value for value in given.values() if value < limit), default=-np.inf)
        least = min((value for value in given.values() if value >= limit), default=np.inf)
        shown = shortest(limit, lambda value: below < value <= least)
        return decision_scores(decided, truth, f"threshold {shown}{note}")

    rows = [] if threshold is None else rows_at(float(threshold))
    rows += [
        replace(row, name=f"best_{row.name}", label=f"{row.label}, best threshold")
        for row in rows_at(curve.best_threshold, ", the best on these data")
    ]
    area = Score(
        name="average_precision",
        label="Average precision",
        value=curve.average_precision,
        scorer="area under the precision-recall curve",
        version=library_version(),
        tokenisation="none",
        size=len(ids),
    )
    return Scores("answerability", (*rows, area), counts)


def decision_scores(
    decisions: Mapping[Any, bool], references: Mapping[Any, bool], note: str = ""
) -> list[Score]:
    """Computes F1, precision and recall of the decisions to answer.

    Args:
        decisions: dict. True where the system answers, by id. An absent decision is False.
        references: dict. True where the question can be answered, by id.
        note: str. Note shown beside the scores. Default: "".
    """
    ids = tuple(references)
    decided = np.array([decisions.get(key, False) for key in ids], bool)
    true = np.array([references[key] for key in ids], bool)
    rows = np.stack([decided & true, decided & ~true, true & ~decided], axis=1).astype(np.float64)
    kinds = (
        ("answerable_f1", "Answerable F1", [2, 0, 0], [2, 1, 1]),
        ("answerable_precision", "Answerable precision", [1, 0, 0], [1, 1, 0]),
        ("answerable_recall", "Answerable recall", [1, 0, 0], [1, 0, 1]),
    )
    return [
        score_of(
            name,
            label,
            Statistics(ids, rows @ np.array([above, below], np.float64).T, ratio),
            scorer="F1 of the decision to answer",
            tokenisation="none",
            note=note,
        )
        for name, label, above, below in kinds
    ]


def _always(given: Submission) -> Submission:
    """Returns predictions that hold every question for answerable."""
    scores = {"answerable_probability": 1.0}
    predictions = {key: replace(p, scores=scores) for key, p in given.predictions.items()}
    return replace(given, predictions=predictions)


@register_metric(
    "answerability",
    lambda given: given.scores("answerable_probability", given.answerable),
    order=60,
    of_model=True,
    baselines={"always answerable": _always},
)
def _answerability(given: Submission) -> Scores:
    """F1 of the decision to answer, at the submission's threshold and at the best one."""
    return score_answerability(
        given.scores("answerable_probability", given.answerable),
        given.answerable,
        threshold=given.threshold,
        missing=given.missing,
    )
