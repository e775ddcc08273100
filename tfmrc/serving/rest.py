"""The REST API of TensorFlow Serving as an ASGI application."""

import asyncio
import re
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tfmrc.predictors.exported.errors import RequestError
from tfmrc.predictors.exported.signature import SavedModel
from tfmrc.serving import page
from tfmrc.serving.documents import ServedDocuments
from tfmrc.serving.lane import Arrays
from tfmrc.serving.rest_values import PredictRequest, json_of, json_value, reply_of
from tfmrc.serving.service import Call, Service, unexpected

METRICS_PATH = "/monitoring/prometheus/metrics"
HEALTH_PATHS = ("/healthz", "/readyz")
STOPPING = RequestError("The server is shutting down.", 503, reason="stopping")
DISCONNECTED = RequestError("The client disconnected.", 499, reason="disconnected")
REQUEST_ID = re.compile(r"[\w.:-]{1,128}")

Value = TypeVar("Value")
Handler = Callable[[Request, Call], Awaitable[Response]]


def rest_application(
    service: Service, hosts: Sequence[str], documents: ServedDocuments | None = None
) -> Starlette:
    """Returns the ASGI application of a server.

    Args:
        service: `Service`. Processes the requests.
        hosts: list of str. Names of the server that requests may have; `"*"` for any.
        documents: `ServedDocuments` or None. Documents that the models answer from. Default: None.
    """
    rest = _Rest(service, documents)
    routes = [
        *(Route(path, page.file) for path in page.FILES),
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
    if documents is not None:
        routes += rest.routes_of(documents)
    return Starlette(
        routes=routes,
        middleware=[Middleware(_Guard, service=service, hosts=frozenset(hosts))],
        exception_handlers={HTTPException: _http_error},
    )


class _Guard:
    """Refuses requests without the key, from pages of other sites, and for other host names.

    Without the check of the host, a site whose name resolves to this address would pass as the
    server's own page.
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
                app = _refusal(error, call)
        await app(scope, receive, send)

    def _check(self, path: str, headers: Headers) -> None:
        host, origin = headers.get("host", ""), headers.get("origin")
        name = re.sub(r":\d*$", "", host).strip("[]").lower()
        if not self.hosts & {name, "*"}:
            message = "The server does not serve this host name; --allowed-host adds it."
            raise RequestError(message, 403, reason="host")
        if origin is not None and origin.partition("://")[2] != host:
            raise RequestError("Requests from other sites are refused.", 403, reason="origin")
        if path not in page.FILES:
            self.service.check_key(headers)


def _call(request: Request, method: str) -> Call:
    call = Call("REST", method, client=request.client.host if request.client else "")
    given = request.headers.get("x-request-id", "")
    call.id = given if REQUEST_ID.fullmatch(given) else call.id
    return call


class _Rest:
    def __init__(self, service: Service, documents: ServedDocuments | None):
        self.service = service
        self.manager = service.manager
        self.about = {} if documents is None else documents.about

    def tracked(self, method: str, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Returns an endpoint that writes a line of the access log and answers errors as JSON."""

        async def endpoint(request: Request) -> Response:
            call = _call(request, method)
            with self.service.record(call):
                try:
                    reply = await handler(request, call)
                except RequestError as error:
                    # The frames of its traceback hold the request.
                    reply = _refusal(error.with_traceback(None), call)
                except asyncio.CancelledError:
                    if not self.service.stopping:
                        raise
                    reply = _refusal(STOPPING, call)
                except ClientDisconnect:
                    reply = _refusal(DISCONNECTED, call)
                except Exception as error:  # one bad request must not end the server
                    reply = _refusal(unexpected(error), call)
                reply.headers["x-request-id"] = call.id
                call.bytes_out = int(reply.headers["content-length"])
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
            outputs = await _unless_disconnected(request, work)
        return _json(await asyncio.to_thread(reply_of, outputs, in_rows))

    async def status(self, request: Request, call: Call) -> Response:
        reply = self.service.status(call, *_selected(request))
        return _json(json_of(_json_of_message(reply)))

    async def metadata(self, request: Request, call: Call) -> Response:
        signatures = self.service.signatures(call, *_selected(request))
        spec = {"name": call.model, "signature_name": "", "version": str(call.version)}
        metadata = {"signature_def": _json_of_message(signatures)}
        return _json(json_of({"model_spec": spec, "metadata": metadata}))

    async def models(self, request: Request, call: Call) -> Response:
        """Lists the models for the page and the clients; TensorFlow Serving has no such method."""
        entries = []
        for name in self.manager.names:
            with suppress(RequestError), self.manager.use(name) as version:  # it may be gone by now
                entries.append(page.described(name, version))
        return _json(json_of({"models": entries, **self.about}))

    def routes_of(self, documents: ServedDocuments) -> list[Route]:
        """Returns the routes of answers from documents, and of their pages and files."""

        async def answer(request: Request, call: Call) -> Response:
            with self.service.buffer() as add:
                body = await self._body(request, add)
                call.bytes_in = len(body)
                asked = await self.service.read(json_value, body, self.service.limits)
                reply = await _unless_disconnected(request, documents.answer(call, asked))
            return _json(json_of(reply))

        path = "/v1/documents"
        return [
            Route(f"{path}:answer", self.tracked("answer", answer), methods=["POST"]),
            Route(f"{path}/page", self.tracked("page", documents.picture)),
            Route(f"{path}/file", self.tracked("file", documents.file)),
        ]

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
            raise RequestError("`Content-Encoding` must be gzip or identity.", 415)
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
                raise RequestError(f"The body is not valid gzip: {wrong}") from wrong
            if len(body) > limits.body_bytes:
                raise error
            if not packed.eof:
                raise RequestError("The gzip body is incomplete.")
            add(len(body))
        return body


async def _unless_disconnected(request: Request, work: Coroutine[Any, Any, Value]) -> Value:
    """Returns the result of the work; cancels it when the client disconnects."""

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            continue

    working, waiting = asyncio.ensure_future(work), asyncio.ensure_future(disconnected())
    try:
        await asyncio.wait([working, waiting], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        waiting.cancel()


def _selected(request: Request) -> tuple[str, int | None]:
    """Returns name and version of the model in a path."""
    return request.path_params["name"], request.path_params.get("version")


def _json_of_message(message: Message) -> dict[str, Any]:
    options = {"preserving_proto_field_name": True, "always_print_fields_with_no_presence": True}
    return json_format.MessageToDict(message, **options)


def _json(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, media_type="application/json")


def _refusal(error: RequestError, call: Call) -> Response:
    """Returns the reply of a refused request, which is recorded."""
    call.status, call.reason = error.status, error.reason
    headers = {
        401: {"www-authenticate": "Bearer"},
        408: {"connection": "close"},
        429: {"retry-after": str(error.retry_after)},
        503: {"retry-after": str(error.retry_after)},
    }
    return _json(json_of({"error": str(error)}), error.status, headers.get(error.status))


async def _http_error(request: Request, error: Any) -> Response:
    paths = "The paths are /v1/models/NAME, .../metadata and, by POST, ...:predict."
    refused = RequestError(f"{error.detail}. {paths}", error.status_code)
    return _refusal(refused, Call("REST", "unknown"))
