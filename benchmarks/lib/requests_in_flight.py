"""Counts the requests that a server runs while a client works, read from the server's own /metrics.

Does not use penstock.trace.vllm_metrics: the GLM-OCR SDK's side imports this too, without penstock.
"""

from __future__ import annotations

import http.client
import re
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

EVERY_S = 0.02
FULL = 0.95  # of the limit: from here on it counts as filled, which is the goal
_RUNNING = re.compile(rb"^vllm:num_requests_running\S* ([0-9.]+)", re.MULTILINE)


class RequestsInFlight:
    """Samples how many requests run at the server and how many wait here; use it in a `with`.

    A sample counts for the time since the last one. It counts towards `filled` only while the client had at
    least `limit` requests, running or waiting.
    """

    def __init__(self, url: str, limit: int, waiting: Callable[[], int]) -> None:
        self._address = urlsplit(url)
        self._limit = limit
        self._waiting = waiting
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="requests-in-flight", daemon=True)
        self._samples: list[tuple[float, int, int]] = []  # seconds, running, waiting

    def __enter__(self) -> RequestsInFlight:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def figures(self) -> dict[str, Any]:
        """`filled` is a share of the time, `mean_share` of the limit, while the limit could be reached."""
        ready = [(s, run) for s, run, wait in self._samples if run + wait >= self._limit]
        ready_s = sum(s for s, _ in ready)
        busy_s = sum(s for s, run, _ in self._samples if run)
        return {
            "peak": max((run for _, run, _ in self._samples), default=0),
            "mean": round(sum(s * run for s, run, _ in self._samples) / busy_s, 1) if busy_s else 0.0,
            "ready_s": round(ready_s, 2),
            "filled": _share(sum(s for s, run in ready if run >= FULL * self._limit), ready_s),
            "mean_share": _share(sum(s * min(1.0, run / self._limit) for s, run in ready), ready_s),
        }

    def _watch(self) -> None:
        assert self._address.hostname is not None
        connection = http.client.HTTPConnection(self._address.hostname, self._address.port, timeout=30)
        before = time.monotonic()
        while not self._ended.wait(EVERY_S):
            connection.request("GET", "/metrics")
            found = _RUNNING.search(connection.getresponse().read())
            waiting, now = self._waiting(), time.monotonic()
            self._samples.append((now - before, int(float(found[1])) if found else 0, waiting))
            before = now
        connection.close()


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None
