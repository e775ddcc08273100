"""Answer the questions of a file.

The file is a table with the columns question and passage (CSV, TSV, JSON, Parquet), JSON lines
with id, question and passages, or an official form.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tfmrc.cli.parsing import (
    MODEL,
    add_columns,
    add_imports,
    add_settings,
    columns_of,
    settings_of_run,
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", help=MODEL)
    parser.add_argument("--input", required=True, metavar="FILE", help="the questions")
    add_columns(parser)
    parser.add_argument(
        "--output", metavar="FILE", help="one prediction per line; default: standard output"
    )
    parser.add_argument("--task", help="a task or style of the model; default: the first one")
    parser.add_argument(
        "--format",
        choices=("answers", "full", "squad"),
        help="form of standard output: texts, JSON lines, or one object from id to text; default: "
        "texts on a terminal, JSON lines elsewhere",
    )
    add_settings(parser)
    add_imports(parser)


def run(options: Namespace) -> None:
    from tfmrc import experiments
    from tfmrc.experiments import run_folder
    from tfmrc.experiments.loading import override

    columns = columns_of(options.columns)
    chosen = {"task": options.task, "form": options.format, "columns": columns}
    files = (options.input, options.output)
    if run_folder.is_run(Path(options.run)):
        experiments.predict(settings_of_run(options), *files, **chosen, run=options.run)
    else:
        experiments.predict_with(options.run, *files, **chosen, options=override({}, options.set))
