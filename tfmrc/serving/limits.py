"""Limits of a server on requests."""

import math
from dataclasses import dataclass

from tfmrc.predictors.exported.errors import RequestError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on the size, the duration and the number of predict requests.

    Attributes:
        body_bytes: int. Bytes of a request's body (REST), also uncompressed, or message (gRPC);
            status 413. Default: 4 MiB.
        buffered_bytes: int. Bytes of all bodies in memory, beyond the first 64 KiB of each; status
            503. Default: 32 MiB.
        elements: int. JSON values of a body, and elements of an input, padding included; status
            413. Default: 262,144.
        words: int. Words that the model may read and write for one request, estimated from its
            texts; words in two windows count twice; status 413. Default: 200,000.
        waiting_words: int. Words of the requests in each of a model's two queues; status 503.
            Default: 1,000,000.
        batch_rows: int. Rows of a batch; each further window of a row counts as a row. Default: 32.
        requests: int. Simultaneous requests; status 429. Default: 256.
        seconds: float. Deadline of a request; status 504. Default: 60.
        receive_seconds: float. Time for receiving a request's body; status 408, and the connection
            is closed. Default: 20.
        grace_seconds: float. Time after SIGTERM in which the server is not ready, but still accepts
            requests. Default: 5.
        drain_seconds: float. Time for running requests to finish when the server stops.
            Default: 30.

    Example:

    >>> from tfmrc.serving import Limits
    >>> Limits(seconds=5).requests
    256
    """

    body_bytes: int = 4 * 2**20
    buffered_bytes: int = 32 * 2**20
    elements: int = 2**18
    words: int = 200_000
    waiting_words: int = 1_000_000
    batch_rows: int = 32
    requests: int = 256
    seconds: float = 60.0
    receive_seconds: float = 20.0
    grace_seconds: float = 5.0
    drain_seconds: float = 30.0

    def check_shape(self, name: str, shape: tuple[int, ...]) -> None:
        """Raises a RequestError if an input has too many elements.

        Args:
            name: str. Name of the input.
            shape: tuple of int. Its shape, before anything of this size is built.

        Raises:
            RequestError: With status 413.
        """
        # Even rows without columns count, because each is a list.
        if min(shape, default=0) < 0 or math.prod(max(s, 1) for s in shape) > self.elements:
            raise RequestError(
                f"`{name}` must have at most {self.elements:,} elements, padding included. "
                f"Received: {' x '.join(map(str, shape))}",
                413,
                reason="size",
            )
