"""Answer the questions of a file.

The file is a table with the columns question and passage (CSV, TSV, JSON, Parquet), JSON lines
with id, question and passages, or an official form. Nothing but these is read. A broken record
makes the exit status 1.
"""

from argparse import ArgumentParser, Namespace

from tfmrc.cli.parsing import (
    MODEL,
    add_columns,
    add_imports,
    add_on_error,
    add_options,
    columns_of,
    options_of,
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
    add_on_error(parser, "skip", "stop, or write its error in place of an answer (the default)")
    add_options(parser)
    add_imports(parser)


def run(options: Namespace) -> int:
    from tfmrc import experiments

    errors = experiments.predict(
        options.run,
        options.input,
        options.output,
        task=options.task,
        form=options.format,
        columns=columns_of(options.columns),
        on_error=options.on_error,
        options=options_of(options.option),
    )
    return 1 if errors else 0
