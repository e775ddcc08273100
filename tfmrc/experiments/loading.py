"""Settings from YAML files and `--set`, with errors that name the nearest key."""

import dataclasses
import inspect
import re
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

from tfmrc.experiments.settings import Experiment
from tfmrc.utils.arguments import nearest, suggestion
from tfmrc.utils.files import write_text

EXTENDS = "extends"

Kind = TypeVar("Kind")


class _Loader(yaml.SafeLoader):
    """YAML 1.1 with the floats of YAML 1.2, so that `1e-3` is a number, and with each key once."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        known: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in known:  # PyYAML would keep the last value alone
                    raise yaml.composer.ComposerError(
                        None, None, f"`{key.value}` is given twice", key.start_mark
                    )
                known.add(key.value)
        return node


class _Dumper(yaml.SafeDumper):
    """Writes texts so that `_Loader` reads texts: "1e-3" in quotes."""


for _kind in (_Loader, _Dumper):
    _kind.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
        list("-+0123456789."),
    )


def load(path: str | Path, *overrides: str) -> Experiment:
    """Reads an experiment from a YAML file.

    `extends: config.yaml` names another file, relative to the folder of the first: mappings are
    merged, other values replaced, and a variant of the grid that is null is removed.

    Args:
        path: str or path. The file.
        *overrides: str. Settings by dotted name: `"training.steps=100"`, `"model.hidden_dim=64"`.

    Returns:
        The experiment.

    Raises:
        ValueError: If the file is not YAML, a name does not exist (the message suggests the nearest
            one), or a value has the wrong type.

    Example:

    >>> import pathlib, tempfile
    >>> text = "{name: x, sources: [{format: squad}], model: {name: SAN}}"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "config.yaml")
    ...     _ = file.write_text(text)
    ...     load(file, "training.steps=7").training.steps
    7
    """
    try:
        values = _overridden(path, overrides)
        grid = values.get("grid")
        if isinstance(grid, dict) and isinstance(grid.get("variants"), dict):
            variants = {key: value for key, value in grid["variants"].items() if value is not None}
            values["grid"] = {**grid, "variants": variants}
        return from_mapping(values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def load_settings(kind: type[Kind], path: str | Path, *overrides: str) -> Kind:
    """Reads a YAML file as another dataclass, for a recipe with settings of its own.

    Args:
        kind: type. The dataclass.
        path: str or path. The file.
        *overrides: str. Settings by dotted name: `"threshold=1"`.

    Raises:
        ValueError: As `load`.
    """
    try:
        settings: Kind = _dataclass(kind, _overridden(path, overrides), "")
        return settings
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _overridden(path: str | Path, overrides: Iterable[str]) -> dict[str, Any]:
    """Returns the values of a file with overrides."""
    return override(_read(Path(path)), overrides)


def override(values: dict[str, Any], texts: Iterable[str]) -> dict[str, Any]:
    """Sets values by texts such as `training.steps=500` and returns them.

    Raises:
        ValueError: If a text is not NAME=VALUE, or the value not YAML.

    Example:

    >>> override({}, ["num_beams=4", "max_length=null"])
    {'num_beams': 4, 'max_length': None}
    """
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"A setting is NAME=VALUE. Received: {text!r}")
        set_value(values, name.strip(), parse(value))
    return values


def parse(text: str) -> Any:
    """Returns the value of a YAML text.

    Raises:
        ValueError: If the text is not YAML.

    Example:

    >>> parse("1e-3"), parse("[1, 2]"), parse("null")
    (0.001, [1, 2], None)
    """
    try:
        return yaml.load(text, _Loader)  # noqa: S506  (a SafeLoader)
    except yaml.YAMLError as error:
        raise ValueError(f"Not YAML: {' '.join(str(error).split())}") from error


def from_mapping(values: Mapping[str, Any]) -> Experiment:
    """Builds an experiment from a mapping, as read from YAML.

    Raises:
        ValueError: If a name does not exist or is missing, or a value has the wrong type.

    Example:

    >>> from_mapping({"name": "x", "sources": [], "model": {"name": "SAN"}, "sede": 1})
    Traceback (most recent call last):
    ...
    ValueError: There is no setting `sede`; did you mean `seed`? Received: sede=1
    """
    experiment: Experiment = _dataclass(Experiment, values, "")
    for variant, changes in experiment.grid.variants.items():
        check_variant(experiment, variant, changes)
    return experiment


def to_mapping(experiment: Experiment) -> dict[str, Any]:
    """Converts an experiment to plain values; the inverse of `from_mapping`."""
    plain: dict[str, Any] = _plain(dataclasses.asdict(experiment))
    return plain


def save(experiment: Experiment, path: str | Path) -> None:
    """Writes an experiment as the YAML that `load` reads."""
    values = to_mapping(experiment)
    text = yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    write_text(path, text)


def changed(experiment: Experiment, changes: Mapping[str, Any]) -> Experiment:
    """Returns the experiment with other values of some settings.

    Args:
        experiment: `Experiment`. The experiment.
        changes: dict. Values by dotted name; a mapping replaces the whole setting.

    Example:

    >>> first = from_mapping({"name": "x", "sources": [], "model": {"name": "SAN"}})
    >>> changed(first, {"model.num_steps": 3, "training.steps": 9}).model
    {'name': 'SAN', 'num_steps': 3}
    """
    values = to_mapping(experiment)
    for name, value in changes.items():
        set_value(values, name, _plain(value))
    return from_mapping(values)


def check_variant(experiment: Experiment, variant: str, changes: Mapping[str, Any]) -> None:
    """Raises a ValueError if a variant's settings do not exist, or its name is no folder's."""
    if "/" in variant:
        raise ValueError(
            "A variant names the folder of its runs, so it has no `/`. "
            f"Received: grid.variants.{variant}"
        )
    without_grid = dataclasses.replace(experiment, grid=type(experiment.grid)())
    try:
        changed(without_grid, changes)
    except ValueError as error:
        raise ValueError(f"grid.variants.{variant}: {error}") from error


def set_value(values: dict[str, Any], name: str, value: Any) -> None:
    """Sets a value by its dotted name, creating missing mappings; list items count from 0.

    Raises:
        ValueError: If a part of the name is no mapping or list, or is beyond the end of a list.

    Example:

    >>> values = {"sources": [{"format": "squad"}]}
    >>> set_value(values, "sources.0.train", "a.json")
    >>> set_value(values, "training.steps", 3)
    >>> values
    {'sources': [{'format': 'squad', 'train': 'a.json'}], 'training': {'steps': 3}}

    The settings of a grid's variant are keys with dots themselves:

    >>> values = {"grid": {"variants": {"small": {"model.units": 32}}}}
    >>> set_value(values, "grid.variants.small.model.units", 16)
    >>> values
    {'grid': {'variants': {'small': {'model.units': 16}}}}
    """
    *parents, last = _keys(name)
    inner: Any = values
    for number, key in enumerate(parents):
        if isinstance(inner, list):
            inner = inner[_position(inner, key, name)]
            continue
        if not isinstance(inner, dict):
            raise ValueError(f"{'.'.join(parents[:number])} holds no settings. Received: {name}")
        if inner.get(key) is None:
            inner[key] = {}
        inner = inner[key]
    if isinstance(inner, list):
        inner[_position(inner, last, name)] = value
    elif isinstance(inner, dict):
        inner[last] = value
    else:
        raise ValueError(f"{'.'.join(parents)} holds no settings. Received: {name}={value!r}")


def _keys(name: str) -> list[str]:
    """Returns the keys of a dotted name; the last one of a variant's setting has dots."""
    keys = name.split(".")
    if keys[:2] == ["grid", "variants"] and len(keys) > 3:
        keys[3:] = [".".join(keys[3:])]
    return keys


