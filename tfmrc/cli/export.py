"""Write a SavedModel on plain strings, for TensorFlow Serving."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tfmrc.cli.parsing import MODEL, add_shared, options_of


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", help=MODEL)
    parser.add_argument(
        "--to",
        metavar="FOLDER",
        help="FOLDER/NAME/VERSION; default: the next version in savedmodels/NAME",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a version that exists")
    parser.add_argument(
        "--serving-config",
        action="store_true",
        help="also write models.config, batching.config and compose.yaml beside the models, for "
        "TensorFlow Serving in a container",
    )
    add_shared(parser, "--option")


def run(options: Namespace) -> None:
    from tfmrc import experiments

    chosen = options_of(options.option)
    path = experiments.export(options.run, options.to, options=chosen, overwrite=options.overwrite)
    if options.serving_config:
        from tfmrc.serving import write_serving_config

        for file in write_serving_config(Path(path).parents[1], "/models"):
            print(file)
