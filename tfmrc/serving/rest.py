"""The REST API of TensorFlow Serving as an ASGI application."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from google.protobuf import json_format
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from tensorflow_serving.apis import get_model_metadata_pb2

from tfmrc.predictors.errors import RequestError
from tfmrc.serving import page
from tfmrc.serving.rest_values import PredictRequest, json_of
from tfmrc.serving.service import Call, Service, offload, unexpected

__all__ = ["rest_application"]

METRICS_PATH = "/monitoring/prometheus/metrics"
OPEN_PATHS = ("/", "/healthz", "/readyz")  # and the files of the page
DISCARDED_BYTES = 2**28  # of a body that is too large
HELP = "The paths are /v1/models/NAME, .../metadata and ...:predict."

Handler = Callable[[Request, Call], Awaitable[Response]]


class _Name(Convertor[str]):
    """A part of a path without colons: the name of a model or a label."""

    regex = "[^/:]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _Number(Convertor[int]):
    """A version, as TensorFlow Serving takes it."""

    regex = "[0-9]{1,18}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("tfmrc_name", _Name())
register_url_convertor("tfmrc_number", _Number())


def rest_application(
    service: Service, *, api_key: str | None = None, cors_origins: Sequence[str] = ()
) -> Starlette:
    """Returns the ASGI application of a server.

    Args:
        service: `Service`. Processes the requests.
        api_key: str or None. Key that requests must have; None for no key. Default: None.
        cors_origins: list of str. Origins of other sites whose pages may send requests.
            Default: ().
    """
    rest = _Rest(service)
    model = "/v1/models/{name:tfmrc_name}"
    routes = [
        Route("/", page.index),
        Route("/page/{file:path}", page.file),
        Route("/healthz", rest.live),
        Route("/readyz", rest.is_ready),
        Route(METRICS_PATH, rest.metrics),
        Route("/v1/models", rest.tracked("models", rest.models)),
    ]
    for path in (
        model,
        f"{model}/versions/{{version:tfmrc_number}}",
        f"{model}/labels/{{label:tfmrc_name}}",
    ):
        routes += [
            Route(path, rest.tracked("status", rest.status)),
            Route(f"{path}/metadata", rest.tracked("metadata", rest.metadata)),
            Route(f"{path}:predict", rest.tracked("predict", rest.predict), methods=["POST"]),
        ]
    middleware = [Middleware(_Guard, api_key=api_key, origins=frozenset(cors_origins))]
    if cors_origins:
        middleware.insert(
            0,
            Middleware(
                CORSMiddleware,
                allow_origins=list(cors_origins),
                allow_methods=["GET", "POST"],
                allow_headers=["authorization", "content-type", "x-api-key"],
            ),
        )
    return Starlette(
        routes=routes,
        middleware=middleware,
        exception_handlers={HTTPException: _http_error},
    )


class _Guard:
    """Refuses requests without the key, pages of other sites, and GET requests with a body."""

    def __init__(self, app: ASGIApp, api_key: str | None, origins: frozenset[str]):
        self.app = app
        self.api_key = None if api_key is None else api_key.encode()
        self.origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        error = self._error(scope, headers)
        reply = self.app if error is None else _refusal(error)
        await reply(scope, receive, send)

    def _error(self, scope: Scope, headers: Headers) -> RequestError | None:
        if scope["method"] in ("GET", "HEAD") and (
            headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        ):
            return RequestError("A GET request must have no body.")
        origin = headers.get("origin")
        if origin is not None and origin not in self.origins and "*" not in self.origins:
            host = _host(origin)
            if not host or host != headers.get("host"):
                return RequestError("Pages of other sites may not use this server.", 403)
        is_open = scope["path"] in OPEN_PATHS or scope["path"].startswith("/page/")
        if self.api_key is not None and not is_open and not self._has_key(headers):
            return RequestError(
                "The request needs the server's key: `Authorization: Bearer KEY`, or `X-API-Key`.",
                401,
            )
        return None

    def _has_key(self, headers: Headers) -> bool:
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        given = bearer.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")
        return self.api_key is not None and hmac.compare_digest(given.encode(), self.api_key)


def _host(origin: str) -> str:
    """Returns the host and the port of an origin; "" if it has none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:  # such as "http://[a"
        return ""


class _BodyTooLarge(RequestError):
    """A body that is refused before it has been read."""


class _Lingering(Response):
    """A refusal after which the rest of the body is read and discarded.

    A connection that is closed with unread data is reset, and many clients then lose the reply.

    Args:
        reply: `Response`. What is sent.
        seconds: float. Time for the rest of the body.
    """

    def __init__(self, reply: Response, seconds: float):
        super().__init__(reply.body, reply.status_code, dict(reply.headers))
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        if Headers(scope=scope).get("expect", "").lower() != "100-continue":
            with suppress(TimeoutError, asyncio.CancelledError):  # or the server stops
                async with asyncio.timeout(self.seconds):
                    await _discard(receive)
        await send({"type": "http.response.body", "body": b""})


