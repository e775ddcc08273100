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
    engine = parser.add_argument_group("for OpenVINO, of a reader")
    engine.add_argument(
        "--openvino",
        action="store_true",
        help="also write OpenVINO's file of the network, which answer and serve then use",
    )
    engine.add_argument(
        "--int8", action="store_true", help="with numbers of 8 bits; needs --input and tfmrc[int8]"
    )
    engine.add_argument(
        "--input",
        metavar="FILE",
        help="questions with their passages, as of predict, of which 300 calibrate --int8",
    )


def run(options: Namespace) -> None:
    from tfmrc import experiments

    chosen = options_of(options.option)
    if options.int8 != (options.input is not None) or options.int8 > options.openvino:
        raise ValueError("--int8 needs --openvino and --input FILE, and --input needs --int8")
    path = experiments.export(
        options.run,
        options.to,
        options=chosen,
        overwrite=options.overwrite,
        openvino=options.openvino,
        int8=options.input,
    )
    if options.serving_config:
        from tfmrc.serving import write_serving_config

        for file in write_serving_config(Path(path).parents[1], "/models"):
            print(file)
