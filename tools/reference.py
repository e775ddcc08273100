"""Writes docs/reference.md: commands, settings, formats, metrics, parts of models, from the code.

python tools/reference.py
"""

import argparse
import inspect
import re
from pathlib import Path

from tfmrc import models
from tfmrc.cli.program import COMMANDS, parser
from tfmrc.data.formats.registry import formats
from tfmrc.evaluation.metrics.registry import registered_metrics
from tfmrc.experiments.settings.help import describe

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference.md"
SETTING = re.compile(r"^  (\S+)\n        (.*?)(?: \(default: (.*)\))?$", re.MULTILINE)


def cell(text: object) -> str:
    """Returns a text as a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def table(head: list[str], rows: list[list[object]]) -> str:
    """Returns a table in Markdown."""
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(map(cell, row))} |" for row in rows)]) + "\n"


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


def page() -> str:
    """Returns the text of the page."""
    program = parser()
    [subparsers] = [a for a in program._actions if isinstance(a, argparse._SubParsersAction)]
    parts = [
        "# Reference\n\nWritten by `python tools/reference.py` from the code.\n\n## Commands\n"
    ]
    for command, _ in (pair for pairs in COMMANDS.values() for pair in pairs):
        name = command.__name__.rpartition(".")[2]
        summary = (command.__doc__ or "").splitlines()[0]
        rows = options(subparsers.choices[name])
        parts.append(f"\n### tfmrc {name}\n\n{summary}\n\n{table(['option', 'meaning'], rows)}")
    settings = [[f"`{n}`", m, d] for n, m, d in SETTING.findall(describe())]
    parts.append("\n## Settings of a recipe\n\nIn YAML, or `--set NAME=VALUE`.\n\n")
    parts.append(table(["setting", "meaning", "default"], settings))
    parts.append("\n## Formats of a source\n\n")
    parts.append(", ".join(f"`{name}`" for name in sorted(formats())) + "\n")
    parts.append("\n## Metrics\n\n")
    parts.append(", ".join(f"`{name}`" for name in sorted(registered_metrics())) + "\n")
    parts.append("\n## Parts of the models\n")
    for model in (models.Masque, models.SAN, models.MaxoutPointerQG, models.DAANet):
        parts.append(f"\n### {model.__name__}\n\n{table(['method', 'returns'], parts_of(model))}")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