def flat(experiment: Experiment) -> dict[str, Any]:
    """Returns all settings by their dotted names."""
    values: dict[str, Any] = {}

    def visit(name: str, value: Any) -> None:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            inner = f"{name}{key}"
            if isinstance(item, dict | list | tuple) and item:
                visit(f"{inner}.", item)
            else:
                values[inner] = item

    visit("", dataclasses.asdict(experiment))
    return values


def describe() -> str:
    """Returns all settings with their defaults and meanings, for `--help`."""
    lines = ["settings (YAML, or --set NAME=VALUE):"]
    _describe(Experiment, "", lines)
    return "\n".join(lines)


def _describe(kind: type, prefix: str, lines: list[str]) -> None:
    hints, meanings = get_type_hints(kind), _meanings(kind)
    for entry in dataclasses.fields(kind):
        name, inner = f"{prefix}{entry.name}", hints[entry.name]
        if dataclasses.is_dataclass(inner):
            _describe(inner, f"{name}.", lines)  # type: ignore[arg-type]
            continue
        item = get_args(inner)[0] if get_origin(inner) is tuple else None
        if dataclasses.is_dataclass(item):
            _describe(item, f"{name}.N.", lines)  # type: ignore[arg-type]
            continue
        default = ""
        if entry.default is not dataclasses.MISSING and entry.default != "":
            default = f" (default: {_shown(entry.default)})"
        lines.append(f"  {name}\n        {meanings[entry.name]}{default}")


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return "null" if value is None else str(value).lower() if value in (True, False) else str(value)


