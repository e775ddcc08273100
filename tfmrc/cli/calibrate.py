"""Calibrate a model's probabilities, and choose its threshold.

They are fitted to questions with answers that the model was not trained on. The model's folder, or
with --to a copy of it, gets the calibration and a report. Below the threshold the model declines.
"""

from argparse import ArgumentParser, Namespace

from tfmrc.cli.parsing import MODEL, add_shared, add_table_options, options_of, table_options


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="model", help=MODEL)
    add("--input", metavar="FILE", help="the questions; default: the held-out rows of a run")
    add(
        "--to",
        metavar="FOLDER",
        help="calibrate a copy of the model; needed for ready models and hf://",
    )
    add_table_options(parser)
    add("--precision", type=float, default=0.9, help="precision of confident answers (0.9)")
    add_shared(parser, "--option")


def run(options: Namespace) -> None:
    from tfmrc import experiments

    experiments.calibrate(
        options.run,
        options.input,
        options.to,
        precision=options.precision,
        options=options_of(options.option),
        **table_options(options),
    )
