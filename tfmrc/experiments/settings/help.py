"""Settings as lines of `--help` and of the reference."""

import dataclasses
import inspect
import re
from typing import Any

from tfmrc.experiments.settings.experiment import Experiment, dataclass_of


def describe() -> str:
    """Returns all settings with their defaults and meanings, for `--help`."""
    lines = ["settings (YAML, or --set NAME=VALUE):"]
    _describe(Experiment, "", lines)
    return "\n".join(lines)


def _describe(kind: Any, prefix: str, lines: list[str]) -> None:
    meanings = _meanings(kind)
    for entry in dataclasses.fields(kind):
        name, inner = f"{prefix}{entry.name}", dataclass_of(kind, entry.name)
        if inner is not None:
            _describe(inner, f"{name}.N." if entry.name == "sources" else f"{name}.", lines)
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
