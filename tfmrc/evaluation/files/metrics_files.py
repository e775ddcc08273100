"""`metrics.json` of finished runs: reading them, and their mean and deviation over seeds."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


def read_metrics(path: str | Path) -> dict[str, Any]:
    """A `metrics.json` as `Report` writes it.

    Raises:
        ValueError: it is no JSON, or not of this form.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path}: not JSON ({error.msg}). Received: line {error.lineno}"
        ) from error
    if not isinstance(found, dict) or not isinstance(found.get("systems"), dict):
        raise ValueError(f"{path}: not a report's metrics.json. Received: no 'systems' in it")
    return found


@dataclass(frozen=True)
class OverSeeds:
    """A score of one system over several runs: mean, standard deviation (n - 1), each value."""

    system: str
    name: str
    label: str
    mean: float
    deviation: float
    values: tuple[float, ...]


def over_seeds(metrics: Sequence[dict[str, Any]]) -> list[OverSeeds]:
    """Mean and deviation of every score that all runs have (SAN's Table 3).

    The runs must report on the same data and have different seeds.

    Args:
        metrics: what `read_metrics` gives, one a run.

    Raises:
        ValueError: fewer than two runs, different data, or a seed that occurs twice.

    Example:

    >>> runs = [{"dataset": "d", "split": "dev", "seed": seed, "systems": {"m": {"scores":
    ...         {"f1": {"value": value, "label": "F1"}}}}} for seed, value in ((1, 0.5), (2, 0.7))]
    >>> [row] = over_seeds(runs)
    >>> round(row.mean, 3), round(row.deviation, 3)
    (0.6, 0.141)
    """
    if len(metrics) < 2:
        raise ValueError(f"a deviation needs two runs or more. Received: {len(metrics)}")
    data = {(run.get("dataset"), run.get("split")) for run in metrics}
    if len(data) > 1:
        raise ValueError(f"the runs report on different data. Received: {sorted(map(str, data))}")
    seeds = [run.get("seed") for run in metrics]
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"each run needs a seed of its own. Received: seeds {seeds}")
    rows = []
    first = metrics[0]["systems"]
    for system, part in first.items():
        for name, score in part["scores"].items():
            values = [_value(run, system, name) for run in metrics]
            found = [value for value in values if value is not None]
            if len(found) == len(values):
                deviation = float(np.std(found, ddof=1))
                mean = float(np.mean(found))
                rows.append(OverSeeds(system, name, score["label"], mean, deviation, tuple(found)))
    return rows


def _value(run: dict[str, Any], system: str, name: str) -> float | None:
    score = run["systems"].get(system, {}).get("scores", {}).get(name, {})
    value = score.get("value")
    return None if value is None else float(value)
