"""The REST API of TensorFlow Serving as an ASGI application."""

import asyncio
from collections.abc import Awaitable, Callable
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

from tfmrc.predictors.errors import RequestError
from tfmrc.serving import page
from tfmrc.serving.rest_values import PredictRequest, json_of
from tfmrc.serving.service import Call, Service, unexpected

__all__ = ["rest_application"]

METRICS_PATH = "/monitoring/prometheus/metrics"
OPEN_PATHS = ("/", "/healthz", "/readyz")  # and the files of the page

Handler = Callable[[Request, Call], Awaitable[Response]]


def rest_application(service: Service) -> Starlette:
    """Returns the ASGI application of a server.

    Args:
        service: `Service`. Processes the requests.
    """
    rest = _Rest(service)
    routes = [
        Route("/", page.index),
        Route("/page/{file:path}", page.file),
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
        middleware=[Middleware(_Guard, service=service)],
        exception_handlers={HTTPException: _http_error},
    )


class _Guard:
    """Refuses requests without the key, and pages of other sites."""

    def __init__(self, app: ASGIApp, service: Service):
        self.app = app
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self.app
        try:
            if scope["type"] == "http":
                self._check(scope["path"], Headers(scope=scope))
        except RequestError as error:
            app = _refusal(error)
        await app(scope, receive, send)

    def _check(self, path: str, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != headers.get("host"):
            raise RequestError("Pages of other sites may not use this server.", 403)
        if path not in OPEN_PATHS and not path.startswith("/page/"):
            self.service.check_key(headers)


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
                except asyncio.CancelledError:
                    if not self.service.stopping:
                        raise
                    reply = _refusal(RequestError("The server is stopping.", 503))
                except ClientDisconnect:
                    reply = _refusal(RequestError("The request is incomplete."))
                except Exception as error:  # one bad request must not end the server
                    reply = _refusal(unexpected(error))
                call.status = reply.status_code
                call.bytes_out = len(reply.body)
            return reply

        return endpoint

    async def predict(self, request: Request, call: Call) -> Response:
        body = await self._body(request)
        call.bytes_in = len(body)
        parsed = PredictRequest.parse(body)
        outputs = await self.service.predict(
            call,
            signature=parsed.signature,
            read=lambda signature: parsed.arrays(signature, self.service.limits),
            **request.path_params,
        )
        return _json(await asyncio.to_thread(parsed.reply, outputs))

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
        ready = bool(self.manager.names) and not self.service.stopping
        return PlainTextResponse("ready\n" if ready else "not ready\n", 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:
        content_type = "text/plain; version=0.0.4; charset=utf-8"
        return Response(self.service.metrics.text(), headers={"content-type": content_type})

    async def _body(self, request: Request) -> bytes:
        limits = self.service.limits
        error = RequestError(f"The body must have at most {limits.body_bytes:,} bytes.", 413)
        if int(request.headers.get("content-length", 0)) > limits.body_bytes:
            raise error
        chunks, received = [], 0
        try:
            async with asyncio.timeout(limits.receive_seconds):
                async for chunk in request.stream():
                    received += len(chunk)
                    if received > limits.body_bytes:
                        raise error
                    chunks.append(chunk)
        except TimeoutError:
            raise RequestError(
                f"The body did not arrive within {limits.receive_seconds:g} s.", 408
            ) from None
        return b"".join(chunks)


def _json(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, media_type="application/json")


def _refusal(error: RequestError) -> Response:
    headers = {
        401: {"www-authenticate": "Bearer"},
        408: {"connection": "close"},
        429: {"retry-after": "1"},
        503: {"retry-after": "1"},
    }
    return _json(json_of({"error": str(error)}), error.status, headers.get(error.status))


async def _http_error(request: Request, error: Any) -> Response:
    paths = "The paths are /v1/models/NAME, .../metadata and, by POST, ...:predict."
    return _refusal(RequestError(f"{error.detail}. {paths}", error.status_code))
