"""What Prometheus reads: calls and requests as they happen, the store and the index when it asks."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from dolmen.domain.values import SERVED, Actor
from dolmen.interfaces.mcp.registry import Tool
from dolmen.services.runtime import Runtime
from dolmen.services.stats import index_health, job_numbers, model_state

_log = logging.getLogger(__name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_PATHS = frozenset(
    {
        *("/mcp", "/health", "/metrics", "/api/tokens", "/api/v1/refs", "/api/v1/refs/check"),
        *("/api/v1/mirror", "/api/v1/mirror/notes", "/api/v1/mirror/read", "/api/v1/mirror/write"),
        *("/quick", "/quick/recall", "/quick/read", "/quick/propose"),
        *(f"/mcp/{toolset}" for toolset in SERVED),
    }
)


class Metrics:
    """Counts what goes through one server; also watches its tool calls."""

    def __init__(self, rt: Runtime) -> None:
        self.registry = CollectorRegistry()
        self._calls = Counter(
            "dolmen_tool_calls", "Tool calls by outcome: ok, or the error's code", ("toolset", "tool", "outcome"),
            registry=self.registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "dolmen_tool_seconds", "Time that tool calls took", ("toolset", "tool"), registry=self.registry,
            buckets=_SECONDS,
        )  # fmt: skip
        self._requests = Counter(
            "dolmen_http_requests", "HTTP requests by status", ("path", "method", "status"), registry=self.registry
        )
        self.registry.register(_Store(rt))

    def admit(self, actor: Actor, tool: Tool) -> None:
        """Nothing to refuse here: limits stand at the HTTP door."""

    def finished(self, tool: Tool, outcome: str, seconds: float) -> None:
        self._calls.labels(tool.toolset, tool.name, outcome).inc()
        self._seconds.labels(tool.toolset, tool.name).observe(seconds)

    def request(self, path: str, method: str, status: int) -> None:
        """Foreign paths share one label, so that a scanner cannot grow the table."""
        known = path.rstrip("/") if path.rstrip("/") in _PATHS else "other"
        self._requests.labels(
            known, method if method in ("GET", "POST", "DELETE", "OPTIONS") else "other", status
        ).inc()

    def text(self) -> bytes:
        return generate_latest(self.registry)


class _Store:
    """Gauges read at the time of asking."""

    def __init__(self, rt: Runtime) -> None:
        self.rt = rt

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("dolmen_store_up", "Whether the store answers")
        try:
            self.rt.store.ping()
            info, index, model = self.rt.store.info(), index_health(self.rt, None), model_state(self.rt)
            numbers = job_numbers(self.rt)
        except Exception:
            _log.exception("the store could not be read for its metrics")
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        yield GaugeMetricFamily("dolmen_store_bytes", "Size of the store on disk", value=info.size)
        yield GaugeMetricFamily("dolmen_store_wal_bytes", "Size of the write-ahead log", value=info.wal_size)
        yield GaugeMetricFamily("dolmen_index_passages", "Passages that can be found", value=index.passages)
        yield GaugeMetricFamily("dolmen_index_embedded", "Passages found by meaning too", value=index.embedded)
        yield GaugeMetricFamily("dolmen_model_ready", "Whether the model is loaded", value=int(model["ready"]))
        yield GaugeMetricFamily("dolmen_journal_lost", "Records of reads that were lost", value=self.rt.journal.lost)
        jobs = GaugeMetricFamily("dolmen_jobs", "Background work; dead jobs failed too often", labels=("kind", "state"))
        for kind, states in sorted(numbers.items()):
            for state, number in sorted(states.items()):
                jobs.add_metric([kind, state], number)
        yield jobs
