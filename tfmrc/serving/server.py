"""A server of exported models with the REST and gRPC protocols of TensorFlow Serving."""

import asyncio
import contextlib
import logging
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

try:
    import grpc
    import uvicorn

    from tfmrc.serving.grpc_services import ApiKeyInterceptor, add_services
    from tfmrc.serving.http_protocol import limited_protocol
    from tfmrc.serving.metrics import Metrics
    from tfmrc.serving.rest import rest_application
except ImportError as error:
    raise ImportError(f"{error}. Install it with `pip install tfmrc[serve]`.") from error

from tfmrc.predictors.model_config import ModelConfig, check_names_differ, find_models
from tfmrc.serving.api_key import check_api_key
from tfmrc.serving.batching_options import BatchingOptions
from tfmrc.serving.limits import Limits
from tfmrc.serving.model_manager import ModelManager, Version
from tfmrc.serving.service import Service

__all__ = ["Server"]

LOGGER = logging.getLogger("tfmrc.serving")

#: Longest pause at the start between the two looks at an export without a manifest.
START_SECONDS = 2.0
#: Time after which a server that ends looks again whether a version has been loaded.
CLOSE_SECONDS = 0.1


class Server:
    """Serves exported models with the REST and gRPC protocols of TensorFlow Serving.

    `POST /v1/models/NAME:predict` takes `{"instances": [{"question": ..., "passages": [...],
    "style": ...}, ...]}` and returns `predictions`, or takes `{"inputs": {"question": [...], ...}}`
    and returns `outputs`. `"signature_name"` selects another signature than `serving_default`.
    `GET /v1/models/NAME` returns the state, and `GET /v1/models/NAME/metadata` the signatures.
    gRPC has `PredictionService.Predict` and `GetModelMetadata`, and `ModelService.GetModelStatus`.
    See docs/serving.md for versions, labels, batches, limits, metrics and the page.

    Simultaneous requests are computed in batches. Unlike TensorFlow Serving, the server accepts
    rows with different numbers of passages.

    Args:
        models: str, path, dict or list. A folder with exports `<name>/<version>/`; or for each name
            the folder of an export (`<name>` for its newest version, or `<name>/<version>`); or
            `ModelConfig`s.
        host: str. Address to listen on. Default: "127.0.0.1", the local machine only.
        port: int. Port of REST; 0 for any free port. Default: 8501.
        grpc_port: int or None. Port of gRPC; 0 for any free port, None for no gRPC. Default: None.
        batching: `BatchingOptions` or None. Limits of the batches. Default: None.
        limits: `Limits` or None. Limits of requests and connections. Default: None.
        poll_seconds: float. Time between two looks for new versions. Default: 2.
        warm_up: bool. Whether the warm-up requests of an export run before it is served.
            Default: True.
        api_key: str or None. Key that every request must have, in printable ASCII. Default: None.
        certificate: path or None. Certificate (PEM) for TLS. Default: None.
        private_key: path or None. Key (PEM) of the certificate. Default: None.
        cors_origins: list of str. Origins of other sites whose pages may send requests.
            Default: ().

    Raises:
        FileNotFoundError: If a folder holds no SavedModel.
        ValueError: If an export is damaged, no model can be loaded, or an argument is wrong.
        OSError: If a port is in use.

    Use it as a context manager to serve in the background, or call `serve_forever`.
    """

    def __init__(
        self,
        models: str | PathLike[str] | Mapping[str, str | PathLike[str]] | Sequence[ModelConfig],
        host: str = "127.0.0.1",
        port: int = 8501,
        *,
        grpc_port: int | None = None,
        batching: BatchingOptions | None = None,
        limits: Limits | None = None,
        poll_seconds: float = 2.0,
        warm_up: bool = True,
        api_key: str | None = None,
        certificate: str | PathLike[str] | None = None,
        private_key: str | PathLike[str] | None = None,
        cors_origins: Sequence[str] = (),
    ):
        if (certificate is None) != (private_key is None):
            raise ValueError("TLS needs both `certificate` and `private_key`.")
        if api_key is not None:
            check_api_key(api_key)
        if not poll_seconds > 0:
            raise ValueError(f"`poll_seconds` must be positive. Received: {poll_seconds!r}")
        self.limits = limits or Limits()
        self.metrics = Metrics()
        self._api_key = api_key
        self._poll_seconds = poll_seconds
        self._tls = None
        if certificate is not None and private_key is not None:
            self._tls = str(certificate), str(private_key)
            _check_certificate(*self._tls)
        self.manager = ModelManager(
            _configs(models),
            batching=batching,
            warm_up=warm_up,
            on_batch=lambda name, rows: self.metrics.batches.labels(name).observe(rows),
        )
        self._socket = _listen(host, port)
        self._address = _address(*self._socket.getsockname()[:2])
        try:
            self._grpc = None if grpc_port is None else (host, _free(host, grpc_port))
            self.manager.poll()
            if self._starting():  # loaded when a second poll finds the same files
                time.sleep(min(poll_seconds, START_SECONDS))
                self.manager.poll()
            self._check_models(isinstance(models, Mapping))
        except BaseException:
            self.manager.close()
            self._socket.close()
            raise
        self.service = Service(self.manager, self.limits, self.metrics)
        application = rest_application(self.service, api_key=api_key, cors_origins=cors_origins)
        certificate_file, key_file = self._tls or (None, None)
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                application,
                http=limited_protocol(self.limits.receive_seconds),
                ws="none",
                lifespan="off",
                loop="asyncio",
                log_config=None,
                access_log=False,
                server_header=False,
                headers=[("x-content-type-options", "nosniff")],
                limit_concurrency=self.limits.connections + 1,  # uvicorn counts the new one
                timeout_graceful_shutdown=_whole(self.limits.drain_seconds),
                ssl_certfile=certificate_file,
                ssl_keyfile=key_file,
            )
        )
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        self._thread: threading.Thread | None = None
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._forced = asyncio.Event()
        self._deadline = 0.0  # of what still runs when the server stops

    @property
    def url(self) -> str:
        """The address of REST: `http://host:port`."""
        return f"{'https' if self._tls else 'http'}://{self._address}"

    @property
    def grpc_url(self) -> str | None:
        """The address of gRPC, `grpc://host:port` or `grpcs://host:port`; None without gRPC."""
        if self._grpc is None:
            return None
        return f"{'grpcs' if self._tls else 'grpc'}://{_address(*self._grpc)}"

    def __repr__(self) -> str:
        return f"<Server {self.url}: {', '.join(self.manager.names)}>"

    def serve_forever(self, on_start: Callable[[], None] | None = None) -> None:
        """Serves until the process gets SIGTERM or SIGINT, and then finishes running requests.

        Args:
            on_start: callable or None. Called when the server listens. Default: None.
        """
        asyncio.run(self._run(signals=True, on_start=on_start))

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
        """Stops accepting requests and finishes the running ones; returns at once."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended already
                self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if not self.service.stopping:
            self._deadline = time.monotonic() + self.limits.drain_seconds
        self.service.stopping = True
        self._uvicorn.should_exit = True

    def _signalled(self) -> None:
        if self.service.stopping:  # a second signal ends the process without waiting
            self._uvicorn.force_exit = True
            self._forced.set()
        self._stop()

    async def _run(self, signals: bool = False, on_start: Callable[[], None] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        if signals:
            for each in (signal.SIGTERM, signal.SIGINT):
                self._loop.add_signal_handler(each, self._signalled)
        server = None
        try:
            server = await self._start_grpc()
            self.manager.start(self._poll_seconds)
            serving = asyncio.create_task(self._uvicorn.serve(sockets=[self._socket]))
            while not (self._uvicorn.started or serving.done()):
                await asyncio.sleep(0.005)
            if serving.done():
                serving.result()  # raises the reason why it could not start
            self._started.set()
            if on_start is not None and not serving.done():
                on_start()
            while not (serving.done() or self._uvicorn.should_exit):
                await asyncio.sleep(0.05)
            stopping = [] if server is None else [self._stop_grpc(server)]
            await asyncio.gather(serving, *stopping)
        finally:
            if server is not None:
                await server.stop(None)  # if REST failed; it is stopped already otherwise
            await self._close_manager()
            self._socket.close()

    async def _start_grpc(self) -> grpc.aio.Server | None:
        if self._grpc is None:
            return None
        limits = self.limits
        interceptors = [] if self._api_key is None else [ApiKeyInterceptor(self._api_key)]
        server = grpc.aio.server(
            interceptors=interceptors,
            maximum_concurrent_rpcs=4 * limits.requests,
            options=[
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", limits.body_bytes),
                ("grpc.max_send_message_length", -1),
                ("grpc.max_concurrent_streams", limits.requests),
                ("grpc.keepalive_time_ms", 60_000),  # half-open connections are closed
                ("grpc.keepalive_timeout_ms", _whole(1000 * limits.receive_seconds)),
            ],
        )
        add_services(server, self.service)
        address = _address(*self._grpc)
        if self._tls is None:
            server.add_insecure_port(address)
        else:
            certificate, key = (Path(path).read_bytes() for path in self._tls)
            credentials = grpc.ssl_server_credentials([(key, certificate)])
            server.add_secure_port(address, credentials)
        await server.start()
        return server

    async def _stop_grpc(self, server: grpc.aio.Server) -> None:
        """Waits for the running calls, at most `drain_seconds` and until a second signal."""
        stopping = asyncio.create_task(server.stop(self.limits.drain_seconds))
        forced = asyncio.create_task(self._forced.wait())
        await asyncio.wait([stopping, forced], return_when=asyncio.FIRST_COMPLETED)
        forced.cancel()
        if self._forced.is_set():
            await server.stop(None)
        await stopping

    async def _close_manager(self) -> None:
        """Unloads the models; for a version that is being loaded it waits as for running calls."""
        while not await asyncio.to_thread(self.manager.close, CLOSE_SECONDS):
            if self._forced.is_set() or time.monotonic() > self._deadline:
                return

    def _versions(self) -> list[Version]:
        return [each for name in self.manager.known for each in self.manager.versions(name)]

    def _starting(self) -> list[Version]:
        """Returns the versions whose files may still be copied."""
        return [each for each in self._versions() if each.state == "START"]

    def _check_models(self, strict: bool) -> None:
        """Raises if nothing can be served, or a model that was named is not."""
        versions = [each for each in self._versions() if each.exception is not None]
        if versions and (strict or not self.manager.names):
            raise versions[0].exception or ValueError(versions[0].error)
        starting = self._starting()
        if starting and not self.manager.names:
            raise ValueError(
                f"{starting[0].path} is still being written: its files change. Start the server "
                "when it is complete."
            )
        if not self.manager.names:
            raise FileNotFoundError(
                "There is no export <name>/<version>/saved_model.pb to serve. Make one with "
                "`tfmrc export`."
            )


class _Uvicorn(uvicorn.Server):
    """Uvicorn without signal handlers: it would raise the signal again after a clean end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _configs(models: Any) -> Callable[[], Sequence[ModelConfig]]:
    """Returns a function that lists the models; a folder is read again each time."""
    if isinstance(models, str | PathLike):
        folder = models
        find_models(folder)  # raises if it does not exist
        return lambda: find_models(folder)
    if isinstance(models, Mapping):
        configs = [ModelConfig(name, Path(path).absolute()) for name, path in models.items()]
        for config in configs:
            if not config.found():
                raise FileNotFoundError(
                    f"There is no SavedModel in {config.path}, nor in a numbered folder below it. "
                    "Make one with `tfmrc.Predictor.export`."
                )
        return lambda: configs
    if not isinstance(models, Sequence) or not all(
        isinstance(each, ModelConfig) for each in models
    ):
        raise ValueError(
            "`models` must be a folder of exports, or a dict with the folder of an export for each "
            f'name, as in Server({{"hills": "savedmodels/hills"}}). Received: models={models!r}'
        )
    configs = list(models)
    check_names_differ(configs)
    return lambda: configs


def _check_certificate(certificate: str, private_key: str) -> None:
    """Raises a ValueError unless TLS can use the files; gRPC's own error does not name them."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, private_key)
    except OSError as error:  # of the files or, as `ssl.SSLError`, of their content
        raise ValueError(
            "TLS needs a certificate and its key in PEM files that can be read. Received: "
            f"certificate={certificate!r}, private_key={private_key!r} ({error})"
        ) from error


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise ValueError(f"A port is from 0 to 65535. Received: {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends each reply at once (TCP_NODELAY).
    server = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((host, port))
        server.listen(1024)
    except OSError as error:
        server.close()
        raise OSError(
            error.errno,
            f"Cannot listen on {host}:{port} ({error.strerror}). Choose another port, or 0 for "
            "any that is free",
        ) from error
    return server


def _free(host: str, port: int) -> int:
    """Returns the port, or a free one for 0; raises if it is in use."""
    with _listen(host, port) as found:
        number: int = found.getsockname()[1]
        return number


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _whole(number: float) -> int:
    """Returns a number of seconds or milliseconds as uvicorn and gRPC take it."""
    return max(1, round(min(number, 2**31 - 1)))
