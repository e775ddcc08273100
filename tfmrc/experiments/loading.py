"""Settings from YAML files and `--set`, with errors that name the nearest key."""

import dataclasses
import inspect
import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import yaml
from pydantic import TypeAdapter, ValidationError

from tfmrc.experiments.settings import Experiment, Grid
from tfmrc.utils.arguments import nearest
from tfmrc.utils.files import user_path, write_text
from tfmrc.utils.run_imports import import_modules

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

    def construct_text(self, node: Any) -> str:
        """Returns a text, with the home folder for `~` at its beginning."""
        return os.path.expanduser(str(self.construct_scalar(node)))


_Loader.add_constructor("tag:yaml.org,2002:str", _Loader.construct_text)


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
    return load_settings(Experiment, path, *overrides)


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
        values = override(_read(user_path(path)), overrides)
        build: Any = from_mapping if kind is Experiment else partial(_validated, kind)
        settings: Kind = build(values)
        return settings
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


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
    import_modules(values.get("imports") or ())  # which register a user's formats and models
    experiment = _validated(Experiment, values)
    base = dataclasses.replace(experiment, grid=Grid())
    for variant, changes in experiment.grid.variants.items():
        try:
            changed(base, changes)
        except (TypeError, ValueError) as error:
            raise ValueError(f"grid.variants.{variant}: {error}") from error
    return experiment


def to_mapping(experiment: Experiment) -> dict[str, Any]:
    """Converts an experiment to plain values; the inverse of `from_mapping`."""
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(experiment), default=str))
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
        set_value(values, name, value)
    return from_mapping(values)


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
    keys, inner = name.split("."), values
    if keys[:2] == ["grid", "variants"] and len(keys) > 3:
        keys[3:] = [".".join(keys[3:])]
    *parents, last = keys
    try:
        for key in parents:
            if isinstance(inner, dict) and inner.get(key) is None:
                inner[key] = {}
            inner = inner[_key(inner, key)]
        inner[_key(inner, last)] = value
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(
            "A setting is named by its mappings and by its entries of lists, counted from 0. "
            f"Received: {name}={value!r}"
        ) from error


def _key(values: Any, key: str) -> Any:
    return int(key) if isinstance(values, list) else key


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


def _describe(kind: Any, prefix: str, lines: list[str]) -> None:
    meanings = _meanings(kind)
    for entry in dataclasses.fields(kind):
        name, inner = f"{prefix}{entry.name}", _dataclass_of(kind, entry.name)
        if inner is not None:
            _describe(inner, f"{name}.N." if entry.name == "sources" else f"{name}.", lines)
            continue
        default = ""
        if entry.default is not dataclasses.MISSING and entry.default != "":
            default = f" (default: {_shown(entry.default)})"
        lines.append(f"  {name}\n        {meanings[entry.name]}{default}")


def _dataclass_of(kind: type, name: str) -> Any:
    """Returns the dataclass of a setting, or of its entries; None for a plain value."""
    hint = get_type_hints(kind)[name]
    return next((one for one in (hint, *get_args(hint)) if dataclasses.is_dataclass(one)), None)


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


def _read(path: Path) -> dict[str, Any]:
    values = parse(path.read_text(encoding="utf-8"))
    if not isinstance(values, dict):
        raise ValueError(f"Expected settings by name. Received: {type(values).__name__}")
    parent = values.pop(EXTENDS, None)
    return values if parent is None else _merged(_read(path.parent / str(parent)), values)


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    both = dict(below)
    for key, value in above.items():
        inner = both.get(key)
        both[key] = (
            _merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
        )
    return both


def _validated(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    """Builds a dataclass from values of YAML; the first error names its setting."""
    plain = json.dumps(values, default=str)
    try:
        return TypeAdapter(kind).validate_json(plain, strict=True)
    except ValidationError as wrong:
        error = wrong.errors(include_url=False)[0]
    name, value = ".".join(map(str, error["loc"])), error["input"]
    if error["type"] == "missing":
        message = f"The setting `{name}` is missing."
    elif error["type"] == "unexpected_keyword_argument":
        message = _unknown(kind, error["loc"], value)
    elif error["type"] == "value_error":
        message = ": ".join(filter(None, (name, str(error["ctx"]["error"]))))
    else:
        message = f"`{name or 'settings'}`: {error['msg']}. Received: {name}={value!r}"
    raise ValueError(message)


def _unknown(kind: Any, place: tuple[int | str, ...], value: Any) -> str:
    """Returns the message for a setting that does not exist, with the nearest one."""
    *parents, last = place
    for name in parents:
        kind = kind if isinstance(name, int) else _dataclass_of(kind, name)
    full, where = ".".join(map(str, place)), "".join(f"{name}." for name in parents)
    known = [entry.name for entry in dataclasses.fields(kind)]
    similar = nearest(str(last), known)
    hint = f"did you mean `{where}{similar}`?" if similar else f"there are {', '.join(known)}."
    return f"There is no setting `{full}`; {hint} Received: {full}={value!r}"
