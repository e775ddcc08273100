"""Calibration: whether an answer with probability p is right in a share p of all cases."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tfmrc.evaluation.metrics.coco import rouge_l
from tfmrc.evaluation.metrics.resampling import Interval, resamples
from tfmrc.evaluation.metrics.rules import NO_ANSWER, RULES
from tfmrc.evaluation.metrics.score import library_version
from tfmrc.evaluation.metrics.squad import best_match

RIGHT = {
    "exact_match": "an exact match after SQuAD's normalization",
    "rouge_l": "ROUGE-L of at least 0.5",
}
PRECISIONS = (80, 90, 95)
BINS = 10  # of equal width
LEVEL, SEED = 0.95, 0
LABELS = {
    "calibration_error": "Expected calibration error",
    "brier": "Brier score",
    "risk_coverage_area": "Area under the risk-coverage curve",
    **{f"coverage_at_{p}": f"Coverage at {p} percent precision" for p in PRECISIONS},
    "confident_coverage": "Coverage at the threshold",
    "confident_precision": "Precision at the threshold",
}


def right_answers(
    texts: Sequence[str], references: Sequence[Sequence[str]], right: str
) -> np.ndarray:
    """Returns whether each answer is right, bool `[N]`.

    Where a question has no answer, only an empty text or "No Answer Present." is right.

    Args:
        texts: list of str. The answers.
        references: list of lists of str. The reference answers of each; empty for no answer.
        right: str. `"exact_match"` after SQuAD's normalization, or `"rouge_l"` of at least 0.5.

    Example:

    >>> right_answers(["The owl!", "a mill"], [["owl"], []], "exact_match").tolist()
    [True, False]
    """
    known = {number: given for number, given in enumerate(references) if given}
    if right == "exact_match":
        values = {number: best_match(texts[number], given)[0] for number, given in known.items()}
    else:
        prepare = RULES["plain"].prepare
        targets = {number: [prepare(text) for text in given] for number, given in known.items()}
        scores = rouge_l({number: prepare(texts[number]) for number in known}, targets, "plain")
        values = dict(scores.per_example or {})
    empty = {n: float(text.strip() in ("", NO_ANSWER)) for n, text in enumerate(texts)}
    return np.array([value >= 0.5 for value in (empty | values).values()])


@dataclass(frozen=True, eq=False)
class CalibrationReport:
    """Probabilities of N answers before and after calibration, and their scores.

    Attributes:
        raw: float64 `[N]`. The model's own probabilities.
        calibrated: float64 `[N]`. The calibrated ones.
        is_right: bool `[N]`. Whether each answer is right.
        is_confident: bool `[N]`. Whether each answer reaches the threshold.
        facts: dict. Facts to print and to write beside the scores, by name. Default: {}.
        samples: int. Resamples of the bootstrap intervals. Default: 1000.

    Example:

    >>> import numpy as np
    >>> raw, is_right = np.array([0.9, 0.9, 0.6, 0.6]), np.array([True, True, True, False])
    >>> report = CalibrationReport(raw, np.where(is_right, 0.8, 0.3), is_right, raw > 0.7)
    >>> round(report.scores["raw_brier"].value, 3), report.scores["coverage_at_90"].value
    (0.135, 0.75)
    """

    raw: np.ndarray
    calibrated: np.ndarray
    is_right: np.ndarray
    is_confident: np.ndarray
    facts: Mapping[str, Any] = field(default_factory=dict)
    samples: int = 1000

    @cached_property
    def scores(self) -> dict[str, Interval]:
        """The scores, with bootstrap intervals over the answers.

        `calibration_error` (over 10 bins of equal width) and `brier`, with `raw_` before the name
        for the raw probabilities; `risk_coverage_area`, the mean share of wrong answers over all
        coverages, the most probable answers first; `coverage_at_80`, `_90` and `_95`, the greatest
        share of the answers of which so many percent are right; `confident_coverage` and
        `confident_precision`, those of the answers that reach the threshold.
        """
        values = self._measure(np.ones((1, len(self.raw))))
        drawn = [self._measure(w) for w in resamples(len(self.raw), self.samples, SEED)]
        result = {}
        for name, (value,) in values.items():
            several = np.concatenate([part[name] for part in drawn])
            low, high = np.quantile(several, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
            result[name] = Interval(float(value), low, high, LEVEL, self.samples, SEED)
        return result

    def _measure(self, weights: np.ndarray) -> dict[str, np.ndarray]:
        """Returns the scores `[R]` of R resamples with these counts of each answer `[R, N]`."""
        total, right = weights.sum(axis=1), self.is_right.astype(np.float64)
        result = {}
        for prefix, chance in (("raw_", self.raw), ("", self.calibrated)):
            gaps = weights @ (_bins(chance) * (chance - right)[:, None])
            result[f"{prefix}calibration_error"] = np.abs(gaps).sum(axis=1) / total
            result[f"{prefix}brier"] = weights @ (chance - right) ** 2 / total
        order, last = _ranked(self.calibrated)
        taken = weights[:, order].cumsum(axis=1)[:, last]
        hits = (weights * right)[:, order].cumsum(axis=1)[:, last]
        precision = hits / np.maximum(taken, 1)
        result["risk_coverage_area"] = (weights[:, order] * (1 - precision)).sum(axis=1) / total
        for percent in PRECISIONS:
            most = np.where(precision >= percent / 100, taken, 0).max(axis=1)
            result[f"coverage_at_{percent}"] = most / total
        given = weights @ self.is_confident
        result["confident_coverage"] = given / total
        hits = weights @ (self.is_confident * right)
        result["confident_precision"] = hits / np.maximum(given, 1)
        return result

    def to_json(self) -> dict[str, Any]:
        """Returns facts and scores as a JSON-serialisable dict."""
        scores = {name: asdict(interval) for name, interval in self.scores.items()}
        return {**self.facts, "size": len(self.raw), "version": library_version(), "scores": scores}

    def markdown(self) -> str:
        """Returns a table of the scores in percent, before and after, and the facts."""
        lines = ["# Calibration", "", "| percent | raw | calibrated |", "| --- | ---: | ---: |"]
        for name, label in LABELS.items():
            raw = self.scores.get(f"raw_{name}", "")
            lines.append(f"| {label} | {raw} | {self.scores[name]} |")
        lines += ["", f"{len(self.raw):,} answers; bootstrap intervals of {LEVEL:.0%}, "]
        lines[-1] += f"{self.samples:,} resamples, seed {SEED}; {library_version()}."
        facts = dict(self.facts)
        styles = facts.pop("styles", {})
        lines += [f"{name}: {RIGHT.get(str(value), value)}." for name, value in facts.items()]
        for style, one in styles.items():
            fitted = (f"{name} {one[name]}" for name in ("slope", "intercept", "threshold"))
            lines.append(f"style {style}: {', '.join(fitted)}.")
        return "\n".join(lines) + "\n"


def reliability(chance: np.ndarray, is_right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the mean probability and the share of right answers of each bin that has answers."""
    bins = _bins(chance)
    bins = bins[:, bins.any(axis=0)]
    return chance @ bins / bins.sum(axis=0), is_right @ bins / bins.sum(axis=0)


def risk_coverage(chance: np.ndarray, is_right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns coverages, rising, and the share of wrong answers at each."""
    order, last = _ranked(chance)
    taken = np.arange(1, len(chance) + 1)
    return taken / len(chance), 1 - (is_right[order].cumsum() / taken)[last]


def _bins(chance: np.ndarray) -> np.ndarray:
    """Returns float64 `[N, BINS]`, 1 for the bin of each probability."""
    return np.eye(BINS)[np.minimum((chance * BINS).astype(int), BINS - 1)]


def _ranked(chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the order of falling probability, and for each rank the last one of equal ones.

    Equal probabilities are decided together.
    """
    order = np.argsort(-chance, kind="stable")
    ranked = -chance[order]
    return order, np.searchsorted(ranked, ranked, side="right") - 1
