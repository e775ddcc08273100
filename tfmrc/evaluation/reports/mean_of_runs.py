"""Mean and deviation of the scores of several runs of one system."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tfmrc.evaluation.metrics.score import Score, Scores, Statistics, ratio


def mean_of_runs(runs: Sequence[Scores]) -> Scores:
    """Computes mean and standard deviation (n - 1) of every score over runs with different seeds.

    Each score keeps the single values, and its note has their number. A score that a run lacks is
    left out. A score that could not be computed in a run has no value. A single run is returned
    unchanged. Where the rules leave out the questions that a run abstains from (`"msmarco"`), its
    scores are of fewer examples; the size is then the smallest, and the note has both. Each count
    of examples that are not scored is the largest of the runs.

    Args:
        runs: list of `Scores`. Scores of the same examples by the same rules, one per run.

    Raises:
        ValueError: If the runs differ in scorer or number of examples.

    Example:

    >>> from tfmrc.evaluation import mean_of_runs, score_squad
    >>> known = {"a": ["a mill"], "b": ["a weir"]}
    >>> runs = [score_squad({"a": "a mill", "b": text}, known) for text in ("a weir", "x")]
    >>> print(mean_of_runs(runs)["exact_match"])
    Exact match 75.00 ± 35.36 (n = 2; SQuAD v1.1 rules tfmrc ...; mean and deviation of 2 runs)
    """
    first, *others = runs
    if not others:
        return first
    names = [name for name in first if all(name in run for run in others)]
    abstained = [run.counts.get("abstained", 0) for run in runs]
    rows = tuple(_mean([run[name] for run in runs], abstained) for name in names)
    kinds = dict.fromkeys(name for run in runs for name in run.counts)
    counts = {name: max(run.counts.get(name, 0) for run in runs) for name in kinds}
    return replace(first, rows=rows, counts=counts)


def _mean(rows: Sequence[Score], abstained: Sequence[int]) -> Score:
    first, sizes = rows[0], [row.size for row in rows]
    asked = {size + count for size, count in zip(sizes, abstained, strict=True)}
    same = ("scorer", "version", "tokenisation", *(["size"] if len(asked) > 1 else []))
    for row in rows:
        for name in same:
            if getattr(row, name) != getattr(first, name):
                raise ValueError(
                    f"Runs must have the same scorer and examples. Received: {first.name}, "
                    f"{name}={getattr(first, name)!r} and {getattr(row, name)!r}"
                )
    values = tuple(row.value for row in rows if row.value is not None)
    if len(values) < len(rows):
        note = next(row.note for row in rows if row.value is None)
        return replace(first, value=None, note=note, per_example=None, statistics=None)
    smallest, largest = min(sizes), max(sizes)
    of = f" of {smallest:,} to {largest:,} examples" if smallest < largest else ""
    statistics = _mean_statistics(rows)
    return replace(
        first,
        value=float(np.mean(values)),
        size=smallest,
        note=f"mean and deviation of {len(rows)} runs{of}",
        per_example=None,
        statistics=statistics,
        values=values,
        deviation=float(np.std(values, ddof=1)),
    )


def _mean_statistics(rows: Sequence[Score]) -> Statistics | None:
    """Returns the mean of each example, if every score is a mean over the same examples."""
    given = [row.statistics for row in rows if row.statistics is not None]
    first = given[0] if len(given) == len(rows) else None
    if first is None or any(
        one.ids != first.ids or one.combine is not ratio or (one.values[:, 1] != 1).any()
        for one in given
    ):
        return None
    return replace(first, values=np.mean([one.values for one in given], axis=0))
