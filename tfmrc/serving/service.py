"""Processing of requests, the same for REST and gRPC."""

import asyncio
import hmac
import json
import logging
import math
import time
import traceback
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from tensorflow.core.protobuf import error_codes_pb2
from tensorflow_serving.apis import get_model_metadata_pb2, get_model_status_pb2

from tfmrc.predictors.exported.errors import RequestError
from tfmrc.predictors.exported.signature import SavedModel
from tfmrc.serving.lane import Arrays, Request
from tfmrc.serving.limits import Limits
from tfmrc.serving.metrics import Metrics
from tfmrc.serving.model_manager import ModelManager

LOGGER = logging.getLogger("tfmrc.serving")
ACCESS = logging.getLogger("tfmrc.serving.access")

FREE_BYTES = 2**16  # of each body, so that no large ones keep small requests out

Result = TypeVar("Result")


@dataclass
class Call:
    """One request, as the access log and the metrics record it, without its texts.

    Attributes:
        protocol: str. `"REST"` or `"gRPC"`.
        method: str. Such as `"predict"`, `"status"` or `"metadata"`.
        client: str. Address of the client. Default: "".
        id: str. The client's id of the request. Default: a new one.
        model: str. Name of the model, if it is served. Default: "".
        version: int or None. Its version. Default: None.
        signature: str. Name of the signature. Default: "".
        rows: int. Number of examples. Default: 0.
        words: int. Words that the model reads and may write, as estimated. Default: 0.
        wait_milliseconds, compute_milliseconds: float or None. Times in the queue and of the
            computation. Default: None.
        bytes_in: int. Size of the request. Default: 0.
        bytes_out: int. Size of the reply. Default: 0.
        status: int. HTTP status of the reply, also for gRPC. Default: 200.
        reason: str. Why it was refused, in one word. Default: "".
    """

    protocol: str
    method: str
    client: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    model: str = ""
    version: int | None = None
    signature: str = ""
    rows: int = 0
    words: int = 0
    wait_milliseconds: float | None = None
    compute_milliseconds: float | None = None
    bytes_in: int = 0
    bytes_out: int = 0
    status: int = 200
    reason: str = ""


