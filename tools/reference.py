"""The generated pages of the site: commands, settings, equations, public names (docs/conf.py)."""

import argparse
import importlib
import inspect
import re
from pathlib import Path

from tests import equations
from tfmrc import models
from tfmrc.cli.program import COMMANDS, parser
from tfmrc.data.formats.registry import formats
from tfmrc.evaluation.metrics.registry import registered_metrics
from tfmrc.experiments.settings.help import describe
from tfmrc.utils import markdown

ROOMS = (
    "predictors documents serving data preprocessing text models layers losses decoding ops "
    "encoders training evaluation experiments storage testing"
).split()
SETTING = re.compile(r"^  (\S+)\n        (.*?)(?: \(default: (.*)\))?$", re.MULTILINE)


def table(head: list[str], rows: list[list[object]]) -> str:
    """Returns a table in Markdown."""
    cells = ([" ".join(str(text).split()).replace("<", "&lt;") for text in row] for row in rows)
    return "\n".join(markdown.table_lines(head, cells)) + "\n"


def options(command: argparse.ArgumentParser) -> list[list[object]]:
    """Returns the rows of a command's options."""
    rows: list[list[object]] = []
    for action in command._actions:
        if "--help" not in action.option_strings and action.help != argparse.SUPPRESS:
            name = ", ".join(action.option_strings) or action.metavar or action.dest
            rows.append([f"`{name}`", action.help or ""])
    return rows


def parts_of(model: type) -> list[list[object]]:
    """Returns the rows of the methods that build a model's parts."""
    rows: list[list[object]] = []
    classes = model.__mro__[: model.__mro__.index(models.Model)]
    methods = {name: m for cls in reversed(classes) for name, m in vars(cls).items()}
    for name, method in methods.items():
        if name.startswith("build_"):
            arguments = ", ".join([*inspect.signature(method).parameters][1:])
            line = method.__doc__.splitlines()[0].removeprefix("Returns ").rstrip(".")
            rows.append([f"`{name}({arguments})`", line])
    return rows


def commands() -> str:
    """Returns the page of the commands."""
    program = parser()
    [subparsers] = [a for a in program._actions if isinstance(a, argparse._SubParsersAction)]
    parts = ["# Commands\n"]
    for command, _ in (pair for pairs in COMMANDS.values() for pair in pairs):
        name = command.__name__.rpartition(".")[2]
        summary = (command.__doc__ or "").splitlines()[0]
        rows = options(subparsers.choices[name])
        parts.append(f"\n## tfmrc {name}\n\n{summary}\n\n{table(['option', 'meaning'], rows)}")
    return "".join(parts)


def settings() -> str:
    """Returns the page of a recipe's settings, and of what they name."""
    rows: list[list[object]] = [[f"`{n}`", m, d] for n, m, d in SETTING.findall(describe())]
    parts = ["# Settings of a recipe\n\nIn YAML, or `--set NAME=VALUE`.\n\n"]
    parts.append(table(["setting", "meaning", "default"], rows))
    for title, known in (("Formats of a source", formats()), ("Metrics", registered_metrics())):
        parts.append(f"\n## {title}\n\n" + ", ".join(f"`{name}`" for name in sorted(known)) + "\n")
    parts.append("\n## Parts of the models\n")
    for model in (models.Masque, models.SAN, models.MaxoutPointerQG, models.DAANet):
        parts.append(f"\n### {model.__name__}\n\n{table(['method', 'returns'], parts_of(model))}")
    return "".join(parts)


def public_names(room: str) -> list[str]:
    """Returns the classes and functions of a room, in the order of its `__init__`."""
    module = importlib.import_module(f"tfmrc.{room}")
    names = getattr(module, "__all__", vars(module))
    values = ((name, getattr(module, name)) for name in names if name[0] != "_")
    return [name for name, value in values if inspect.isclass(value) or inspect.isroutine(value)]


def api(room: str) -> str:
    """Returns the page of a room for Sphinx, which reads the docstrings."""
    parts = [f"tfmrc.{room}\n{'=' * (6 + len(room))}\n\n.. automodule:: tfmrc.{room}\n"]
    for name in public_names(room):
        is_class = inspect.isclass(getattr(importlib.import_module(f"tfmrc.{room}"), name))
        kind = "autoclass" if is_class else "autofunction"
        parts.append(f"\n{name}\n{'-' * len(name)}\n\n.. {kind}:: tfmrc.{room}.{name}\n")
        if is_class:
            parts.append("   :members:\n")
    return "".join(parts)


def write(folder: Path) -> None:
    """Writes the generated pages of the site."""
    pages = {"commands.md": commands(), "settings.md": settings(), "equations.md": equations.page()}
    pages |= {f"{room}.rst": api(room) for room in ROOMS}
    pages["index.md"] = "# Public names\n\n```{toctree}\n" + "\n".join(ROOMS) + "\n```\n"
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
