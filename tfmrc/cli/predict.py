"""Answer the questions of a file.

The file is a table with the columns question and passage (CSV, TSV, JSON, Excel, Parquet), JSON
lines with id, question and passages, or the form of a dataset. A model that asks also takes a
table of passages without questions. With `--documents` only questions are read, and every answer
comes with its place. After a broken record the exit status is 1.
"""

import sys
from argparse import ArgumentParser, Namespace

from tfmrc.cli.parsing import MODEL, add_shared, add_table_options, options_of, table_options


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="ready", help=f"{MODEL}; default: ready")
    parser.add_argument(
        "--input", required=True, metavar="FILE", help="the questions; many files with --engine ray"
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="one prediction per line (.jsonl), or a new table with all columns of the input "
        "(.csv, .tsv, .xlsx), which init reads again; default: standard output",
    )
    parser.add_argument(
        "--sort", action="store_true", help="in a table, the least certain answers first"
    )
    parser.add_argument("--task", help="a task or style of the model; default: the first one")
    parser.add_argument(
        "--format",
        choices=("answers", "full", "squad"),
        help="form of standard output: texts, JSON lines, or one object from id to text; default: "
        "texts on a terminal, JSON lines elsewhere (with --engine ray: full, or else Parquet)",
    )
    add_table_options(parser, "stop, or write its error in place of an answer (the default)")
    add_shared(parser, "--documents", "--option", "--runtime")
    ray = parser.add_argument_group("on several machines, into a folder of Parquet or JSON lines")
    ray.add_argument("--engine", choices=("ray",), help="Ray Data; needs tfmrc[ray]")
    ray.add_argument("--address", help="the cluster, such as auto; default: one on this machine")
    ray.add_argument("--actors", type=int, metavar="N", help="default: as many as fit")
    ray.add_argument("--cpus-per-actor", type=float, default=1, metavar="N", help="default: 1")
    ray.add_argument("--gpus-per-actor", type=float, default=0, metavar="N", help="default: 0")


def run(options: Namespace) -> int:
    if options.engine:
        return _run_ray(options)
    from tfmrc import experiments

    errors = experiments.predict(
        options.run,
        options.input,
        options.output,
        options=options_of(options.option),
        task=options.task,
        form=options.format,
        sort=options.sort,
        documents=options.documents,
        runtime=options.runtime,
        **table_options(options),
    )
    return 1 if errors else 0


def _run_ray(options: Namespace) -> int:
    if options.documents is not None or options.runtime != "auto":
        raise ValueError("--engine ray reads passages; it takes no --documents and no --runtime")
    try:
        from tfmrc.integrations.ray import predict
    except ImportError as error:
        raise ImportError("--engine ray needs Ray: pip install tfmrc[ray]") from error
    if not options.output:
        raise ValueError("--engine ray writes a folder: add --output FOLDER")
    errors = predict(
        options.run,
        options.input,
        options.output,
        task=options.task,
        **table_options(options),
        lines=options.format == "full",
        address=options.address,
        actors=options.actors,
        cpus_per_actor=options.cpus_per_actor,
        gpus_per_actor=options.gpus_per_actor,
        options=options_of(options.option),
    )
    if errors:
        print(f"{errors:,} rows have an error in place of an answer.", file=sys.stderr)
    return 1 if errors else 0