def _meanings(kind: type) -> dict[str, str]:
    """Returns the meanings of a dataclass's fields, from the `Args:` of its docstring."""
    meanings: dict[str, str] = {}
    name = ""
    # From Python 3.13 on, the compiler takes the common indent off a docstring: `getdoc` always.
    for line in (inspect.getdoc(kind) or "").partition("Args:\n")[2].splitlines():
        begun = re.match(r"^ {4}(\w+): (.*)$", line)
        if begun:
            name = begun[1]
            meanings[name] = begun[2]
        elif name and line.strip():
            meanings[name] += f" {line.strip()}"
    return meanings


def _read(path: Path, seen: tuple[Path, ...] = ()) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"There is no such file. Received: {path}")
    if path.resolve() in seen:
        raise ValueError(f"A file extends itself. Received: {path}")
    values = parse(path.read_text(encoding="utf-8"))
    if not isinstance(values, dict):
        raise ValueError(f"Expected settings by name. Received: {type(values).__name__}")
    parent = values.pop(EXTENDS, None)
    if parent is None:
        return values
    return _merged(_read(path.parent / str(parent), (*seen, path.resolve())), values)


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    both = dict(below)
    for key, value in above.items():
        inner = both.get(key)
        both[key] = (
            _merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
        )
    return both


def _position(values: list[Any], key: str, name: str) -> int:
    if not key.isdecimal() or int(key) >= len(values):
        raise ValueError(f"There are {len(values)} entries, counted from 0. Received: {name}")
    return int(key)


def _dataclass(kind: Any, values: Any, where: str) -> Any:
    if not isinstance(values, Mapping):
        name = where.rstrip(".") or "An experiment"
        raise ValueError(f"{name} holds settings by name. Received: {values!r}")
    hints = get_type_hints(kind)
    fields = {entry.name: entry for entry in dataclasses.fields(kind)}
    for name, value in values.items():
        if name not in fields:
            raise ValueError(_unknown(f"{where}{name}", str(name), where, fields, value))
    missing = [
        name
        for name, entry in fields.items()
        if name not in values
        and entry.default is dataclasses.MISSING
        and entry.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ValueError(f"The setting `{where}{missing[0]}` is missing.")
    return kind(
        **{name: _converted(hints[name], value, f"{where}{name}") for name, value in values.items()}
    )


def _unknown(full: str, name: str, where: str, known: Iterable[str], value: Any) -> str:
    similar = nearest(name, known)
    hint = (
        f"did you mean `{where}{similar}`?"
        if similar
        else f"{where.rstrip('.') or 'an experiment'} has {', '.join(known)}."
    )
    return f"There is no setting `{full}`; {hint} Received: {full}={value!r}"


def _converted(hint: Any, value: Any, where: str) -> Any:
    """Converts a value of YAML to the type of its setting."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        [first] = [one for one in inner if one is not type(None)]
        return _converted(first, value, where)
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint, value, f"{where}.")
    if origin is Literal:
        if value not in inner or isinstance(value, bool):
            raise ValueError(
                f"`{where}` is one of {', '.join(inner)}"
                + suggestion(str(value), inner)
                + f" Received: {where}={value!r}"
            )
        return value
    if origin is tuple:
        if isinstance(value, str) or not isinstance(value, list | tuple):
            raise ValueError(f"`{where}` is a list. Received: {where}={value!r}")
        return tuple(_converted(inner[0], v, f"{where}.{n}") for n, v in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise ValueError(f"`{where}` holds values by name. Received: {where}={value!r}")
        return {str(k): _converted(inner[1], v, f"{where}.{k}") for k, v in value.items()}
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is not bool and isinstance(value, bool)):
        expected = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}[
            hint
        ]
        raise ValueError(f"`{where}` is {expected}. Received: {where}={value!r}")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
