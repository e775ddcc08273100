"""A queue of requests and the thread that computes them."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfmrc.predictors.exported.errors import RequestError
from tfmrc.serving.cancellation import Cancellation
from tfmrc.serving.cost import Cost
from tfmrc.serving.limits import Limits
from tfmrc.serving.metrics import Metrics

Arrays = dict[str, np.ndarray]


class Answer(Future[Arrays]):
    """The future outputs of a request; cancelling it also ends a call that runs for it alone."""

    def __init__(self) -> None:
        super().__init__()
        self.cancellation = Cancellation()

    def cancel(self) -> bool:
        self.cancellation.cancel()
        return super().cancel()


@dataclass(eq=False)
class Request:
    """A request of one model.

    Attributes:
        signature: str. Name of the signature.
        arrays: dict. The arrays of its inputs.
        rows: int. Number of examples.
        cost: `Cost`. What it costs.
        key: tuple or None. Requests with the same key can be joined; None if it cannot be joined.
        answer: `Answer`. The outputs.
        waited: float. Seconds in the queue.
        computed: float. Seconds of its computation.
        begun: float. `time.perf_counter` at its arrival.
    """

    signature: str
    arrays: Arrays
    rows: int
    cost: Cost
    key: tuple[Any, ...] | None
    answer: Answer = field(default_factory=Answer)
    waited: float = 0.0
    computed: float = 0.0
    begun: float = field(default_factory=time.perf_counter)


class Lane:
    """Computes the requests of a queue in order; requests with the same key form batches.

    Args:
        names: tuple of str. Names of the model and of the lane, for metrics.
        compute: callable. Computes a list of requests and sets their answers.
        limits: `Limits`. Its `batch_rows` and `waiting_words` are used.
        metrics: `Metrics`. Metrics of the server.
    """

    def __init__(
        self,
        names: tuple[str, str],
        compute: Callable[[Sequence[Request]], None],
        limits: Limits,
        metrics: Metrics,
    ):
        self._names = names
        self._compute = compute
        self._limits = limits
        self._metrics = metrics
        self._waiting: deque[Request] = deque()
        self._running: list[Request] = []
        self._done: np.ndarray | None = None  # decaying sums of words and seconds
        self._condition = threading.Condition()
        self._closed = False
        self._report()
        threading.Thread(target=self._work, name="tfmrc-batches", daemon=True).start()

    def submit(self, request: Request, seconds: float = math.inf) -> None:
        """Enqueues a request.

        Args:
            request: `Request`. The request.
            seconds: float. The deadline. Default: infinity.

        Raises:
            RequestError: If the queue is full or too slow, or the lane is closed (status 503).
        """
        with self._condition:
            if self._closed:
                raise RequestError("The model is being unloaded.", 503)
            before = [r for r in (*self._running, *self._waiting) if not r.answer.cancelled()]
            words = sum(each.cost.words for each in before)
            done, taken = (0, 0) if self._done is None else self._done
            wait = (words + request.cost.words) * taken / done if done else 0.0
            is_full = words + request.cost.words > self._limits.waiting_words
            # For requests in batches the time cannot be told from the words.
            if before and (is_full or (request.key is None and wait > seconds)):
                message = (
                    f"The model's queue is full: {len(before):,} requests with {words:,} words. "
                    "Retry later."
                )
                pause = max(1, min(60, math.ceil(words * taken / done if done else 0)))
                raise RequestError(message, 503, reason="queue", retry_after=pause)
            self._waiting.append(request)
            self._report()
            self._condition.notify()

    def close(self) -> None:
        """Lets the thread compute the waiting requests and end; returns immediately."""
        with self._condition:
            self._closed = True
            self._condition.notify()

    def _work(self) -> None:
        while batch := self._next():
            begin = time.perf_counter()
            for request in batch:
                request.waited = begin - request.begun
            self._compute(batch)
            seconds = time.perf_counter() - begin
            self._measure(batch, seconds)
            self._metrics.computed(*self._names, [request.waited for request in batch], seconds)
            del batch, request  # a waiting thread holds no texts

    def _measure(self, batch: Sequence[Request], seconds: float) -> None:
        words = sum(request.cost.words for request in batch)
        if self._done is None:  # the first batch prepares the graph
            self._done = np.zeros(2)
        elif (
            all(request.answer.exception() is None for request in batch)
            or seconds * self._done[0] >= words * self._done[1]  # cancelled, yet slower than usual
        ):
            self._done = 0.9 * self._done + (words, seconds)

    def _next(self) -> list[Request]:
        """Returns the first request and those that fit into its batch, in order; [] at the end."""
        with self._condition:
            self._running = []
            while True:
                self._condition.wait_for(lambda: self._waiting or self._closed)
                batch: list[Request] = []
                others: deque[Request] = deque()
                size = 0
                for request in self._waiting:
                    if batch and (
                        request.key is None
                        or request.key != batch[0].key
                        or size + request.cost.windows > self._limits.batch_rows
                    ):
                        others.append(request)
                    elif request.answer.set_running_or_notify_cancel():
                        batch.append(request)
                        size += request.cost.windows
                self._waiting = others
                self._report()
                if batch or self._closed:
                    self._running = batch
                    return list(batch)

    def _report(self) -> None:
        words = sum(request.cost.words for request in self._waiting)
        self._metrics.queue(*self._names, len(self._waiting), words)
