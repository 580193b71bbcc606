"""Counts of requests, and figures as Prometheus reads them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Sample = tuple[str, dict[str, str], float]


class RequestCounts:
    """Requests and their seconds by path and status. Paths are those of routes, so there are few."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: Counter[tuple[str, str]] = Counter()

    def add(self, method: str, path: str, status: int, seconds: float) -> None:
        self._requests[method, path, status] += 1
        self._seconds[method, path] += seconds  # type: ignore[assignment]

    def samples(self) -> list[Sample]:
        counts: list[Sample] = [
            ("penstock_requests_total", {"method": method, "path": path, "status": str(status)}, count)
            for (method, path, status), count in sorted(self._requests.items())
        ]
        seconds: list[Sample] = [
            ("penstock_request_seconds_total", {"method": method, "path": path}, round(total, 6))
            for (method, path), total in sorted(self._seconds.items())
        ]
        return [*counts, *seconds]


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


def lines(kind: str, samples: Iterable[Sample]) -> str:
    """Returns samples in the text format, each name with its kind once."""
    told: list[str] = []
    known: set[str] = set()
    for name, labels, value in samples:
        if name not in known:
            known.add(name)
            told.append(f"# TYPE {name} {kind}\n")
        words = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        told.append(f"{name}{{{words}}} {value}\n" if words else f"{name} {value}\n")
    return "".join(told)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
