"""The tables and figures of the papers as a YAML file declares them."""

from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

_Kind = TypeVar("_Kind")


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
        size: how many examples the paper reports on, where it is not the row's number.
        reports: words that the run's dataset or split must have, where a run reports on several.
        stand_in: it is no part of the paper's row, but shows the same on data at hand.
    """

    label: str
    run: str = ""
    also: tuple[str, ...] = ()
    recipe: str = ""
    flags: str = ""
    commands: tuple[str, ...] = ()
    paper: dict[str, float] = field(default_factory=dict)
    size: int = 0
    reports: str = ""
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
        data: names of the paper's data, with one of which a run's `dataset` must begin; empty: any.
        size: how many examples the paper reports on; 0: it does not say, or it does not matter.
        scores: what a run must have to count; `STYLE_name` matches `name` too.
        pictures: files that must stand beside `metrics.json`.
    """

    id: str
    paper: str
    place: str
    shows: str
    parts: tuple[Part, ...]
    data: tuple[str, ...] = ()
    size: int = 0
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

    try:
        records = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: not YAML. Received: {' '.join(str(error).split())}") from error
    rows = []
    for number, record in enumerate(records if isinstance(records, list) else [records], 1):
        where = f"{path}, row {number}"
        parts = record.get("parts", ()) if isinstance(record, dict) else ()
        made = [_made(Part, part, f"{where}, part {n}") for n, part in enumerate(parts, 1)]
        rows.append(_made(Row, record, where, parts=tuple(made)))
    ids = [row.id for row in rows]
    twice = [key for key in ids if ids.count(key) > 1]
    if twice:
        raise ValueError(f"{path}: an id occurs twice. Received: id={twice[0]!r}")
    return rows


def _made(kind: type[_Kind], record: Any, where: str, **ready: Any) -> _Kind:
    """A `Part` or `Row` from a mapping; every field is of its default's type, else a string."""
    if not isinstance(record, dict):
        raise ValueError(f"{where}: not a mapping. Received: {record!r}")
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in record.items()} | ready
    try:
        made = kind(**given)
    except TypeError as error:  # an unknown or a missing field
        raise ValueError(f"{where}: {error}. Received: fields {sorted(given)}") from error
    for entry in fields(kind):  # type: ignore[arg-type]
        value = getattr(made, entry.name)
        wanted = str if entry.default is MISSING else type(entry.default)
        if entry.default_factory is not MISSING:
            wanted = dict
        if entry.name not in ready and not isinstance(value, wanted):
            raise ValueError(f"{where}: no {wanted.__name__}. Received: {entry.name}={value!r}")
    return made
