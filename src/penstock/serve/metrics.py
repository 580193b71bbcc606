"""Figures for Prometheus: requests as they come, and the service's state at each scrape."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class RequestCounts(Collector):
    """Requests and their seconds by path and status. Paths are those of routes, so there are few."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._seconds: Counter[tuple[str, str]] = Counter()

    def add(self, method: str, path: str, status: int, seconds: float) -> None:
        self._requests[method, path, str(status)] += 1
        self._seconds[method, path] += seconds  # type: ignore[assignment]

    def collect(self) -> Iterable[Metric]:
        labels = ["method", "path", "status"]
        requests = CounterMetricFamily("penstock_requests", "Requests that were answered.", labels=labels)
        seconds = CounterMetricFamily("penstock_request_seconds", "Until they were.", labels=labels[:2])
        for key, count in sorted(self._requests.items()):
            requests.add_metric(key, count)
        for route, total in sorted(self._seconds.items()):
            seconds.add_metric(route, total)
        return [requests, seconds]


Figure = tuple[str, str, float | Mapping[str, float]]  # a name, what it is, how much; or how much by state


class ServiceFigures(Collector):
    """How the service is now."""

    def __init__(self, figures: Iterable[Figure]) -> None:
        self._families = list(map(_family, figures))

    def collect(self) -> Iterable[Metric]:
        return self._families


def _family(figure: Figure) -> Metric:
    name, told, value = figure
    if name.endswith("_total"):
        assert not isinstance(value, Mapping)
        return CounterMetricFamily(name, told, value=value)
    if not isinstance(value, Mapping):
        return GaugeMetricFamily(name, told, value=value)
    family = GaugeMetricFamily(name, told, labels=["state"])
    for state, count in value.items():
        family.add_metric([state], count)
    return family


def text_of(*collectors: Collector) -> bytes:
    """Returns these figures and those of the process as text. No registry outlives the call."""
    registry = CollectorRegistry(auto_describe=False)
    for collector in collectors:
        registry.register(collector)
    ProcessCollector(registry=registry)
    return generate_latest(registry)


class CountingMiddleware:
    """Counts every request by its route."""

    def __init__(self, app: ASGIApp, counts: RequestCounts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            path = getattr(scope.get("route"), "path", "other")
            self._counts.add(_method(scope["method"]), path, status, time.monotonic() - began)


def _method(given: str) -> str:
    return given if given in ("GET", "HEAD", "POST", "DELETE", "PUT", "OPTIONS") else "other"