class Service:
    """Predictions within the limits, with metrics and an access log.

    Args:
        manager: `ModelManager`. The models.
        limits: `Limits`. Limits of requests.
        metrics: `Metrics`. Metrics of the server.
        api_key: str or None. Key that requests must have. Default: None.
    """

    def __init__(
        self, manager: ModelManager, limits: Limits, metrics: Metrics, api_key: str | None = None
    ):
        self.manager = manager
        self.limits = limits
        self.metrics = metrics
        self.stopping = False
        self.running = 0
        self.buffered = 0
        # Only two, so that few requests are parsed at the same time.
        self._readers = ThreadPoolExecutor(2, "tfmrc-read")
        self._api_key = api_key

    @property
    def is_ready(self) -> bool:
        """Whether the server has a model and does not stop."""
        return bool(self.manager.names) and not self.stopping

    def check_key(self, headers: Mapping[str, str]) -> None:
        """Raises a RequestError unless headers or metadata have the server's key.

        Args:
            headers: dict. The values by their lower-case names.

        Raises:
            RequestError: With status 401.
        """
        if self._api_key is None:
            return
        kind, _, key = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            key = headers.get("x-api-key", "")
        if not hmac.compare_digest(key.encode(), self._api_key.encode()):
            message = "The request must have the key: `Authorization: Bearer KEY` or `X-API-Key`."
            raise RequestError(message, 401, reason="key")

    @contextmanager
    def buffer(self) -> Iterator[Callable[[int], None]]:
        """Context of a request's body: yields a function that counts the bytes received.

        The function raises a RequestError if the bodies of all requests take too many.
        """
        held = total = 0

        def add(size: int) -> None:
            nonlocal held, total
            total += size
            added = max(0, total - FREE_BYTES) - held
            if self.buffered + added > self.limits.buffered_bytes:
                message = "The server holds too many request bodies. Retry later."
                raise RequestError(message, 503, reason="bodies")
            held += added
            self.buffered += added

        try:
            yield add
        finally:
            self.buffered -= held

    async def read(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Parses a request in a thread, while other requests are received."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, function, *arguments)

    @asynccontextmanager
    async def admitted(self, seconds: float | None = None) -> AsyncIterator[float]:
        """Context of a request within the limits of number and time; yields its deadline.

        Args:
            seconds: float or None. The client's deadline; the server's limit also holds.
                Default: None.

        Raises:
            RequestError: If there are too many requests (429), or it takes too long (504).
        """
        if self.running >= self.limits.requests:
            message = f"The server is processing {self.running} requests. Retry later."
            raise RequestError(message, 429, reason="requests")
        seconds = min(self.limits.seconds, math.inf if seconds is None else seconds)
        self.running += 1
        try:
            async with asyncio.timeout(seconds):
                yield seconds
        except TimeoutError:
            message = f"The request took longer than {seconds:g} seconds."
            raise RequestError(message, 504, reason="deadline") from None
        finally:
            self.running -= 1

    async def predict(
        self,
        call: Call,
        name: str,
        read: Callable[[SavedModel], tuple[str, Arrays]],
        *,
        version: int | None = None,
        seconds: float | None = None,
    ) -> Arrays:
        """Computes a signature of a model.

        Args:
            call: `Call`. The request's record, which is completed.
            name: str. Name of the model.
            read: callable. Function of the SavedModel that returns the name of the signature and
                the arrays of its inputs.
            version: int or None. The version. Default: None.
            seconds: float or None. The client's deadline; the server's limit also holds.
                Default: None.

        Returns:
            The arrays of the outputs.

        Raises:
            RequestError: If the request cannot be answered.
        """
        async with self.admitted(seconds) as seconds:
            with self.manager.use(name, version) as used:
                call.model, call.version = name, used.number
                model, batcher = used.loaded

                def prepare() -> Request:
                    signature, arrays = read(model)
                    return batcher.request(signature, arrays)

                request = await self.read(prepare)
                call.signature, call.rows = request.signature, request.rows
                call.words = request.cost.words
                outputs = await asyncio.wrap_future(batcher.submit(request, seconds))
                call.wait_milliseconds = round(1000 * request.waited, 3)
                call.compute_milliseconds = round(1000 * request.computed, 3)
                return outputs

    def status(self, call: Call, name: str, version: int | None) -> Any:
        """Returns the states of a model's versions as a `GetModelStatusResponse`."""
        versions = self.manager.versions(name, version)
        call.model = name
        reply = get_model_status_pb2.GetModelStatusResponse()
        for each in versions:
            status = reply.model_version_status.add(version=each.number)
            status.state = status.State.Value(each.state)
            code = "UNKNOWN" if each.error else "OK"
            status.status.error_code = error_codes_pb2.Code.Value(code)
            status.status.error_message = each.error
        return reply

    def signatures(self, call: Call, name: str, version: int | None) -> Any:
        """Returns a model's signatures as a `SignatureDefMap`; `call` gets its version."""
        with self.manager.use(name, version) as used:
            call.model, call.version = name, used.number
            return get_model_metadata_pb2.SignatureDefMap(
                signature_def=used.loaded.model.signature_defs
            )

    @contextmanager
    def record(self, call: Call) -> Iterator[None]:
        """Context that writes a request's line of the access log and its metrics at the end.

        Args:
            call: `Call`. The request's record.
        """
        start = time.perf_counter()
        self.metrics.running.inc()
        try:
            yield
        except asyncio.CancelledError:
            call.status = 503 if self.stopping else 499
            call.reason = "stopping" if self.stopping else "disconnected"
            raise
        finally:
            self.metrics.running.dec()
            seconds = time.perf_counter() - start
            self.metrics.replies.labels(call.protocol, call.method, str(call.status)).inc()
            if call.reason:
                self.metrics.refused.labels(call.reason).inc()
            if call.method == "predict" and call.model:
                code = "OK" if call.status == 200 else RequestError("", call.status).grpc_code
                self.metrics.observe(call.model, code, seconds)
            fields = {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                **vars(call),
                "milliseconds": round(1000 * seconds, 3),
            }
            ACCESS.info(json.dumps({k: v for k, v in fields.items() if v not in ("", None)}))


def unexpected(error: Exception) -> RequestError:
    """Returns the reply to an internal error, and logs where it occurred.

    Its message is not logged, because it may contain a part of the request.

    Args:
        error: exception. The error.
    """
    *_, frame = traceback.extract_tb(error.__traceback__)
    LOGGER.error("%s at %s:%s", type(error).__name__, frame.filename, frame.lineno)
    return RequestError(f"The server failed with {type(error).__name__}.", 500)
