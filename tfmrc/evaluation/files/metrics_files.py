"""`metrics.json` of finished runs, and the mean and deviation over seeds."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


def read_metrics(path: str | Path) -> dict[str, Any]:
    """Reads a `metrics.json` that `Report` wrote.

    Raises:
        ValueError: If the file is not JSON, or has no `"systems"`.
    """
    try:
        metrics = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path}: not JSON ({error.msg}). Received: line {error.lineno}"
        ) from error
    if not isinstance(metrics, dict) or not isinstance(metrics.get("systems"), dict):
        raise ValueError(f"{path}: not a report's metrics.json. Received: no 'systems' in it")
    return metrics


@dataclass(frozen=True)
class OverSeeds:
    """Score of one system over several runs: mean, standard deviation (n - 1) and all values."""

    system: str
    name: str
    label: str
    mean: float
    deviation: float
    values: tuple[float, ...]


def over_seeds(metrics: Sequence[dict[str, Any]]) -> list[OverSeeds]:
    """Computes mean and deviation of every score that all runs have (SAN's Table 3).

    The runs must report on the same data and have different seeds.

    Args:
        metrics: list. The result of `read_metrics`, one per run.

    Raises:
        ValueError: If there are fewer than two runs, the data, the number of examples or the
            scorers differ, or a seed occurs twice.

    Example:

    >>> runs = [{"dataset": "d", "split": "dev", "seed": seed, "systems": {"m": {"scores":
    ...         {"f1": {"value": value, "label": "F1"}}}}} for seed, value in ((1, 0.5), (2, 0.7))]
    >>> [row] = over_seeds(runs)
    >>> round(row.mean, 3), round(row.deviation, 3)
    (0.6, 0.141)
    """
    if len(metrics) < 2:
        raise ValueError(f"A deviation needs at least two runs. Received: {len(metrics)}")
    data = {(run.get("dataset"), run.get("split")) for run in metrics}
    if len(data) > 1:
        raise ValueError(f"The runs report on different data. Received: {sorted(map(str, data))}")
    seeds = [run.get("seed") for run in metrics]
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"Each run needs its own seed. Received: seeds {seeds}")
    rows = []
    first = metrics[0]["systems"]
    for system, part in first.items():
        for name, score in part["scores"].items():
            values = [_value(run, system, name) for run in metrics]
            _check_kinds(metrics, system, name)
            numbers = [value for value in values if value is not None]
            if len(numbers) == len(values):
                mean, deviation = float(np.mean(numbers)), float(np.std(numbers, ddof=1))
                label = score["label"]
                rows.append(OverSeeds(system, name, label, mean, deviation, tuple(numbers)))
    return rows


def _check_kinds(metrics: Sequence[dict[str, Any]], system: str, name: str) -> None:
    """Raises ValueError if a score of the runs differs in its scorer, its text or its examples."""
    scores = [run["systems"].get(system, {}).get("scores", {}).get(name) for run in metrics]
    for field in ("scorer", "version", "tokenisation"):
        kinds = sorted({str(score.get(field)) for score in scores if score is not None})
        if len(kinds) > 1:
            raise ValueError(
                "Runs must have the same scorer and text; `evaluate` them again by the same "
                f"rules. Received: {system}, {name}, {field}={kinds}"
            )
    sizes = {score.get("size") for score in scores if score is not None}
    # Rules may leave out the questions that a run abstains from.
    parts = [part for run in metrics for part in run["systems"].get(system, {}).get("parts", [])]
    if len(sizes) > 1 and not any(part.get("counts", {}).get("abstained") for part in parts):
        raise ValueError(
            "Runs must be scored on the same examples. "
            f"Received: {system}, {name}, size={sorted(map(str, sizes))}"
        )


def _value(run: dict[str, Any], system: str, name: str) -> float | None:
    score = run["systems"].get(system, {}).get("scores", {}).get(name, {})
    value = score.get("value")
    return None if value is None else float(value)
