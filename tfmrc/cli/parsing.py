"""The parser of a command, which names the nearest flag, and the options of several commands."""

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tfmrc.utils.arguments import nearest

MODEL = (
    "a run, a saved predictor, a ready model (ready, ready-san, ...), or a Hugging Face reader "
    "(hf://owner/name)"
)


class Parser(argparse.ArgumentParser):
    """A parser that suggests the nearest flag for one that does not exist.

    The help of a command with `--set` lists all settings.
    """

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """Adds an argument; in those of files and folders `~` is the home folder."""
        if names[0][0] != "-" or options.get("metavar") in ("FILE", "FOLDER"):
            options.setdefault("type", os.path.expanduser)
        return super().add_argument(*names, **options)

    def format_help(self) -> str:
        text = super().format_help()
        if "--set" in self._option_string_actions:
            from tfmrc.experiments.settings.help import describe

            text += f"\n{describe()}\n"
        return text

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        options, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:  # the parser of a command, which knows its flags
            self.error(self._unknown(unknown))
        return options, unknown

    def _unknown(self, words: Sequence[str]) -> str:
        flag, _, value = words[0].partition("=")
        if "." in flag and flag.startswith("--"):
            value = value or (words[1] if len(words) > 1 else "VALUE")
            return f"a setting is given as `--set {flag[2:]}={value}`. Received: {words[0]}"
        known = [name for name in self._option_string_actions if name.startswith("--")]
        similar = nearest(flag, known)
        hint = f"did you mean {similar}?" if similar else f"the flags are {', '.join(known)}."
        return f"there is no argument {words[0]}; {hint}"


NAMED_VALUES: dict[str, Any] = dict(nargs="+", action="extend", default=[], metavar="NAME=VALUE")
OPTION = (
    "an option of the model's reading or decoding, such as num_beams=4 or min_probability=0.5; a "
    "wrong name prints the list"
)
INDEX = "an index of documents, written by `tfmrc index`"
IMPORT = "import a module that registers your own models, formats or metrics; may be repeated"
RUNTIME = (
    "what computes a reader; auto, the default: OpenVINO, where it is installed and saves time; "
    "in `answer` of exports that were written for it only"
)
SHARED: dict[str, dict[str, Any]] = {  # the options of several commands
    "--set": dict(**NAMED_VALUES, help="change settings, such as training.epochs=3"),
    "--option": dict(**NAMED_VALUES, help=OPTION),
    "--data": dict(metavar="FOLDER", help="the data folder; default: the variable TFMRC_DATA"),
    "--variants": dict(nargs="+", metavar="NAME", help="variants of a grid; default: all"),
    "--seeds": dict(nargs="+", type=int, metavar="N", help="seeds of a grid; default: all"),
    "--documents": dict(metavar="FILE", type=os.path.expanduser, help=INDEX),
    "--runtime": dict(choices=("tensorflow", "openvino", "auto"), default="auto", help=RUNTIME),
    "--import": dict(action="append", default=[], dest="imports", metavar="MODULE", help=IMPORT),
}


def add_shared(parser: Any, *names: str) -> None:
    """Adds options of several commands to a parser, or a group of it, by their names."""
    for name in names:
        parser.add_argument(name, **SHARED[name])


def add_table_options(
    parser: argparse.ArgumentParser, broken: str = "stop (the default), or leave it out"
) -> None:
    """Adds `--columns`, `--blank-answers` and `--on-error`; see `table_options`.

    Args:
        parser: The parser.
        broken: str. What `--on-error` does at a broken row.
    """
    parser.add_argument(
        "--columns",
        nargs="+",
        metavar="FIELD=COLUMN",
        help="the columns of a table, such as question=Frage passages=Text1,Text2; one column per "
        "style: answers.short=COLUMN answers.long=COLUMN",
    )
    parser.add_argument(
        "--blank-answers",
        choices=("unknown", "none"),
        help="what a blank answer means: unknown (the row is left out), or none (there is no "
        "answer); default: as in the training of a run, else unknown",
    )
    parser.add_argument("--on-error", choices=("raise", "skip"), help=f"at a broken row: {broken}")


def table_options(options: argparse.Namespace) -> dict[str, Any]:
    """Returns the options of reading tables: `columns`, `blank_answers` and `on_error`."""
    return {
        "columns": columns_of(options.columns),
        "blank_answers": options.blank_answers,
        "on_error": options.on_error,
    }


def columns_of(words: Sequence[str] | None) -> dict[str, Any]:
    """Returns the columns that `--columns` names.

    Example:

    >>> columns_of(["question=Frage", "passages=A,B", "answers.short=kurz"])
    {'question': 'Frage', 'passages': ['A', 'B'], 'answers': {'short': 'kurz'}}
    """
    columns: dict[str, Any] = {}
    for word in words or ():
        name, _, column = word.partition("=")
        if not column:
            raise ValueError(f"Columns are given as question=COLUMN. Received: --columns {word}")
        field, _, style = name.partition(".")
        if style:
            columns.setdefault(field, {})[style] = column
        else:
            columns[field] = column.split(",") if "," in column else column
    return columns


def recipe_of(options: argparse.Namespace, *changes: str) -> Any:
    """Returns the experiment of a recipe with the changes and the modules of a command."""
    from tfmrc import experiments
    from tfmrc.experiments.tables.reading import with_table_options

    experiment = experiments.read_settings(
        experiments.find_recipe(options.recipe), *options.set, *changes
    )
    modules = dict.fromkeys((*experiment.imports, *options.imports))  # the run remembers them
    experiment = replace(experiment, imports=tuple(modules))
    return with_table_options(experiment, **table_options(options))


def options_of(words: Sequence[str]) -> dict[str, Any]:
    """Returns the options that `--option` gives."""
    from tfmrc.experiments.settings import override

    return override({}, words)


def settings_of_run(options: argparse.Namespace) -> Any:
    """Returns the settings of the run that a command names, changed by `--set` and `--option`.

    Raises:
        ValueError: If the folder is not a run.
    """
    from tfmrc import experiments
    from tfmrc.experiments import run_folder

    folder = Path(options.run)
    if not run_folder.is_run(folder):
        from tfmrc.predictors.load import models_near

        raise ValueError(
            f"{folder} is not a run: `tfmrc train RECIPE` makes one. To score another model, add "
            f"--input FILE.{models_near(folder)} Received: {options.run}"
        )
    chosen = (f"evaluation.options.{word}" for word in options.option)
    return experiments.read_settings(folder / run_folder.CONFIG, *options.set, *chosen)


def passage(word: str) -> str:
    """Returns a passage given on the command line, which must not be the name of a file."""
    if os.path.isfile(os.path.expanduser(word)):
        raise argparse.ArgumentTypeError(
            f"{word} is a file, and --passage takes the text itself; use --passage-file {word}"
        )
    return utf8(word)


def text_of_file(path: str) -> str:
    """Returns the text of a file that the command line names."""
    try:
        return Path(path).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(f"{path} cannot be read: {error}") from error


def utf8(word: str) -> str:
    """Returns an argument of the command line; bytes that are not UTF-8 become U+FFFD.

    Python gives them as lone surrogates, which cannot be encoded.
    """
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", word)
