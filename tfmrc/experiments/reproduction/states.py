"""State of every table and figure of the papers, from the reports of the runs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tfmrc.experiments.reproduction.rows import Part, Row

State = Literal[
    "no recipe", "not run", "run on other data", "run on less data", "run in part", "run"
]

WHOLE = 0.98
"""Share of the paper's examples from which its data counts as complete; a few may be lost."""


@dataclass(frozen=True)
class Result:
    """Figures of one run for one part of a row.

    `figures` are in per cent, or counts (int). `deviations` has the standard deviations of figures
    that are the mean of several runs.
    """

    part: Part
    file: Path
    dataset: str
    split: str
    seed: int | None
    written: str
    trained: str
    size: int
    figures: Mapping[str, float]
    on_papers_data: bool
    whole: bool
    deviations: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RowState:
    """A row, its state, its parts without a recipe, and the results of its runs, newest first."""

    row: Row
    state: State
    without_recipe: tuple[str, ...]
    results: tuple[Result, ...]


def find_runs(folders: Iterable[str | Path]) -> list[tuple[Path, dict[str, Any]]]:
    """Finds the `metrics.json` of all reports below the folders; other files are ignored.

    Raises:
        ValueError: If a folder does not exist.
    """
    runs = []
    for folder in folders:
        if not Path(folder).is_dir():
            raise ValueError(f"No such folder of runs. Received: {str(folder)!r}")
        for path in sorted(Path(folder).rglob("metrics.json")):
            try:
                metrics = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                continue  # half written by a running process
            if isinstance(metrics, dict) and isinstance(metrics.get("systems"), dict):
                runs.append((path, metrics))
    return runs


def states(
    rows: Sequence[Row],
    runs: Iterable[tuple[Path, Mapping[str, Any]]],
    recipes: str | Path = "recipes",
) -> list[RowState]:
    """Returns the state of every row.

    A row is "run" if each of its parts was run on the paper's data, and "run in part" if some of
    them were. It is "run on less data" if the runs report on fewer examples of the paper's data,
    and "run on other data" if all figures are on data that the paper does not have. Model size and
    training length are given beside the figures.

    Args:
        rows: list of `Row`. The tables and figures.
        runs: iterable. The result of `find_runs`.
        recipes: str or path. The folder of the recipes. Default: "recipes".

    Example:

    >>> part = Part("Masque", "masque_x", recipe="masque_x/config.yaml", paper={"mrr": 69.96})
    >>> row = Row("masque-t4", "Masque", "Table 4", "ranking", (part,), scores=("mrr",))
    >>> states([row], [], recipes="nowhere")[0].state
    'no recipe'
    """
    known = list(runs)
    return [_state(row, known, Path(recipes)) for row in rows]


def _state(row: Row, runs: list[tuple[Path, Mapping[str, Any]]], recipes: Path) -> RowState:
    ready = [part for part in row.parts if part.recipe and (recipes / part.recipe).is_file()]
    results = [
        result
        for part in row.parts
        for path, metrics in runs
        for name in (part.run, *part.also)
        if name and (result := _result(row, part, name, path, metrics)) is not None
    ]
    results.sort(key=lambda result: result.written, reverse=True)
    proper = [part for part in row.parts if not part.stand_in]
    done = [
        part for part in proper if any(result.part is part and result.whole for result in results)
    ]
    state: State
    if done:
        state = "run" if len(done) == len(proper) else "run in part"
    elif results:
        papers = any(result.on_papers_data for result in results)
        state = "run on less data" if papers else "run on other data"
    else:
        state = "not run" if ready else "no recipe"
    lacking = tuple(part.label for part in proper if part not in ready)
    return RowState(row, state, lacking, tuple(results))


def _result(
    row: Row, part: Part, name: str, path: Path, metrics: Mapping[str, Any]
) -> Result | None:
    """Returns the result of a part from a report; None if a system, score or picture is missing.

    A run may report on several datasets. The paper's parts count on its data, stand-ins on others.
    """
    system = metrics["systems"].get(name)
    dataset = str(metrics.get("dataset", ""))
    named = any(dataset.lower().startswith(known.lower()) for known in row.data) or not row.data
    reported = part.reports in f"{dataset}, {metrics.get('split', '')}"
    if system is None or named == part.stand_in or not reported:
        return None
    if not all((path.parent / picture).is_file() for picture in row.pictures):
        return None
    prefixes = {kind.get("prefix", "") for kind in system.get("parts", [])} - {""}
    scores: dict[str, Mapping[str, Any]] = {}
    for expected in row.scores:
        names = [expected, *(f"{prefix}_{expected}" for prefix in sorted(prefixes))]
        matching = {key: system["scores"][key] for key in names if key in system["scores"]}
        if not matching:
            return None
        scores |= matching
    scores |= {key: system["scores"][key] for key in part.paper if key in system["scores"]}
    details = metrics.get("details", {})
    size = max((s.get("size", 0) for s in (scores or system["scores"]).values()), default=0)
    return Result(
        part=part,
        file=path,
        dataset=dataset,
        split=str(metrics.get("split", "")),
        seed=metrics.get("seed"),
        written=str(metrics.get("written", "")),
        trained=", ".join(
            f"{name.lower()} {details[name]}" for name in ("Weights", "Training") if name in details
        ),
        size=size,
        figures={
            key: _figure(score) for key, score in scores.items() if score.get("value") is not None
        },
        on_papers_data=named,
        whole=named and size >= WHOLE * (part.size or row.size),
        deviations={key: 100 * s["deviation"] for key, s in scores.items() if "deviation" in s},
    )


def _figure(score: Mapping[str, Any]) -> float:
    if score.get("unit") == "count":
        return round(score["value"])
    return float(score["value"]) * (1 if "unit" in score else 100)
