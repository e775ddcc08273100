"""The REST API of TensorFlow Serving as an ASGI application."""

import asyncio
import re
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from google.protobuf import json_format
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from tensorflow_serving.apis import get_model_metadata_pb2

from tfmrc.predictors.exported.errors import RequestError
from tfmrc.predictors.exported.signature import SavedModel
from tfmrc.serving import page
from tfmrc.serving.lane import Arrays
from tfmrc.serving.rest_values import PredictRequest, json_of, reply_of
from tfmrc.serving.service import Call, Service, unexpected

__all__ = ["rest_application"]

METRICS_PATH = "/monitoring/prometheus/metrics"
HEALTH_PATHS = ("/healthz", "/readyz")
OPEN_PATHS = ("/", "/openapi.json")  # and the files of the page
REQUEST_ID = re.compile(r"[\w.:-]{1,128}")

Handler = Callable[[Request, Call], Awaitable[Response]]


def rest_application(service: Service, hosts: Sequence[str]) -> Starlette:
    """Returns the ASGI application of a server.

    Args:
        service: `Service`. Processes the requests.
        hosts: list of str. Names of the server that requests may have; `"*"` for any.
    """
    rest = _Rest(service)
    routes = [
        Route("/", page.index),
        Route("/page/{file:path}", page.file),
        Route("/openapi.json", page.openapi),
        Route("/healthz", rest.live),
        Route("/readyz", rest.is_ready),
        Route(METRICS_PATH, rest.metrics),
        Route("/v1/models", rest.tracked("models", rest.models)),
    ]
    for path in ("/v1/models/{name}", "/v1/models/{name}/versions/{version:int}"):
        routes += [
            Route(path, rest.tracked("status", rest.status)),
            Route(f"{path}/metadata", rest.tracked("metadata", rest.metadata)),
            Route(f"{path}:predict", rest.tracked("predict", rest.predict), methods=["POST"]),
        ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(_Guard, service=service, hosts=frozenset(hosts))],
        exception_handlers={HTTPException: _http_error},
    )


class _Guard:
    """Refuses requests without the key, pages of other sites, and names that are not the server's.

    A site whose name is resolved to this address would otherwise pass as the server's own page.
    """

    def __init__(self, app: ASGIApp, service: Service, hosts: frozenset[str]):
        self.app = app
        self.service = service
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self.app
        try:
            if scope["type"] == "http" and scope["path"] not in HEALTH_PATHS:
                self._check(scope["path"], Headers(scope=scope))
        except RequestError as error:
            call = _call(Request(scope), "refused")
            with self.service.record(call):
                call.refuse(error)
            app = _refusal(error)
        await app(scope, receive, send)

    def _check(self, path: str, headers: Headers) -> None:
        host, origin = headers.get("host", ""), headers.get("origin")
        name = re.sub(r":\d*$", "", host).strip("[]").lower()
        if not self.hosts & {name, "*"}:
            raise RequestError(
                "The server does not have this name (--allowed-host).", 403, reason="host"
            )
        if origin is not None and origin.partition("://")[2] != host:
            raise RequestError(
                "Pages of other sites may not use this server.", 403, reason="origin"
            )
        if path not in OPEN_PATHS and not path.startswith("/page/"):
            self.service.check_key(headers)


def _call(request: Request, method: str) -> Call:
    call = Call("REST", method, client=request.client.host if request.client else "")
    given = request.headers.get("x-request-id", "")
    call.id = given if REQUEST_ID.fullmatch(given) else call.id
    return call


