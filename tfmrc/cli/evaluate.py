"""Answer the test questions and score the answers.

Writes metrics.json, report.md and figures for a run or a grid. The data is that of the training
unless --data names another. With --input, any model is scored on the questions of a file.
"""

from argparse import ArgumentParser, Namespace

from tfmrc.cli.parsing import (
    MODEL,
    add_shared,
    add_table_options,
    options_of,
    settings_of_run,
    table_options,
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", help=f"a run or a grid; with --input, {MODEL}")
    parser.add_argument("--input", metavar="FILE", help="score on the questions of this file")
    parser.add_argument(
        "--output", metavar="FOLDER", help="with --input: write the report here; default: print it"
    )
    parser.add_argument(
        "--rules",
        help="with --input: rules of scoring, such as plain (the default), squad (only exact match "
        "and F1) or narrativeqa",
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help="at most N questions, drawn by id (evaluation.limit)"
    )
    add_table_options(parser, "stop, or leave it out; default: as the run's recipe says, else stop")
    add_shared(parser, "--data", "--variants", "--seeds", "--option", "--set")


def run(options: Namespace) -> int:
    from tfmrc import experiments
    from tfmrc.experiments.steps.evaluate import verdict
    from tfmrc.experiments.tables.reading import with_table_options

    on_file = options.input is not None
    of_run, of_file = ("data", "variants", "seeds", "set"), ("output", "rules")
    for name in of_run if on_file else of_file:
        if getattr(options, name):
            goes = "cannot be combined with" if on_file else "needs"
            raise ValueError(f"--{name} {goes} --input FILE. Received: {getattr(options, name)}")
    if on_file:
        experiments.evaluate_file(
            options.run,
            options.input,
            options.output,
            rules=options.rules or "plain",
            limit=options.limit,
            options=options_of(options.option),
            **table_options(options),
        )
        return 0
    if options.limit is not None:
        options.set = [*options.set, f"evaluation.limit={options.limit}"]
    settings = with_table_options(settings_of_run(options), **table_options(options))
    reports = experiments.evaluate_run(
        options.run,
        settings=settings,
        data=options.data,
        variants=options.variants,
        seeds=options.seeds,
    )
    lines, reached = verdict(settings, reports)
    print("\n".join(lines), end="\n" if lines else "")
    return 0 if reached else 1
