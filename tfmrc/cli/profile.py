"""Show where the time of an answer goes.

Runs an export as TensorFlow Serving does, and shows the executed operations, the time by part of
the model, the loops with their steps, and the memory of the process.
"""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from tfmrc.cli.parsing import print_json


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("export", help="an export, such as savedmodels/masque/1")
    parser.add_argument(
        "--request",
        metavar="FILE",
        help='JSON such as {"inputs": {"question": ["Who?"], "passages": [["An owl."]]}}; default: '
        "the export's warm-up request",
    )
    parser.add_argument("--signature", default="serving_default", help="(serving_default)")
    parser.add_argument("--batch-size", type=int, help="repeat the request's rows to this number")
    parser.add_argument("--depth", type=int, default=2, help="layers in a part's name (2)")
    parser.add_argument("--repeats", type=int, default=5, help="requests to time (5)")
    parser.add_argument("--json", action="store_true", help="print all parts as JSON")


def run(options: Namespace) -> None:
    from tfmrc.serving.profiling import profile, read_request

    found = profile(
        options.export,
        None if options.request is None else read_request(options.request),
        signature=options.signature,
        batch_size=options.batch_size,
        depth=options.depth,
        repeats=options.repeats,
    )
    if options.json:
        print_json({**asdict(found), "path": str(found.path)})
    else:
        print(found)
