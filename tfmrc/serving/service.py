"""Processing of requests, the same for REST and gRPC."""

import asyncio
import hmac
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from tfmrc.predictors.errors import RequestError
from tfmrc.predictors.signature import SavedSignature
from tfmrc.serving.limits import Limits
from tfmrc.serving.metrics import Metrics
from tfmrc.serving.model_manager import ModelManager

__all__ = ["Call", "Service"]

LOGGER = logging.getLogger("tfmrc.serving")
ACCESS = logging.getLogger("tfmrc.serving.access")

Arrays = dict[str, np.ndarray]


@dataclass
class Call:
    """One request, as the access log and the metrics record it. It holds no texts.

    Attributes:
        protocol: str. `"REST"` or `"gRPC"`.
        method: str. Such as `"predict"`, `"status"` or `"metadata"`.
        client: str. Address of the client. Default: "".
        model: str. Name of the model, if it is served. Default: "".
        version: int or None. Its version. Default: None.
        signature: str. Name of the signature. Default: "".
        rows: int. Number of examples. Default: 0.
        bytes_in: int. Size of the request. Default: 0.
        bytes_out: int. Size of the reply. Default: 0.
        status: int. HTTP status of the reply, also for gRPC. Default: 200.
    """

    protocol: str
    method: str
    client: str = ""
    model: str = ""
    version: int | None = None
    signature: str = ""
    rows: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    status: int = 200


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
        self._api_key = api_key

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
            raise RequestError(
                "The request needs the server's key: `Authorization: Bearer KEY`, or `X-API-Key`.",
                401,
            )

    async def predict(
        self,
        call: Call,
        name: str,
        signature: str,
        read: Callable[[SavedSignature], Arrays],
        *,
        version: int | None = None,
        seconds: float | None = None,
    ) -> Arrays:
        """Computes a signature of a model.

        Args:
            call: `Call`. The request's record, which is completed.
            name: str. Name of the model.
            signature: str. Name of the signature.
            read: callable. Function of the signature that returns the arrays of its inputs.
            version: int or None. The version. Default: None.
            seconds: float or None. Time that the client waits, if it is below the server's limit.
                Default: None.

        Returns:
            The arrays of the outputs.

        Raises:
            RequestError: If the request cannot be answered.
        """
        if self.running >= self.limits.requests:
            raise RequestError(
                f"The server processes {self.running} requests already. Repeat the request later.",
                429,
            )
        self.running += 1
        try:
            with self.manager.use(name, version) as used:
                call.model, call.version = name, used.number
                function = used.loaded.model.signature(signature)
                call.signature = signature
                arrays = await asyncio.to_thread(read, function)  # other requests are received
                call.rows = max((len(array) for array in arrays.values() if array.ndim), default=0)
                future = asyncio.wrap_future(used.loaded.batcher.submit(signature, arrays))
                limit = self.limits.seconds
                seconds = limit if seconds is None else min(seconds, limit)
                try:
                    return await asyncio.wait_for(future, seconds)
                except TimeoutError:
                    raise RequestError(
                        f"The request took more than {seconds:g} seconds.", 504
                    ) from None
        finally:
            self.running -= 1

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
            call.status = 503 if self.stopping else 499  # the client has hung up
            raise
        finally:
            self.metrics.running.dec()
            seconds = time.perf_counter() - start
            self.metrics.replies.labels(call.protocol, call.method, str(call.status)).inc()
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
    """Returns the reply to an error of the server itself, and logs where it occurred.

    The message of the error is not logged, because it may contain a part of the request.

    Args:
        error: exception. The error.
    """
    trace, place = error.__traceback__, "unknown"
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    LOGGER.error("A request failed with %s at %s", type(error).__name__, place)
    return RequestError(f"The server failed with {type(error).__name__}.", 500)
