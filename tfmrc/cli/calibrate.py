"""Make a model's probabilities true, and find its threshold.

On held-out questions with answers. The map and the report are written into the model's folder;
below the threshold an answer counts as not found.
"""

from argparse import ArgumentParser, Namespace

from tfmrc.cli.parsing import (
    MODEL,
    add_columns,
    add_imports,
    add_settings,
    columns_of,
    settings_or_options,
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="model", help=MODEL)
    parser.add_argument(
        "--input", required=True, metavar="FILE", help="questions that it was not trained on"
    )
    add_columns(parser)
    parser.add_argument(
        "--precision",
        type=float,
        default=0.9,
        metavar="P",
        help="share of the confident answers that are right, which gives the threshold (0.9)",
    )
    parser.add_argument(
        "--measure", action="store_true", help="measure the calibration on this file, write nothing"
    )
    add_settings(parser)
    add_imports(parser)


def run(options: Namespace) -> None:
    from tfmrc import experiments

    experiments.calibrate(
        options.run,
        options.input,
        precision=options.precision,
        only_measure=options.measure,
        columns=columns_of(options.columns),
        **settings_or_options(options),
    )
