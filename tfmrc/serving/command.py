"""The command `tfmrc serve`."""

import logging
import os
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from tfmrc.predictors.model_config import read_model_config
from tfmrc.serving.api_key import check_api_key
from tfmrc.serving.batching_options import BatchingOptions
from tfmrc.serving.limits import Limits
from tfmrc.utils.arguments import nearest

__all__ = ["limits_of", "serve"]

SECONDS = 0.2  # until a thread that computes nothing has ended


def serve(options: Any) -> None:
    """Serves until the process gets SIGTERM or SIGINT.

    Args:
        options: The arguments of the command.

    Raises:
        ImportError: If the extra `tfmrc[serve]` is not installed.
        ValueError: If an argument is wrong, or an export is damaged.
        OSError: If a file cannot be read, or a port is in use.
    """
    try:
        from tfmrc.serving.server import Server
    except ImportError as error:
        raise ValueError(str(error)) from error

    _write_logs(access=not options.no_access_log)
    models: Any = options.folder
    if options.models_config is not None:
        models = read_model_config(options.models_config)
    batching = None
    if options.batching_config is not None:
        batching = BatchingOptions.from_file(options.batching_config)
    server = Server(
        models,
        options.host,
        options.port,
        grpc_port=None if options.no_grpc else options.grpc_port,
        batching=batching,
        limits=limits_of(options.limit),
        poll_seconds=options.poll_seconds,
        warm_up=not options.no_warm_up,
        api_key=_api_key(options.api_key_file),
        certificate=options.certificate,
        private_key=options.private_key,
        cors_origins=options.cors_origin,
    )

    def tell() -> None:
        print(f"Models: {', '.join(server.manager.names)}")
        print(f"REST and page: {server.url}")
        if server.grpc_url is not None:
            print(f"gRPC: {server.grpc_url}")
        print("Stop with Ctrl+C.", flush=True)

    server.serve_forever(tell)
    if not server.manager.has_ended(SECONDS):
        # A request, for which nobody waits any more, is still computed. Python cannot end beside
        # TensorFlow's computation: the process would end by SIGSEGV.
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(0)


def limits_of(words: list[str]) -> Limits:
    """Returns limits from words such as `seconds=10`.

    Args:
        words: list of str. The words.

    Raises:
        ValueError: If a limit is unknown or no positive number.

    Example:

    >>> from tfmrc.serving.command import limits_of
    >>> limits_of(["seconds=10"]).seconds
    10.0
    """
    kinds: dict[str, Any] = {each.name: each.type for each in fields(Limits)}
    values: dict[str, Any] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in kinds:
            similar = nearest(name, kinds)
            hint = f"did you mean {similar}?" if similar else f"the limits are {', '.join(kinds)}."
            raise ValueError(f"There is no limit {name!r}; {hint} Received: --limit {word}")
        try:
            values[name] = kinds[name](value)
        except ValueError as error:
            raise ValueError(f"`{name}` must be a number. Received: --limit {word}") from error
    return Limits(**values)


def _api_key(path: str | None) -> str | None:
    """Returns the key of a file or of the environment; on the command line all could read it."""
    if path is None:
        key = os.environ.get("TFMRC_API_KEY")
        return check_api_key(key, "TFMRC_API_KEY") if key else None
    key = Path(path).read_text(encoding="utf-8", errors="replace").strip()
    if not key:
        raise ValueError(f"{path} holds no key.")
    return check_api_key(key, f"The key in {path}")


def _write_logs(*, access: bool) -> None:
    """Writes events as text, and requests as one JSON object per line, on standard error."""
    events = logging.StreamHandler(sys.stderr)
    events.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    requests = logging.StreamHandler(sys.stderr)
    requests.setFormatter(logging.Formatter("%(message)s"))
    for name, handler, level in (
        ("tfmrc.serving", events, logging.INFO),
        ("tfmrc.serving.access", requests, logging.INFO if access else logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
