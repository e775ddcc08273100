"""The command `tfmrc serve`."""

import logging
import os
import resource
import sys
from argparse import Namespace
from dataclasses import fields
from pathlib import Path
from typing import Any

from tfmrc.serving.limits import Limits
from tfmrc.utils.arguments import suggestion


def serve(options: Namespace) -> None:
    """Serves until SIGTERM or SIGINT, and ends the process.

    Args:
        options: The arguments of the command.

    Raises:
        ImportError: If the extra `tfmrc[serve]` is not installed.
        ValueError: If an argument is invalid, or an export is damaged.
        OSError: If a file cannot be read, or a port is in use.
    """
    from tfmrc.serving.server import Server, end_process

    _write_logs(access=not options.no_access_log)
    key = os.environ.get("TFMRC_API_KEY") or None  # other users can read a command line
    if options.api_key_file is not None:
        key = Path(options.api_key_file).read_text(encoding="utf-8").strip()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each connection takes a file
    server = Server(
        options.folder,
        options.host,
        options.port,
        grpc_port=None if options.no_grpc else options.grpc_port,
        limits=limits_of(options.limit),
        poll_seconds=options.poll_seconds,
        api_key=key,
        allowed_hosts=options.allowed_host,
        documents=options.documents,
        runtime=options.runtime,
    )

    def print_addresses() -> None:
        print(f"Models: {', '.join(server.manager.names)}")
        if server.documents is not None:
            print(f"Documents: {server.documents.name}")
        print(f"REST and page: {server.url}")
        if server.grpc_url is not None:
            print(f"gRPC: {server.grpc_url}")
        print("Stop with Ctrl+C.", flush=True)

    server.serve_forever(print_addresses)
    end_process()


def limits_of(words: list[str]) -> Limits:
    """Returns limits from words such as `seconds=10`.

    Args:
        words: list of str. The words.

    Raises:
        ValueError: If a limit is unknown, or its value is not a number.

    Example:

    >>> from tfmrc.serving.command import limits_of
    >>> limits_of(["seconds=10"]).seconds
    10.0
    """
    types: dict[str, Any] = {field.name: field.type for field in fields(Limits)}
    values = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in types:
            names = ", ".join(types) + suggestion(name, types)
            raise ValueError(f"The limits are {names} Received: --limit {word}")
        values[name] = types[name](value)
    return Limits(**values)


def _write_logs(*, access: bool) -> None:
    """Writes events as text, and requests as one JSON object per line, on standard error."""
    for name, line, level in (
        ("tfmrc.serving", "%(asctime)s %(levelname)s %(message)s", logging.INFO),
        ("tfmrc.serving.access", "%(message)s", logging.INFO if access else logging.WARNING),
    ):
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter(line))
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