class _Rest:
    def __init__(self, service: Service):
        self.service = service
        self.manager = service.manager

    def tracked(self, method: str, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Returns an endpoint with a line in the access log, whose errors are JSON."""

        async def endpoint(request: Request) -> Response:
            call = _call(request, method)
            with self.service.record(call):
                refused: RequestError | None = None
                try:
                    reply = await handler(request, call)
                except RequestError as error:
                    refused = error.with_traceback(None)  # whose frames hold the request
                except asyncio.CancelledError:
                    if not self.service.stopping:
                        raise
                    refused = RequestError("The server is stopping.", 503, reason="stopping")
                except ClientDisconnect:
                    refused = RequestError("The client has left.", 499, reason="client left")
                except Exception as error:  # one bad request must not end the server
                    refused = unexpected(error)
                if refused is not None:
                    call.refuse(refused)
                    reply = _refusal(refused)
                reply.headers["x-request-id"] = call.id
                call.bytes_out = len(reply.body)
            return reply

        return endpoint

    async def predict(self, request: Request, call: Call) -> Response:
        in_rows = False

        def read(model: SavedModel) -> tuple[str, Arrays]:
            nonlocal in_rows
            parsed = PredictRequest.parse(body, self.service.limits)
            in_rows = parsed.in_rows
            signature = model.signature(parsed.signature)
            return parsed.signature, parsed.arrays(signature, self.service.limits)

        with self.service.buffer() as add:
            body = await self._body(request, add)
            call.bytes_in = len(body)
            work = self.service.predict(call, read=read, **request.path_params)
            outputs = await _unless_left(request, work)
        return _json(await asyncio.to_thread(reply_of, outputs, in_rows))

    async def status(self, request: Request, call: Call) -> Response:
        name, number = request.path_params["name"], request.path_params.get("version")
        entries = [
            {
                "version": str(version.number),
                "state": version.state,
                "status": {
                    "error_code": "UNKNOWN" if version.error else "OK",
                    "error_message": version.error,
                },
            }
            for version in self.manager.versions(name, number)
        ]
        call.model = name
        return _json(json_of({"model_version_status": entries}))

    async def metadata(self, request: Request, call: Call) -> Response:
        name, number = request.path_params["name"], request.path_params.get("version")
        with self.manager.use(name, number) as version:
            call.model, call.version = name, version.number
            content = json_format.MessageToDict(
                get_model_metadata_pb2.SignatureDefMap(
                    signature_def=version.loaded.model.signature_defs
                ),
                preserving_proto_field_name=True,
                always_print_fields_with_no_presence=True,
            )
        spec = {"name": name, "signature_name": "", "version": str(version.number)}
        return _json(json_of({"model_spec": spec, "metadata": {"signature_def": content}}))

    async def models(self, request: Request, call: Call) -> Response:
        """Lists the models with what the page and the clients need; not in TensorFlow Serving."""
        entries = []
        for name in self.manager.names:
            with suppress(RequestError), self.manager.use(name) as version:  # unless it went away
                entries.append(page.described(name, version))
        return _json(json_of({"models": entries}))

    async def live(self, request: Request) -> Response:
        return PlainTextResponse("live\n")

    async def is_ready(self, request: Request) -> Response:
        ready = self.service.is_ready
        return PlainTextResponse("ready\n" if ready else "not ready\n", 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:
        content_type = "text/plain; version=0.0.4; charset=utf-8"
        return Response(self.service.metrics.text(), headers={"content-type": content_type})

    async def _body(self, request: Request, add: Callable[[int], None]) -> bytes:
        limits = self.service.limits
        coding = request.headers.get("content-encoding", "identity")
        if coding not in ("identity", "gzip"):
            raise RequestError("The body may be compressed by gzip only.", 415)
        error = RequestError(
            f"The body must have at most {limits.body_bytes:,} bytes.", 413, reason="size"
        )
        if int(request.headers.get("content-length", 0)) > limits.body_bytes:
            raise error
        chunks, received = [], 0
        try:
            async with asyncio.timeout(limits.receive_seconds):
                async for chunk in request.stream():
                    received += len(chunk)
                    if received > limits.body_bytes:
                        raise error
                    add(len(chunk))
                    chunks.append(chunk)
        except TimeoutError:
            raise RequestError(
                f"The body did not arrive within {limits.receive_seconds:g} s.", 408, reason="slow"
            ) from None
        body = b"".join(chunks)
        if coding == "gzip":
            packed = zlib.decompressobj(wbits=31)
            try:
                body = packed.decompress(body, limits.body_bytes + 1)
            except zlib.error as wrong:
                raise RequestError(f"The body is not compressed by gzip: {wrong}") from wrong
            if len(body) > limits.body_bytes:
                raise error
            if not packed.eof:
                raise RequestError("The end of the compressed body is missing.")
            add(len(body))
        return body


async def _unless_left(request: Request, work: Coroutine[Any, Any, Arrays]) -> Arrays:
    """Returns the result of work, which is cancelled when the client closes the connection."""

    async def left() -> None:
        message = ""
        while message != "http.disconnect":
            message = (await request.receive())["type"]

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(left())
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


def _json(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, media_type="application/json")


def _refusal(error: RequestError) -> Response:
    headers = {
        401: {"www-authenticate": "Bearer"},
        408: {"connection": "close"},
        429: {"retry-after": str(error.retry_after)},
        503: {"retry-after": str(error.retry_after)},
    }
    return _json(json_of({"error": str(error)}), error.status, headers.get(error.status))


async def _http_error(request: Request, error: Any) -> Response:
    paths = "The paths are /v1/models/NAME, .../metadata and, by POST, ...:predict."
    return _refusal(RequestError(f"{error.detail}. {paths}", error.status_code))
