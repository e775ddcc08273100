"""The command `tfmrc reproduction`: lists the papers' tables and figures with their state."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tfmrc.experiments.recipes import recipes_folder
from tfmrc.experiments.reproduction import table
from tfmrc.experiments.reproduction.rows import read_rows
from tfmrc.experiments.reproduction.states import find_runs, states
from tfmrc.utils.files import write_text

__all__ = ["ROWS", "reproduction"]

ROWS = "reproduction.yaml"


def reproduction(
    runs: Sequence[str | Path] = (),
    *,
    rows: str | Path | None = None,
    only: Sequence[str] = (),
    markdown: str | Path | None = None,
    json_file: str | Path | None = None,
) -> None:
    """Prints every table and figure of the papers with its state.

    Args:
        runs: list. Folders of runs. Default: `runs`, if it exists.
        rows: Path of the YAML file that declares the tables and figures.
            Default: `recipes/reproduction.yaml` of the working folder, else of tfmrc.
        only: list of str. Ids of the rows to list, with their commands. Default: all rows.
        markdown: Path of a file to which the list is also written as Markdown. Default: None.
        json_file: Path of a file to which the list is also written as JSON; `"-"` prints only JSON.
            Default: None.

    Raises:
        ValueError: If a folder of runs or an id does not exist, or the YAML file is wrong.
    """
    path = _rows_file() if rows is None else Path(rows)
    declared = read_rows(path)
    unknown = sorted(set(only) - {row.id for row in declared})
    if unknown:
        ids = ", ".join(row.id for row in declared)
        raise ValueError(f"No such row. Expected: {ids}. Received: --only {unknown}")
    if only:
        declared = [row for row in declared if row.id in only]
    folders = runs or [folder for folder in [Path("runs")] if folder.is_dir()]
    listed = states(declared, find_runs(folders), path.parent)
    if markdown is not None:
        write_text(markdown, table.markdown(listed, path.parent))
    text = json.dumps(
        {"rows": [table.to_json(state, path.parent) for state in listed]},
        indent=2,
        ensure_ascii=False,
    )
    if str(json_file) == "-":
        sys.stdout.write(text + "\n")
        return
    if json_file is not None:
        write_text(json_file, text + "\n")
    print(table.listing(listed))
    for state in listed if only else []:
        needed = table.needs(state, path.parent)
        if needed:
            print("", f"{state.row.paper}, {state.row.label} needs:", *needed, sep="\n  ")
        lines = table.commands(state, path.parent)
        print("", f"{state.row.paper}, {state.row.label}:", *lines, sep="\n  ")
        costs = table.measured(state, path.parent)
        if costs:
            print("", "What a training took where it was measured:", *costs, sep="\n  ")


def _rows_file() -> Path:
    own = Path("recipes", ROWS)
    shipped = recipes_folder()
    return own if own.is_file() or shipped is None else shipped / ROWS
