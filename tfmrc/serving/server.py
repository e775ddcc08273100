"""A server of exported models with the REST and gRPC protocols of TensorFlow Serving."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path

from tfmrc.utils.optional import optional_import

with optional_import("tfmrc[serve]"):
    import grpc
    import uvicorn

    from tfmrc.serving.client import LOOPBACK
    from tfmrc.serving.documents import ServedDocuments
    from tfmrc.serving.grpc_services import add_services
    from tfmrc.serving.metrics import Metrics
    from tfmrc.serving.rest import rest_application

from tfmrc.predictors.exported.versions import find_models, newest_version
from tfmrc.predictors.openvino import Runtime
from tfmrc.serving.limits import Limits
from tfmrc.serving.model_manager import ModelManager
from tfmrc.serving.service import Service


class Server:
    """Serves exported models with the REST and gRPC protocols of TensorFlow Serving.

    `POST /v1/models/NAME:predict` takes `{"instances": [{"question": ..., "passages": [...],
    "style": ...}, ...]}` and returns `predictions`, or takes `{"inputs": {"question": [...], ...}}`
    and returns `outputs`. `"signature_name"` selects another signature than `serving_default`.
    `GET /v1/models/NAME` returns the state, and `GET /v1/models/NAME/metadata` the signatures.
    gRPC has `PredictionService.Predict` and `GetModelMetadata`, and `ModelService.GetModelStatus`.
    See docs/how-to/serving.md for versions, batches, limits, metrics and the page.

    Simultaneous requests are computed in batches. The rows of a batch may have different numbers of
    passages, unlike in TensorFlow Serving.

    Args:
        models: str, path or dict. A folder with exports `<name>/<version>/`; or for each name the
            folder of an export (`<name>` for its newest version, or `<name>/<version>`).
        host: str. Address to listen on. Default: "127.0.0.1", the local machine only.
        port: int. Port of REST; 0 for any free port. Default: 8501.
        grpc_port: int or None. Port of gRPC; 0 for any free port, None for no gRPC. Default: None.
        limits: `Limits` or None. Limits of requests, batches and connections. Default: None.
        poll_seconds: float. Time between checks for new versions. Default: 2.
        api_key: str or None. Key that every request must have. Default: None.
        allowed_hosts: list of str. Host names that REST requests may use, besides the server's
            address and `localhost`; `"*"` for any. Default: ().
        documents: str, path or None. An index of documents, as of `tfmrc.documents.open_store`, to
            answer from: `POST /v1/documents:answer` takes `{"question": ...}`. Default: None.
        runtime: str. What computes the models, as of `tfmrc.load`. Default: "auto".

    Raises:
        FileNotFoundError: If a folder holds no SavedModel, or there is no index.
        ValueError: If an export or the index is damaged, or an argument is invalid.
        OSError: If the port is in use.

    Use it as a context manager to serve in the background, or call `serve_forever`.
    """

    def __init__(
        self,
        models: str | PathLike[str] | Mapping[str, str | PathLike[str]],
        host: str = "127.0.0.1",
        port: int = 8501,
        *,
        grpc_port: int | None = None,
        limits: Limits | None = None,
        poll_seconds: float = 2.0,
        api_key: str | None = None,
        allowed_hosts: Sequence[str] = (),
        documents: str | PathLike[str] | None = None,
        runtime: Runtime = "auto",
    ):
        if api_key is not None and not api_key.strip():  # every request would match it
            raise ValueError("`api_key` must not be empty; None serves without a key.")
        self.limits = limits or Limits()
        self.grpc_url: str | None = None
        self._host = host
        self._grpc_port = grpc_port
        self._poll_seconds = poll_seconds
        metrics = Metrics()
        self.manager = ModelManager(_folders(models), self.limits, metrics, runtime)
        self.service = Service(self.manager, self.limits, metrics, api_key)
        self.documents = None if documents is None else ServedDocuments(documents, self.service)
        self._socket = _listen(host, port)
        self.url = f"http://{_address(host, self._socket.getsockname()[1])}"
        try:
            self._load(strict=isinstance(models, Mapping))
        except BaseException:
            self.manager.close()
            self._socket.close()
            raise
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                rest_application(self.service, (host, *LOOPBACK, *allowed_hosts), self.documents),
                http="h11",  # limits headers to 64 KiB, unlike httptools
                ws="none",
                lifespan="off",
                loop="asyncio",
                log_config=None,
                access_log=False,
                server_header=False,
                headers=[("x-content-type-options", "nosniff")],
                timeout_graceful_shutdown=max(1, round(self.limits.drain_seconds)),
            )
        )
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        self._thread: threading.Thread | None = None
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"<Server {self.url}: {', '.join(self.manager.names)}>"

    def _load(self, *, strict: bool) -> None:
        """Loads the models; raises if none is served, or if `strict` and one is refused."""
        self.manager.poll()
        if any(version.state == "START" for version in self.manager.versions()):
            # Without a manifest: it is loaded if its files do not change.
            time.sleep(min(self._poll_seconds, 2.0))
            self.manager.poll()
        refused = [version for version in self.manager.versions() if version.error]
        if refused and (strict or not self.manager.names):
            raise ValueError(f"{refused[0].name} is not served: {refused[0].error}")
        if not self.manager.names:
            raise FileNotFoundError(
                "There is no complete export <name>/<version>/saved_model.pb to serve; "
                "`tfmrc export` writes one."
            )

    def serve_forever(self, on_start: Callable[[], None] | None = None) -> None:
        """Serves until SIGTERM or SIGINT, and then finishes the running requests.

        After SIGTERM the server still answers for `Limits.grace_seconds`, but is not ready. A
        second signal ends the process immediately, with status 0. Call it in the main thread.

        Args:
            on_start: callable or None. Called when the server listens. Default: None.
        """
        with self:  # in another thread, where uvicorn does not handle signals
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._signalled)
            if on_start is not None:
                on_start()
            if self._thread is not None:
                self._thread.join()
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> "Server":
        def work() -> None:
            try:
                asyncio.run(self._run())
            except BaseException as error:
                self._failure = error
            finally:
                self._started.set()

        self._thread = threading.Thread(target=work, name="tfmrc-server", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join()

    def stop(self) -> None:
        """Stops accepting requests and finishes the running ones; returns immediately."""
        self.service.stopping = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended already
                self._loop.call_soon_threadsafe(setattr, self._uvicorn, "should_exit", True)

    def _signalled(self, number: int, _: object) -> None:
        if self.service.stopping:
            end_process()
        self.service.stopping = True  # a load balancer reads it from /readyz
        grace = self.limits.grace_seconds if number == signal.SIGTERM else 0.0
        threading.Timer(grace, self.stop).start()

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        server = None
        try:
            if self._grpc_port is not None:
                server = await self._start_grpc(self._grpc_port)
            self.manager.start(self._poll_seconds)
            serving = asyncio.create_task(self._uvicorn.serve(sockets=[self._socket]))
            while not (self._uvicorn.started or serving.done()):
                await asyncio.sleep(0.005)
            if self._uvicorn.started:
                self._started.set()
            while not (serving.done() or self._uvicorn.should_exit):
                await asyncio.sleep(0.05)
            stopping = [] if server is None else [server.stop(self.limits.drain_seconds)]
            await asyncio.gather(serving, *stopping)
        finally:
            if server is not None:
                await server.stop(None)  # if REST failed; otherwise it has stopped already
            await asyncio.to_thread(self.manager.close, self.limits.drain_seconds)
            self._socket.close()
            if self.documents is not None:
                self.documents.close()

    async def _start_grpc(self, port: int) -> grpc.aio.Server:
        limits = self.limits
        server = grpc.aio.server(
            options=[
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", limits.body_bytes),
                ("grpc.max_send_message_length", -1),
                ("grpc.max_concurrent_streams", limits.requests),
                ("grpc.http2.bdp_probe", 0),  # a message waits at the client until it is read
                ("grpc.keepalive_time_ms", 60_000),  # half-open connections are closed
                ("grpc.keepalive_timeout_ms", round(1000 * limits.receive_seconds)),
            ]
        )
        add_services(server, self.service)
        address = _address(self._host, port)
        self.grpc_url = f"grpc://{_address(self._host, server.add_insecure_port(address))}"
        await server.start()
        return server


def end_process() -> None:
    """Ends the process with status 0.

    A normal exit while TensorFlow computes in another thread would end with SIGSEGV.
    """
    logging.shutdown()
    os._exit(0)


def _folders(
    models: str | PathLike[str] | Mapping[str, str | PathLike[str]],
) -> Callable[[], Mapping[str, Path]]:
    """Returns a function that lists the models; a folder is read again each time."""
    if isinstance(models, Mapping):
        folders = {name: Path(path).absolute() for name, path in models.items()}
        for path in folders.values():
            newest_version(path)  # raises if there is none
        return lambda: folders
    find_models(models)  # raises if it does not exist
    return lambda: find_models(models)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        server = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        error.add_note(f"If another program listens there, use `--port {port + 1}`.")
        raise
    # Reopened, it knows its protocol, and asyncio sets TCP_NODELAY.
    return socket.socket(fileno=server.detach())


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
