"""Metrics of a server in Prometheus' format."""

from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import Metric

__all__ = ["Metrics"]

#: Bounds of the latencies in microseconds.
LATENCIES = [1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 3e7, 6e7]
SIZES = [1, 2, 4, 8, 16, 32, 64, 128]


class Metrics:
    """Counts and latencies of the requests of one server.

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
        shared: dict[str, Any] = {"registry": self.registry}
        self.latency = Histogram(
            ":tensorflow:serving:request_latency",
            "Time from the arrival of a request to its reply, in microseconds",
            ["model_name"],
            buckets=LATENCIES,
            **shared,
        )
        self.batches = Histogram(
            "tfmrc_batch_examples",
            "Examples per computed batch",
            ["model_name"],
            buckets=SIZES,
            **shared,
        )
        self.replies = Counter(
            "tfmrc_replies",
            "Replies by protocol, method and status",
            ["protocol", "method", "status"],
            **shared,
        )
        self.running = Gauge(
            "tfmrc_requests_running", "Requests that are processed at the moment", **shared
        )

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
        self.latency.labels(model).observe(seconds * 1e6)

    def text(self) -> str:
        """Returns all metrics in Prometheus' text format."""
        return generate_latest(self.registry).decode("utf-8")
