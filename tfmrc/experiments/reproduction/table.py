"""List of all tables and figures with their state, for the terminal and as Markdown."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tfmrc.data.formats.registry import find_format
from tfmrc.experiments.loading import load
from tfmrc.experiments.reproduction.states import Result, RowState
from tfmrc.experiments.sources import contextual_files

HEAD = ("row", "shows", "state", "run on", "when", "figures (the paper's)")


def table_rows(states: Iterable[RowState]) -> list[list[str]]:
    """Returns one line per row of the papers, and one more for each further run of it."""
    lines = []
    for state in states:
        row = state.row
        cells = [f"{row.paper}, {row.label}", row.shows, state.state]
        for result in state.results:
            lines.append([*cells, _data(result), _when(result), _figures(result)])
            cells = ["", "", ""]
        if not state.results:
            lines.append([*cells, "", "", ""])
        if state.without_recipe and state.state != "no recipe":
            lines.append(["", "", "", "", "", f"no recipe yet: {'; '.join(state.without_recipe)}"])
    return lines


def listing(states: Sequence[RowState]) -> str:
    """Returns the list for a terminal: a line per row, its runs and figures below it."""
    names = [f"{state.row.paper}, {state.row.label}" for state in states]
    wide = max(map(len, names), default=0)
    widest = max((len(state.row.id) for state in states), default=0)
    lines = []
    for name, state in zip(names, states, strict=True):
        row = state.row
        lines.append(f"{row.id:<{widest}}  {name:<{wide}}  {state.state:<17}  {row.shows}")
        for result in state.results:
            lines.append(f"    {_data(result)}; {_when(result)}")
            lines.append(f"        {_figures(result)}")
        if state.without_recipe and state.state != "no recipe":
            lines.append(f"    no recipe yet: {'; '.join(state.without_recipe)}")
    return "\n".join([*lines, "", summary(states)])


def summary(states: Sequence[RowState]) -> str:
    """Returns the number of rows in each state."""
    counts = Counter(state.state for state in states)
    return f"{len(states)} rows: " + ", ".join(f"{n} {name}" for name, n in counts.items())


def markdown(states: Sequence[RowState], recipes: str | Path = "recipes") -> str:
    """Returns the list as a page: the table, and the commands of every row that has any."""
    lines = ["# Tables and figures of the papers", "", f"{summary(states)}.", ""]
    lines += [f"| {' | '.join(HEAD)} |", "|" + " --- |" * len(HEAD)]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in table_rows(states)]
    lines += ["", "## Commands"]
    for state in states:
        listed = commands(state, recipes)
        if listed:
            lines += ["", f"{state.row.paper}, {state.row.label}:", ""]
            lines += [f"    {command}" for command in listed]
    return "\n".join(lines) + "\n"


def commands(state: RowState, recipes: str | Path = "recipes") -> list[str]:
    """Returns the commands of a row, each once, without those whose recipe does not exist.

    Parts with commands of their own come last, because these use the runs of the others.
    """
    every = [
        command
        for part in sorted(state.row.parts, key=lambda part: bool(part.commands))
        if part.recipe and Path(recipes, part.recipe).is_file()
        for command in part.command_lines(recipes)
    ]
    return list(dict.fromkeys(every))


def needs(state: RowState, recipes: str | Path = "recipes") -> list[str]:
    """Returns what the commands of a row need: a data folder with its files, a checkout."""
    listed = commands(state, recipes)
    files: set[str] = set()
    for part in state.row.parts:
        path = Path(recipes, part.recipe)
        if path.suffix == ".yaml" and path.is_file():
            files |= _data_files(path)
    lines = []
    if files or any("$TFMRC_DATA" in command for command in listed):
        names = ", ".join(sorted(files)) or "the files of the commands"
        lines.append(f"a data folder, `export TFMRC_DATA=FOLDER`, with {names}")
    if any(command.startswith(("make ", "python -m recipes.")) for command in listed):
        lines.append("a checkout of tfmrc as working folder, and its environment activated")
    return lines


def _data_files(recipe: Path) -> set[str]:
    """Returns the files of a recipe below the data folder."""
    experiment = load(recipe)
    files = {Path(name) for name in contextual_files(experiment)}
    if experiment.vocabulary.vectors is not None:
        files.add(Path(experiment.vocabulary.vectors))
    for source in experiment.sources:
        known = find_format(source.format)
        parts = (source.train, source.train_options), (source.test, source.test_options)
        for name, options in parts if known.is_file else ():
            if name is not None:
                files |= {Path(name), *known.besides(name, source.options | options).values()}
    return {file.as_posix() for file in files}


def measured(state: RowState, recipes: str | Path = "recipes") -> list[str]:
    """Returns what the trainings of a row took where they were measured, a line per recipe.

    The figures are those of `costs.yaml` in the folder of the recipes.
    """
    import yaml

    path = Path(recipes, "costs.yaml")
    costs = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    files = dict.fromkeys(part.recipe for part in state.row.parts if part.recipe.endswith(".yaml"))
    return [f"{file}: {costs.get(file, 'not measured')}" for file in files]


def to_json(state: RowState, recipes: str | Path = "recipes") -> dict[str, Any]:
    """Returns a row, its state, its commands and its results."""
    row = state.row
    return {
        "id": row.id,
        "paper": row.paper,
        "label": row.label,
        "shows": row.shows,
        "state": state.state,
        "without_recipe": list(state.without_recipe),
        "commands": commands(state, recipes),
        "measured": measured(state, recipes),
        "results": [
            {
                "part": result.part.label,
                "stand_in": result.part.stand_in,
                "file": str(result.file),
                "dataset": result.dataset,
                "split": result.split,
                "size": result.size,
                "seed": result.seed,
                "trained": result.trained,
                "written": result.written,
                "figures": dict(result.figures),
                "deviations": dict(result.deviations),
                "paper": dict(result.part.paper),
            }
            for result in state.results
        ],
    }


def _data(result: Result) -> str:
    facts = [f"{result.part.label}: {result.dataset}, {result.split}", result.trained]
    facts += [] if result.seed is None else [f"seed {result.seed}"]
    return "; ".join(fact for fact in facts if fact)


def _when(result: Result) -> str:
    return result.written.replace("T", " ")[:16]


def _figures(result: Result) -> str:
    paper: Mapping[str, float] = result.part.paper
    shown = []
    for name, value in result.figures.items():
        text = f"{name} {_number(value)}"
        if name in result.deviations:
            text += f" ± {result.deviations[name]:.2f}"
        shown.append(text + (f" ({_number(paper[name], value)})" if name in paper else ""))
    return ", ".join(shown) or "pictures"


def _number(value: float, like: float | None = None) -> str:
    """Formats a count with thousands separators, or per cent with two decimals."""
    count = isinstance(value if like is None else like, int)
    return f"{value:,.0f}" if count else f"{value:.2f}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
