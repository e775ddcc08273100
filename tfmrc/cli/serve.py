"""Serve all exports of a folder: REST, gRPC, a page.

The protocols are those of TensorFlow Serving; the page to try the models is at the address of
REST. New versions are picked up. The server listens on this machine only, unless --host names
another address. Needs `pip install tfmrc[serve]`.
"""

from argparse import ArgumentParser, Namespace

from tfmrc.cli.parsing import add_shared


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", help="the folder of the exports NAME/VERSION (savedmodels), or a ready model")
    add_shared(parser, "--documents", "--runtime")
    add("--host", default="127.0.0.1", help="address to listen on (127.0.0.1); 0.0.0.0 for all")
    add("--port", type=int, default=8501, help="port of REST (8501); 0 for a free one")
    add("--grpc-port", type=int, default=8500, help="port of gRPC (8500); 0 for a free one")
    add("--no-grpc", action="store_true", help="serve REST only")
    add(
        "--poll-seconds",
        type=float,
        default=2.0,
        metavar="S",
        help="seconds between checks for new versions (2)",
    )
    add(
        "--api-key-file",
        metavar="FILE",
        help="file with the key that requests need; default: the variable TFMRC_API_KEY, if set",
    )
    add(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name of the server that requests may have; * for any; may be repeated",
    )
    add("--no-access-log", action="store_true", help="write no line per request")
    add(
        "--limit",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="limits of requests, such as seconds=10 body_bytes=1000000 (docs/reference/server.md)",
    )


def run(options: Namespace) -> None:
    from tfmrc.predictors.ready.shipped import NAMES, ready_exports
    from tfmrc.serving.command import serve

    if options.folder in NAMES:
        options.folder = str(ready_exports(options.folder))
    serve(options)
