"""Train a model or a grid; the same command resumes.

A run that was interrupted resumes from its last checkpoint.
"""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tfmrc.cli import prepare
from tfmrc.cli.parsing import add_shared, recipe_of


def add_arguments(parser: ArgumentParser) -> None:
    prepare.add_arguments(parser)
    parser.add_argument(
        "--fresh", action="store_true", help="rename the run to NAME.old-1 and start again"
    )
    parser.add_argument(
        "--from",
        dest="start_from",
        metavar="FOLDER",
        help="start from the model of a run, a saved predictor or a ready model",
    )
    parser.add_argument(
        "--hosts",
        metavar="N",
        help="train on N hosts, each with this command and a --rank (KERAS_BACKEND=jax); auto "
        "detects them under Slurm, Open MPI and Kubernetes",
    )
    parser.add_argument("--rank", type=int, help="with --hosts N: number of this host, from 0")
    parser.add_argument(
        "--coordinator", metavar="HOST:PORT", help="with --hosts N: a free port of host 0"
    )
    add_shared(parser, "--variants", "--seeds")


def run(options: Namespace) -> None:
    from tfmrc import experiments
    from tfmrc.predictors.ready.shipped import NAMES
    from tfmrc.training import data_parallel

    if options.hosts is not None:
        hosts = None if options.hosts == "auto" else int(options.hosts)
        data_parallel(hosts, options.rank, options.coordinator)

    changes = []
    if options.start_from is not None:
        start = options.start_from
        start = start if start in NAMES else str(Path(start).resolve())
        changes.append(f"start_from={json.dumps(start)}")
    experiment = recipe_of(options, *changes)
    places = {"data": options.data, "run": options.run}
    chosen = {"variants": options.variants, "seeds": options.seeds}
    experiments.train(experiment, **places, **chosen, fresh=options.fresh)
