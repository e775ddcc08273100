"""Write a SavedModel on plain strings, for TensorFlow Serving."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from tfmrc.cli.parsing import MODEL, add_imports, add_settings, settings_of_run


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
    add_settings(parser)
    add_imports(parser)


def run(options: Namespace) -> None:
    from tfmrc import experiments
    from tfmrc.experiments import run_folder
    from tfmrc.experiments.loading import override

    folder, target, overwrite = Path(options.run), options.to, options.overwrite
    if run_folder.is_run(folder):
        experiment = settings_of_run(options)
        path = experiments.export(experiment, options.run, target, overwrite=overwrite)
    else:
        chosen = override({}, options.set)
        name = folder.resolve().name
        path = experiments.export_predictor(
            options.run, name, target, overwrite=overwrite, options=chosen
        )
    if options.serving_config:
        from tfmrc.serving import write_serving_config

        for file in write_serving_config(Path(path).parents[1], "/models"):
            print(file)