async def _discard(receive: Receive) -> None:
    size, is_more = 0, True
    while is_more and size < DISCARDED_BYTES:
        message = await receive()
        size += len(message.get("body", b""))
        is_more = message.get("more_body", False)


class _Rest:
    def __init__(self, service: Service):
        self.service = service
        self.manager = service.manager

    def tracked(self, method: str, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Returns an endpoint with a line in the access log, whose errors are JSON."""

        async def endpoint(request: Request) -> Response:
            client = request.client.host if request.client else ""
            call = Call("REST", method, client=client)
            with self.service.record(call):
                try:
                    reply = await handler(request, call)
                except RequestError as error:
                    reply = _refusal(error)
                    if isinstance(error, _BodyTooLarge):
                        reply = _Lingering(reply, self.service.limits.receive_seconds)
                except asyncio.CancelledError:
                    if not self.service.stopping:
                        raise
                    reply = _refusal(RequestError("The server is stopping.", 503))
                except ClientDisconnect:
                    reply = _refusal(RequestError("The request is incomplete.", 400))
                except Exception as error:  # one bad request must not end the server
                    reply = _refusal(unexpected(error))
                call.status = reply.status_code
                call.bytes_out = len(reply.body)
            return reply

        return endpoint

    async def predict(self, request: Request, call: Call) -> Response:
        body = await self._body(request)
        call.bytes_in = len(body)
        parsed = await offload(len(body), PredictRequest, body)
        read = partial(parsed.arrays, limits=self.service.limits)
        outputs = await self.service.predict(
            call, signature=parsed.signature_name, read=read, **_spec(request)
        )
        size = sum(values.nbytes for values in outputs.values())
        return _json(await offload(size, parsed.reply, outputs))

    async def status(self, request: Request, call: Call) -> Response:
        entries = [
            {
                "version": str(version.number),
                "state": version.state,
                "status": {
                    "error_code": "UNKNOWN" if version.error else "OK",
                    "error_message": version.error,
                },
            }
            for version in self._versions(request, call)
        ]
        return _json(json_of({"model_version_status": entries}))

    async def metadata(self, request: Request, call: Call) -> Response:
        spec = _spec(request)
        call.model = spec["name"] if spec["name"] in self.manager.names else ""
        with self.manager.use(spec["name"], spec.get("version"), spec.get("label")) as version:
            call.version = version.number
            signatures = get_model_metadata_pb2.SignatureDefMap()
            for name, definition in version.loaded.model.signature_defs.items():
                signatures.signature_def[name].CopyFrom(definition)
            content = json_format.MessageToDict(
                signatures,
                preserving_proto_field_name=True,
                always_print_fields_with_no_presence=True,
            )
            reply = {
                "model_spec": {
                    "name": version.name,
                    "signature_name": "",
                    "version": str(version.number),
                },
                "metadata": {"signature_def": content},
            }
        return _json(json_of(reply))

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
        ready = self.service.ready
        return PlainTextResponse("ready\n" if ready else "not ready\n", 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:
        content_type = "text/plain; version=0.0.4; charset=utf-8"
        text = self.service.metrics.text()
        return Response(text, headers={"content-type": content_type})

    def _versions(self, request: Request, call: Call) -> Any:
        spec = _spec(request)
        number = spec.get("version")
        if "label" in spec:
            number = self.manager.labelled(spec["name"], spec["label"])
        versions = self.manager.versions(spec["name"], number)
        call.model = spec["name"]
        return versions

    async def _body(self, request: Request) -> bytes:
        most = self.service.limits.body_bytes
        error = _BodyTooLarge(f"The body must have at most {most:,} bytes.", 413)
        size = request.headers.get("content-length")
        if size is None and "transfer-encoding" not in request.headers:
            raise RequestError("The request must give its length (Content-Length).", 411)
        if size is not None and int(size) > most:
            raise error
        chunks, received = [], 0
        seconds = self.service.limits.receive_seconds
        try:
            async with asyncio.timeout(seconds):
                async for chunk in request.stream():
                    received += len(chunk)
                    if received > most:
                        raise error
                    chunks.append(chunk)
        except TimeoutError:
            raise RequestError(f"The body did not arrive within {seconds:g} s.", 408) from None
        return b"".join(chunks)


def _spec(request: Request) -> dict[str, Any]:
    return dict(request.path_params)


def _json(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, media_type="application/json")


def _refusal(error: RequestError) -> Response:
    headers = {}
    if error.status in (400, 408, 411, 413):
        # What remains of the body is not read, and must not be taken for the next request.
        headers["connection"] = "close"
    if error.status in (429, 503):
        headers["retry-after"] = "1"
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    return _json(json_of({"error": str(error)}), error.status, headers)


async def _http_error(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    if status == 404:
        return _refusal(RequestError(HELP, 404))
    if status == 405:
        reply = _refusal(
            RequestError(f"{request.method} is not possible here. Predict by POST to ...:predict.")
        )
        reply.status_code = 405
        return reply
    return _refusal(RequestError(str(getattr(error, "detail", "")), status))
