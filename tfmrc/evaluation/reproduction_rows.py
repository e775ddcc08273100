"""The tables and figures of the papers as a YAML file declares them."""

from argparse import ArgumentError
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Part:
    """One system of a table or figure, and the run that measures it.

    Args:
        label: the system as the paper calls it.
        run: the recipe's name, which is the system's name in `metrics.json`; empty: no recipe yet.
        also: names of the same recipe at other sizes.
        recipe: the file that makes it, from the folder of the recipes.
        flags: what is added to the recipe.
        commands: how it is run; by default `tfmrc train` and `tfmrc evaluate` of the recipe.
        paper: the paper's figures, by our names of the scores, in the paper's unit.
        stand_in: it is no part of the paper's row, but shows the same on data at hand.
    """

    label: str
    run: str = ""
    also: tuple[str, ...] = ()
    recipe: str = ""
    flags: str = ""
    commands: tuple[str, ...] = ()
    paper: dict[str, float] = field(default_factory=dict)
    stand_in: bool = False

    def how(self, recipes: str | Path = "recipes") -> tuple[str, ...]:
        """The commands that make the part; none where there is no recipe."""
        if self.commands or not self.recipe:
            return self.commands
        words = ["tfmrc train", Path(recipes, self.recipe).as_posix()]
        words += [f"--name {self.run}", self.flags] if self.flags else []
        return " ".join(words), f"tfmrc evaluate runs/{self.run}"


@dataclass(frozen=True)
class Row:
    """A table or figure of a paper.

    Args:
        id: short name (`"masque-t4"`).
        paper: the paper.
        place: where it stands there (`"Table 4"`).
        shows: what it shows.
        parts: its systems, and stand-ins.
        data: names of the paper's data, one of which a run's `dataset` must contain; empty: any.
        scores: what a run must have to count; `STYLE_name` matches `name` too.
        pictures: files that must stand beside `metrics.json`.
    """

    id: str
    paper: str
    place: str
    shows: str
    parts: tuple[Part, ...]
    data: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()


def read_rows(path: str | Path) -> list[Row]:
    """The tables and figures that a YAML file declares (`recipes/reproduction.yaml`).

    Raises:
        ValueError: a field is unknown, missing or of the wrong type, or an id repeats.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.yaml"
    >>> _ = path.write_text("- {id: m-f1, paper: M, place: Figure 1, shows: x, parts: []}")
    >>> read_rows(path)[0].place
    'Figure 1'
    """
    import yaml
    from jsonargparse import ArgumentParser

    parser = ArgumentParser(exit_on_error=False)
    parser.add_argument("--rows", type=list[Row])
    try:
        records: Any = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        rows: list[Row] = parser.instantiate(parser.parse_object({"rows": records})).rows
    except (yaml.YAMLError, ArgumentError, TypeError) as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from error
    ids = [row.id for row in rows]
    twice = [key for key in ids if ids.count(key) > 1]
    if twice:
        raise ValueError(f"{path}: an id occurs twice. Received: id={twice[0]!r}")
    return rows
