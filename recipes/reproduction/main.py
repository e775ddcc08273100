"""State of every table and figure of the papers, from the reports of the runs."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tfmrc.experiments.recipes import recipe_name
from tfmrc.utils.files import write_text
from tfmrc.utils.markdown import table_lines

RECIPES = Path(__file__).parents[1]
WHOLE = 0.98  # share of the paper's examples from which its data counts as complete
HEAD = ("table", "shows", "state", "run on", "when", "figures (the paper's)")


@dataclass(frozen=True)
class Part:
    """One system of a table or figure, and the run that measures it; see `tables.yaml`."""

    label: str
    run: str = ""
    also: Sequence[str] = ()
    recipe: str = ""
    flags: str = ""
    commands: Sequence[str] = ()
    paper: Mapping[str, float] = field(default_factory=dict)
    size: int = 0
    reports: str = ""
    stand_in: bool = False

    def command_lines(self, recipes: Path = RECIPES) -> tuple[str, ...]:
        """Returns the commands that run the part; none if there is no recipe."""
        if self.commands or not self.recipe:
            return tuple(self.commands)
        words = ["tfmrc train", recipe_name(recipes / self.recipe)]
        words += [f"--set name={self.run}", self.flags] if self.flags else []
        return " ".join(words), f"tfmrc evaluate runs/{self.run}"


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper; see `tables.yaml`."""

    id: str
    paper: str
    label: str
    shows: str
    parts: Sequence[Part]
    data: Sequence[str] = ()
    size: int = 0
    scores: Sequence[str] = ()
    pictures: Sequence[str] = ()

    @property
    def name(self) -> str:
        return f"{self.paper}, {self.label}"


@dataclass(frozen=True)
class Result:
    """Figures of one run for one part of a table, in per cent or as counts (int)."""

    part: Part
    metrics: Mapping[str, Any]
    figures: Mapping[str, float]
    deviations: Mapping[str, float]
    on_papers_data: bool
    is_whole: bool

    def describe(self) -> tuple[str, str, str]:
        """Returns the data and the training, the time, and the figures with the paper's."""
        metrics, details = self.metrics, self.metrics.get("details", {})
        facts = [f"{self.part.label}: {metrics['dataset']}, {metrics['split']}"]
        trained = [f"{n.lower()} {details[n]}" for n in ("Weights", "Training") if n in details]
        facts += [", ".join(trained)] if trained else []
        facts += [] if metrics["seed"] is None else [f"seed {metrics['seed']}"]
        shown = []
        for name, value in self.figures.items():
            text = f"{name} {_number(value)}"
            text += f" ± {self.deviations[name]:.2f}" if name in self.deviations else ""
            given = self.part.paper.get(name)
            shown.append(text if given is None else f"{text} ({_number(given, value)})")
        written = metrics["written"].replace("T", " ")[:16]
        return "; ".join(facts), written, ", ".join(shown) or "pictures"


@dataclass(frozen=True)
class TableState:
    """A table, its state, its parts without a recipe, and the results, newest first."""

    table: Table
    state: str
    without_recipe: Sequence[str]
    results: Sequence[Result]


def read_tables(path: Path = RECIPES / "reproduction" / "tables.yaml") -> list[Table]:
    """Reads the tables and figures that a YAML file declares."""
    records = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [Table(**{**r, "parts": [Part(**part) for part in r["parts"]]}) for r in records]


def find_runs(folders: Iterable[Path]) -> list[tuple[Path, dict[str, Any]]]:
    """Finds the `metrics.json` of all reports below the folders; other files are ignored."""
    runs = []
    for path in (path for folder in folders for path in sorted(folder.rglob("metrics.json"))):
        try:
            metrics = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue  # half written by a running process
        if isinstance(metrics.get("systems"), dict):
            runs.append((path, metrics))
    return runs


def state_of(
    table: Table, runs: Sequence[tuple[Path, Mapping[str, Any]]], recipes: Path = RECIPES
) -> TableState:
    """Returns the state of a table.

    It is "run" if each of its parts was run on the paper's data, and "run in part" if some of them
    were. It is "run on less data" if the runs report on fewer examples of the paper's data, and
    "run on other data" if all figures are on data that the paper does not have.

    Args:
        table: `Table`. The table or figure.
        runs: list. The result of `find_runs`.
        recipes: path. The folder of the recipes.
    """
    results = [
        result
        for part in table.parts
        for path, metrics in runs
        for name in (part.run, *part.also)
        if name and (result := _result(table, part, name, path, metrics)) is not None
    ]
    results.sort(key=lambda result: result.metrics["written"], reverse=True)
    proper = [part for part in table.parts if not part.stand_in]
    whole = [result.part for result in results if result.is_whole]
    done = [part for part in proper if part in whole]
    ready = [part for part in table.parts if part.recipe and (recipes / part.recipe).is_file()]
    if done:
        state = "run" if len(done) == len(proper) else "run in part"
    elif results:
        papers = any(result.on_papers_data for result in results)
        state = "run on less data" if papers else "run on other data"
    else:
        state = "not run" if ready else "no recipe"
    lacking = [part.label for part in proper if part not in ready] if ready else []
    return TableState(table, state, lacking, results)


