"""Scores with their scorer, version, tokenization and size."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Statistics:
    """Addends of a score: one row of numbers per example, and the function from sums to score.

    Every score is a function of sums over examples (sum and count for a mean, matches and lengths
    for BLEU), so a resampled score takes one matrix product: see `bootstrap`.

    Args:
        ids: tuple of `Hashable`. The ids of the examples.
        values: float64 `[N, M]`, one row per example.
        combine: Function from sums `[R, M]` to scores `[R]`.
    """

    ids: tuple[Hashable, ...]
    values: np.ndarray
    combine: Callable[[np.ndarray], np.ndarray]

    def subset(self, ids: Sequence[Hashable]) -> "Statistics":
        row = {key: index for index, key in enumerate(self.ids)}
        return Statistics(tuple(ids), self.values[[row[key] for key in ids]], self.combine)

    def score(self) -> float:
        """Returns the score of all examples together."""
        return float(self.combine(self.values.sum(axis=0, keepdims=True))[0])


def ratio(sums: np.ndarray) -> np.ndarray:
    """Divides column 0 by column 1 (zero where column 1 is zero): `combine` of means and rates."""
    return np.divide(
        sums[:, 0], sums[:, 1], out=np.zeros(len(sums), np.float64), where=sums[:, 1] != 0
    )


@dataclass(frozen=True, eq=False)
class Score:
    """One number with its scorer, version, tokenization and size.

    `value` is a fraction (0.65 where a paper prints 65), or None if the scorer could not run:
    `note` then gives the reason. `per_example` maps ids to the score of the example. If `value` is
    the mean of several runs, `values` has one value per run and `deviation` is their standard
    deviation (see `mean_of_runs`).

    Example:

    >>> from tfmrc import evaluation
    >>> scores = evaluation.score_squad({"q1": "the moon"}, {"q1": ["moon", "a full moon"]})
    >>> print(scores["exact_match"])
    Exact match 100.00 (n = 1; SQuAD v1.1 rules tfmrc ...)
    """

    name: str
    label: str
    value: float | None
    scorer: str
    version: str
    tokenisation: str
    size: int
    note: str = ""
    per_example: Mapping[Any, float] | None = field(default=None, repr=False)
    statistics: Statistics | None = field(default=None, repr=False)
    values: tuple[float, ...] = ()
    deviation: float | None = None

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"{self.label} was not computed: {self.note}. Received: value=None")
        return self.value

    def __str__(self) -> str:
        number = "not computed" if self.value is None else f"{100 * self.value:.2f}"
        number += "" if self.deviation is None else f" ± {100 * self.deviation:.2f}"
        note = f"; {self.note}" if self.note else ""
        return f"{self.label} {number} (n = {self.size}; {self.scorer} {self.version}{note})"

    def to_json(self) -> dict[str, Any]:
        """Returns a flat dictionary for `metrics.json`, without per-example scores."""
        record: dict[str, Any] = {
            "value": self.value,
            "label": self.label,
            "scorer": self.scorer,
            "version": self.version,
            "tokenisation": self.tokenisation,
            "size": self.size,
        }
        if self.deviation is not None:
            record |= {"deviation": self.deviation, "values": list(self.values)}
        return record | {"note": self.note} if self.note else record


@dataclass(frozen=True, eq=False)
class Scores(Mapping[str, Score]):
    """Scores by name, in the order of a table, with the counts of unscored examples by reason.

    `table` is the heading of a table of their own in a `Report`; "" is the main table. `prefix` is
    the prefix of the names, see `prefixed`.
    `scores["rouge_l"]` is a `Score`, `float(scores["rouge_l"])` its number, and `print(scores)` a
    readable list.
    """

    rules: str
    rows: tuple[Score, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    table: str = ""
    prefix: str = ""

    def __getitem__(self, name: str) -> Score:
        return {row.name: row for row in self.rows}[name]

    def __iter__(self) -> Iterator[str]:
        return (row.name for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [str(row) for row in self.rows]
        counted = ", ".join(f"{name} {count}" for name, count in self.counts.items() if count)
        return "\n".join(lines + ([f"({counted})"] if counted else []))

    def prefixed(self, prefix: str) -> "Scores":
        """Returns the scores with a prefix of their names and labels; "" adds none."""
        if not prefix:
            return self
        rows = (
            replace(row, name=f"{prefix}_{row.name}", label=f"{prefix} {row.label}")
            for row in self.rows
        )
        whole = f"{prefix}_{self.prefix}".strip("_")
        return replace(self, rows=tuple(rows), prefix=whole)


def mean_score(
    name: str,
    label: str,
    per_example: Mapping[Any, float],
    *,
    scorer: str,
    tokenisation: str,
    version: str | None = None,
    note: str = "",
) -> Score:
    """Returns a `Score` that is the mean of per-example numbers (None if there are none)."""
    values = np.array(list(per_example.values()), np.float64).reshape(-1, 1)
    rows = np.concatenate([values, np.ones_like(values)], axis=1)
    score = score_of(
        name,
        label,
        Statistics(tuple(per_example), rows, ratio),
        scorer=scorer,
        tokenisation=tokenisation,
        version=version,
        note=note,
    )
    return replace(score, per_example=dict(per_example))


def score_of(
    name: str,
    label: str,
    statistics: Statistics,
    *,
    scorer: str,
    tokenisation: str,
    version: str | None = None,
    note: str = "",
) -> Score:
    """Returns the `Score` of all examples of `statistics` together (None if there are none)."""
    size = len(statistics.ids)
    return Score(
        name=name,
        label=label,
        value=statistics.score() if size else None,
        scorer=scorer,
        version=version or library_version(),
        tokenisation=tokenisation,
        size=size,
        note=note if size else "no example to score",
        statistics=statistics,
    )


def shortest(threshold: float, decides_alike: Callable[[float], bool]) -> str:
    """Returns a threshold with four digits, or as many more as leave all decisions the same.

    Args:
        threshold: float. The threshold.
        decides_alike: callable. Function of a rounded threshold that returns True if it decides
            every example as the threshold does.

    Example:

    >>> shortest(0.99997, lambda value: 0.99997 <= value < 0.99999)
    '0.99997'
    """
    for digits in range(4, 17):
        text = f"{threshold:.{digits}g}"
        if decides_alike(float(text)):
            return text
    return repr(float(threshold))


@cache
def library_version() -> str:
    """Returns `tfmrc <version>`, the version of the official rules that are written here."""
    import tfmrc

    return f"tfmrc {tfmrc.__version__}"


@cache
def package_version(package: str) -> str:
    """Returns the installed version of a package, or "not installed"."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
