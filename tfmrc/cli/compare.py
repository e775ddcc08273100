"""Compare two files of predictions.

Scores both, and tests every difference with a paired bootstrap. The files and options are those of
`tfmrc score`.
"""

from argparse import ArgumentParser, Namespace

from tfmrc.cli import score


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("first", help="predictions of a system, such as a baseline")
    parser.add_argument("second", help="predictions of another system")
    score.add_options(parser)


def run(options: Namespace) -> None:
    report = score.report_of(
        options, {options.first: options.first, options.second: options.second}
    )
    report.compare(options.second, options.first)
    score.show(report, options)