def _result(
    table: Table, part: Part, name: str, path: Path, metrics: Mapping[str, Any]
) -> Result | None:
    """Returns the result of a part from a report; None if a system, score or picture is missing.

    A run may report on several datasets. The paper's parts count on its data, stand-ins on others.
    """
    system, dataset = metrics["systems"].get(name), metrics["dataset"]
    on_papers_data = not table.data or dataset.lower().startswith(
        tuple(known.lower() for known in table.data)
    )
    is_reported = part.reports in f"{dataset}, {metrics['split']}"
    if system is None or on_papers_data == part.stand_in or not is_reported:
        return None
    if not all((path.parent / picture).is_file() for picture in table.pictures):
        return None
    prefixes = {kind["prefix"] for kind in system.get("parts", ())} - {""}
    scores: dict[str, Mapping[str, Any]] = {}
    for expected in table.scores:
        names = [expected, *(f"{prefix}_{expected}" for prefix in sorted(prefixes))]
        matching = {key: system["scores"][key] for key in names if key in system["scores"]}
        if not matching:
            return None
        scores |= matching
    scores |= {key: system["scores"][key] for key in part.paper if key in system["scores"]}
    size = max((s.get("size", 0) for s in (scores or system["scores"]).values()), default=0)
    return Result(
        part,
        metrics,
        {key: _figure(s) for key, s in scores.items() if s.get("value") is not None},
        {key: 100 * s["deviation"] for key, s in scores.items() if "deviation" in s},
        on_papers_data,
        on_papers_data and size >= WHOLE * (part.size or table.size),
    )


def _figure(score: Mapping[str, Any]) -> float:
    if score.get("unit") == "count":
        return round(score["value"])
    return float(score["value"]) * (1 if "unit" in score else 100)


def _number(value: float, like: float | None = None) -> str:
    """Formats a count with thousands separators, or per cent with two decimals."""
    is_count = isinstance(value if like is None else like, int)
    return f"{value:,.0f}" if is_count else f"{value:.2f}"


def commands(table: Table, recipes: Path = RECIPES) -> list[str]:
    """Returns the commands of a table, each once, without those whose recipe does not exist.

    Parts with commands of their own come last, because these use the runs of the others.
    """
    ordered = sorted(table.parts, key=lambda part: bool(part.commands))
    ready = [part for part in ordered if part.recipe and (recipes / part.recipe).is_file()]
    return list(dict.fromkeys(line for part in ready for line in part.command_lines(recipes)))


def listing(states: Sequence[TableState]) -> str:
    """Returns the list for a terminal: a line per table, its runs and figures below it."""
    wide = max(len(state.table.name) for state in states)
    lines = []
    for state in states:
        table = state.table
        lines.append(f"{table.id:<10}  {table.name:<{wide}}  {state.state:<17}  {table.shows}")
        for data, written, figures in (result.describe() for result in state.results):
            lines += [f"    {data}; {written}", f"        {figures}"]
        if state.without_recipe:
            lines.append(f"    no recipe yet: {'; '.join(state.without_recipe)}")
    return "\n".join([*lines, "", _summary(states)])


def _summary(states: Sequence[TableState]) -> str:
    counts = Counter(state.state for state in states)
    return f"{len(states)} tables: " + ", ".join(f"{n} {name}" for name, n in counts.items())


def markdown(states: Sequence[TableState]) -> str:
    """Returns the list as a page: a line per run, and the commands of every table."""
    lines = ["# Tables and figures of the papers", "", f"{_summary(states)}.", ""]
    rows = []
    for state in states:
        cells = [state.table.name, state.table.shows, state.state]
        for described in [result.describe() for result in state.results] or [("", "", "")]:
            rows.append([*cells, *described])
            cells = ["", "", ""]
    lines += [*table_lines(HEAD, rows), "", "## Commands"]
    for state in states:
        lines += ["", f"{state.table.name}:", ""]
        lines += [f"    {command}" for command in commands(state.table)]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Lists every table and figure of the papers with its state and the results of its runs."""
    parser = argparse.ArgumentParser(
        prog="python -m recipes.reproduction.main", description=main.__doc__
    )
    parser.add_argument("runs", nargs="*", type=Path, help="folders of runs; default: runs")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these tables, with their commands")
    parser.add_argument("--markdown", metavar="FILE", help="also write the list to this file")
    options = parser.parse_args(arguments)
    tables = read_tables()
    unknown = {*(options.only or ())} - {table.id for table in tables}
    if unknown:
        parser.error(f"no such tables: {', '.join(sorted(unknown))}")
    tables = [table for table in tables if not options.only or table.id in options.only]
    runs = find_runs(options.runs or [Path("runs")])
    states = [state_of(table, runs) for table in tables]
    print(listing(states))
    for table in tables if options.only else ():
        print("", f"{table.name}:", *commands(table), sep="\n  ")
    if options.markdown is not None:
        write_text(options.markdown, markdown(states))
    return 0


if __name__ == "__main__":
    sys.exit(main())
