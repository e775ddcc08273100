"""Processing of requests, the same for REST and gRPC."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

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
    """

    def __init__(self, manager: ModelManager, limits: Limits, metrics: Metrics):
        self.manager = manager
        self.limits = limits
        self.metrics = metrics
        self.stopping = False
        self._running = 0

    @property
    def ready(self) -> bool:
        """True if a model is served and the server is not stopping."""
        return not self.stopping and self.manager.ready

    async def predict(
        self,
        call: Call,
        name: str,
        signature: str,
        read: Callable[[SavedSignature], Arrays],
        *,
        version: int | None = None,
        label: str | None = None,
        seconds: float | None = None,
    ) -> Arrays:
        """Computes a signature of a model.

        Args:
            call: `Call`. The request's record, which is completed.
            name: str. Name of the model.
            signature: str. Name of the signature.
            read: callable. Function of the signature that returns the arrays of its inputs.
            version: int or None. The version. Default: None.
            label: str or None. The label of the version. Default: None.
            seconds: float or None. Time that the client waits, if it is below the server's limit.
                Default: None.

        Returns:
            The arrays of the outputs.

        Raises:
            RequestError: If the request cannot be answered.
        """
        if self._running >= self.limits.requests:
            raise RequestError(
                f"The server processes {self._running} requests already. Repeat the request later.",
                429,
            )
        self._running += 1
        try:
            with self.manager.use(name, version, label) as used:
                call.model, call.version = name, used.number
                loaded = used.loaded
                function = loaded.model.signature(signature)
                call.signature = signature
                arrays = await offload(call.bytes_in, read, function)
                self.limits.check(arrays)
                call.rows = max((len(each) for each in arrays.values() if each.ndim), default=0)
                future = asyncio.wrap_future(loaded.batcher.submit(signature, arrays))
                most = self.limits.seconds
                seconds = most if seconds is None else min(seconds, most)
                try:
                    return await asyncio.wait_for(future, seconds)
                except TimeoutError:
                    raise RequestError(
                        f"The request took more than {seconds:g} seconds.", 504
                    ) from None
        finally:
            self._running -= 1

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
            code = "OK" if call.status == 200 else RequestError("", call.status).grpc_code
            self.metrics.replies.labels(call.protocol, call.method, str(call.status)).inc()
            if call.method == "predict" and call.model:
                self.metrics.observe(call.model, code, seconds)
            if ACCESS.isEnabledFor(logging.INFO):
                ACCESS.info(access_line(call, seconds))


def access_line(call: Call, seconds: float) -> str:
    """Returns a line of the access log: a JSON object without texts of the request.

    Args:
        call: `Call`. The request's record.
        seconds: float. Time from its arrival to its reply.

    Example:

    >>> from tfmrc.serving.service import Call, access_line
    >>> line = access_line(Call("REST", "predict", model="hills", rows=2), 0.25)
    >>> '"model": "hills"' in line and '"milliseconds": 250.0' in line
    True
    """
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03}Z"
    fields = {"time": stamp, **vars(call), "milliseconds": round(1000 * seconds, 3)}
    return json.dumps({name: value for name, value in fields.items() if value not in ("", None)})


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


#: Requests and replies above this size are parsed and written outside the event loop.
SMALL = 2**16


async def offload(size: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns the result of a function; for large values it is computed in another thread.

    Args:
        size: int. Bytes of the value.
        function: callable. The function.
        *arguments: Its arguments.
    """
    if size <= SMALL:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)
