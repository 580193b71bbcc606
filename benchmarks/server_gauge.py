"""How many requests a server runs while a client works, read from its own /metrics.

Only the standard library, and not penstock.trace.vllm_metrics: the other side of the comparison imports it
as well, in an environment without penstock.
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
ENOUGH = 0.95  # of the allowed requests, which is the goal
_RUNNING = re.compile(rb"^vllm:num_requests_running\S* ([0-9.]+)", re.MULTILINE)


class Gauge:
    """Samples what runs at the server and what waits here; use it in a `with`.

    A sample counts with the time since the last one, and towards `filled` only where as many requests
    as are allowed were there to be sent.
    """

    def __init__(self, url: str, limit: int, waiting: Callable[[], int]) -> None:
        self._address = urlsplit(url)
        self._limit = limit
        self._waiting = waiting
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="gauge", daemon=True)
        self._samples: list[tuple[float, int, int]] = []  # seconds, running, waiting

    def __enter__(self) -> Gauge:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def figures(self) -> dict[str, Any]:
        """`filled`: share of the time; `mean_share`: of the limit; both while enough was ready."""
        ready = [(s, run) for s, run, wait in self._samples if run + wait >= self._limit]
        ready_s = sum(s for s, _ in ready)
        busy_s = sum(s for s, run, _ in self._samples if run)
        return {
            "peak": max((run for _, run, _ in self._samples), default=0),
            "mean": round(sum(s * run for s, run, _ in self._samples) / busy_s, 1) if busy_s else 0.0,
            "ready_s": round(ready_s, 2),
            "filled": _share(sum(s for s, run in ready if run >= ENOUGH * self._limit), ready_s),
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
