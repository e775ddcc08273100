"""Metrics of a server in Prometheus' format."""

from collections.abc import Iterator, Sequence
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import Metric

SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60]
SIZES = [1, 2, 4, 8, 16, 32, 64, 128]


class Metrics:
    """Counts and times of the requests of one server.

    The names of requests and latencies are those of TensorFlow Serving; the others begin with
    `tfmrc_`.

    Example:

    >>> from tfmrc.serving.metrics import Metrics
    >>> metrics = Metrics()
    >>> metrics.observe("hills", "OK", 0.25)
    >>> ':tensorflow:serving:request_count{model_name="hills",status="OK"} 1.0' in metrics.text()
    True
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counts: dict[tuple[str, str], int] = {}
        self.registry.register(self)
        histogram = partial(Histogram, registry=self.registry)
        gauge = partial(Gauge, registry=self.registry)
        counter = partial(Counter, registry=self.registry)
        lane = ["model_name", "lane"]
        self._latency = histogram(
            ":tensorflow:serving:request_latency",
            "Time from the arrival of a request to its reply, in microseconds",
            ["model_name"],
            buckets=[seconds * 1e6 for seconds in SECONDS],
        )
        self._batches = histogram(
            "tfmrc_batch_requests", "Requests per computed batch", lane, buckets=SIZES
        )
        self._waits = histogram("tfmrc_wait_seconds", "Time in a queue", lane, buckets=SECONDS)
        self._times = histogram(
            "tfmrc_compute_seconds", "Time to compute a batch", lane, buckets=SECONDS
        )
        self._queued = gauge("tfmrc_queue_requests", "Requests that wait", lane)
        self._queued_words = gauge("tfmrc_queue_words", "What they cost", lane)
        self.versions = gauge(
            "tfmrc_model_available", "Versions that are served", ["model_name", "version"]
        )
        self.load_failures = counter(
            "tfmrc_load_failures", "Versions that could not be loaded", ["model_name"]
        )
        self.replies = counter(
            "tfmrc_replies",
            "Replies by protocol, method and status",
            ["protocol", "method", "status"],
        )
        self.refused = counter("tfmrc_refused", "Requests that were refused", ["reason"])
        self.running = gauge("tfmrc_requests_running", "Requests being processed")

    def collect(self) -> Iterator[Metric]:
        """Yields the counts of requests under TensorFlow Serving's name, which has no suffix."""
        name = ":tensorflow:serving:request_count"
        metric = Metric(name, "Predict requests by model and status", "unknown")
        for (model, status), count in list(self._counts.items()):
            metric.add_sample(name, {"model_name": model, "status": status}, count)
        yield metric

    def observe(self, model: str, status: str, seconds: float) -> None:
        """Counts a predict request.

        Args:
            model: str. The model's name.
            status: str. Name of gRPC's status code.
            seconds: float. Time from its arrival to its reply.
        """
        key = model, status
        self._counts[key] = self._counts.get(key, 0) + 1
        self._latency.labels(model).observe(seconds * 1e6)

    def queue(self, model: str, lane: str, requests: int, words: int) -> None:
        """Records the length of a queue: requests and their words."""
        self._queued.labels(model, lane).set(requests)
        self._queued_words.labels(model, lane).set(words)

    def computed(self, model: str, lane: str, waits: Sequence[float], seconds: float) -> None:
        """Records a batch: the seconds that its requests have waited, and of the computation."""
        self._batches.labels(model, lane).observe(len(waits))
        self._times.labels(model, lane).observe(seconds)
        for wait in waits:
            self._waits.labels(model, lane).observe(wait)

    def text(self) -> str:
        """Returns all metrics in Prometheus' text format."""
        return generate_latest(self.registry).decode("utf-8")
