"""Tables and figures of the papers, declared in a YAML file."""

from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from tfmrc.experiments.recipes import recipe_name

_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class Part:
    """One system of a table or figure, and the run that measures it.

    Args:
        label: str. The name of the system in the paper.
        run: str. Name of the recipe, which is the name of the system in `metrics.json`; `""` if
            there is no recipe yet. Default: "".
        also: tuple of str. Names of the same recipe at other sizes. Default: ().
        recipe: str. The file of the recipe, relative to the folder of the recipes. Default: "".
        flags: str. Settings that the part changes, such as `model.ranker=false`. Default: "".
        commands: tuple of str. Commands of the run. Default: `tfmrc train` and `tfmrc evaluate` of
            the recipe.
        paper: dict. The paper's figures by the names of our scores, in the paper's unit.
            Default: {}.
        size: int. Number of examples that the paper reports on, if it differs from that of the row.
            Default: 0.
        reports: str. Text in the dataset or split of the run, if a run reports on several.
            Default: "".
        stand_in: bool. Whether the part is not in the paper's row, but shows the same on other
            data. Default: False.
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

    def command_lines(self, recipes: str | Path = "recipes") -> tuple[str, ...]:
        """Returns the commands that run the part; none if there is no recipe."""
        if self.commands or not self.recipe:
            return self.commands
        words = ["tfmrc train", recipe_name(Path(recipes, self.recipe))]
        words += [f"--set name={self.run}", self.flags] if self.flags else []
        return " ".join(words), f"tfmrc evaluate runs/{self.run}"


@dataclass(frozen=True)
class Row:
    """A table or figure of a paper.

    Args:
        id: str. Short name (`"masque-t4"`).
        paper: str. The paper.
        label: str. The table or figure (`"Table 4"`).
        shows: str. Content of the table or figure.
        parts: tuple of `Part`. Its systems, and stand-ins.
        data: tuple of str. Names of the paper's data. The `dataset` of a run must begin with one of
            them; empty accepts any. Default: ().
        size: int. Number of examples that the paper reports on; 0 if unknown or irrelevant.
            Default: 0.
        scores: tuple of str. Scores that a run must have to count. `STYLE_name` matches `name` too.
            Default: ().
        pictures: tuple of str. Files that must exist beside `metrics.json`. Default: ().
    """

    id: str
    paper: str
    label: str
    shows: str
    parts: tuple[Part, ...]
    data: tuple[str, ...] = ()
    size: int = 0
    scores: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()


def read_rows(path: str | Path) -> list[Row]:
    """Reads the tables and figures that a YAML file declares (`recipes/reproduction.yaml`).

    Raises:
        ValueError: If a field is unknown, missing or of the wrong type, or an id is repeated.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.yaml"
    >>> _ = path.write_text("- {id: m-f1, paper: M, label: Figure 1, shows: x, parts: []}")
    >>> read_rows(path)[0].label
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
        built = [_build(Part, part, f"{where}, part {n}") for n, part in enumerate(parts, 1)]
        rows.append(_build(Row, record, where, parts=tuple(built)))
    ids = [row.id for row in rows]
    twice = [key for key in ids if ids.count(key) > 1]
    if twice:
        raise ValueError(f"{path}: an id occurs twice. Received: id={twice[0]!r}")
    return rows


def _build(kind: type[_Kind], record: Any, where: str, **ready: Any) -> _Kind:
    """Builds a `Part` or `Row`; every field has the type of its default, else it is a string."""
    if not isinstance(record, dict):
        raise ValueError(f"{where}: not a mapping. Received: {record!r}")
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in record.items()} | ready
    try:
        built = kind(**given)
    except TypeError as error:  # an unknown or a missing field
        raise ValueError(f"{where}: {error}. Received: fields {sorted(given)}") from error
    for entry in fields(kind):  # type: ignore[arg-type]
        value = getattr(built, entry.name)
        expected = str if entry.default is MISSING else type(entry.default)
        if entry.default_factory is not MISSING:
            expected = dict
        if entry.name not in ready and not isinstance(value, expected):
            raise ValueError(
                f"{where}: expected {expected.__name__}. Received: {entry.name}={value!r}"
            )
    return built
