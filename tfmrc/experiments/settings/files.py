"""Settings from YAML files and `--set`, with errors that name the nearest key."""

import dataclasses
import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from tfmrc.experiments.settings.experiment import Experiment, Grid, dataclass_of
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


def read_settings(path: str | Path, *overrides: str) -> Experiment:
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
    ...     read_settings(file, "training.steps=7").training.steps
    7
    """
    return read_dataclass(Experiment, path, *overrides)


def read_dataclass(kind: type[Kind], path: str | Path, *overrides: str) -> Kind:
    """Reads a YAML file as another dataclass, for a recipe with settings of its own.

    Args:
        kind: type. The dataclass.
        path: str or path. The file.
        *overrides: str. Settings by dotted name: `"threshold=1"`.

    Raises:
        ValueError: As `read_settings`.
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


def write_settings(experiment: Experiment, path: str | Path) -> None:
    """Writes an experiment as the YAML that `read_settings` reads."""
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
        ValueError: If a part of the name does not name a mapping or the entry of a list.

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
            "A setting must be NAME.NAME, with the index of an entry in a list, from 0. "
            f"Received: {name}={value!r}"
        ) from error


def _key(values: Any, key: str) -> Any:
    return int(key) if isinstance(values, list) else key


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
        kind = kind if isinstance(name, int) else dataclass_of(kind, name)
    full, where = ".".join(map(str, place)), "".join(f"{name}." for name in parents)
    known = [entry.name for entry in dataclasses.fields(kind)]
    similar = nearest(str(last), known)
    hint = f"did you mean `{where}{similar}`?" if similar else f"there are {', '.join(known)}."
    return f"There is no setting `{full}`; {hint} Received: {full}={value!r}"
