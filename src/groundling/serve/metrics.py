"""What a Prometheus can watch. Each application has its own registry, so that two in one process do not mix."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
SIZES = (1, 2, 4, 8, 16, 32)
MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "groundling_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "groundling_request_seconds",
            "Time from a request to the end of its response.",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.in_flight = Gauge("groundling_requests_in_flight", "Requests being worked on.", registry=self.registry)
        self.waiting = Gauge(
            "groundling_waiting", "Questions that wait for the model.", ["queue"], registry=self.registry
        )
        self.batch = Histogram(
            "groundling_batch_size",
            "Questions answered by one call.",
            ["queue"],
            buckets=SIZES,
            registry=self.registry,
        )
        self.pictures = Gauge("groundling_pictures", "Pictures in the index.", registry=self.registry)

    def watch(self, queue: str, length: Callable[[], int]) -> Callable[[int], object]:
        """Show the length of a queue; returns what is to be told the size of each of its batches."""
        self.waiting.labels(queue).set_function(length)
        return self.batch.labels(queue).observe

    def text(self) -> bytes:
        return bytes(generate_latest(self.registry))
