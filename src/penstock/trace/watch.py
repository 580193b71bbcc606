"""Watches the cards and the model servers of a run from the side, once a second.

    with Watch(["http://localhost:8000"]) as watch:
        ...  # the run
    profile |= watch.profile(profile)

A machine without a card and a run without a server cost no thread. Nothing here can end a run: what
does not answer in time is left out of the picture.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from penstock.trace import server_metrics
from penstock.trace.bounds import Limits, bounds
from penstock.trace.cost import cost
from penstock.trace.gpu import GpuSampler
from penstock.trace.server_metrics import ServerSampler
from penstock.trace.timeline import Timeline

EVERY_S = 1.0
JOIN_S = 3.0  # a look has its deadline; a thread that outstays it is left to itself


class _Sampler(Protocol):
    @property
    def alive(self) -> bool: ...

    def look(self, at: float) -> None: ...

    def close(self) -> None: ...


class Watch:
    """Samples from `with` to its end. Servers that are started later are announced (servers.announce)."""

    def __init__(
        self,
        servers: Sequence[str] = (),
        *,
        limits: Mapping[str, Limits] | None = None,
        in_flight: int = 0,
        stage: str = "",
        every_s: float = EVERY_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._given = list(dict.fromkeys(servers))
        self._limits = dict(limits or {})
        self._in_flight = in_flight
        self._stage = stage  # that asks the servers: what bounds them is what bounds it
        self._every_s = every_s
        self._clock = clock
        self._began = clock()
        self._timeline = Timeline()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._gpu: GpuSampler | None = None
        self._servers: list[ServerSampler] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Watch:
        self._began = self._clock()
        gpu = GpuSampler(self._timeline)
        if gpu.alive:
            self._gpu = gpu
            self._start(gpu, "watch-gpu")
        for url in self._given:
            self._add(url, self._limits.get(url, Limits()), self._in_flight)
        server_metrics.listen(self._add)
        return self

    def __exit__(self, *_: object) -> None:
        server_metrics.unlisten(self._add)
        self._ended.set()
        end = time.monotonic() + JOIN_S
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def profile(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """What to add to the run's profile: "gpu", "servers", "bounds", "cost"; empty ones left out."""
        gpu = self._gpu.summary() if self._gpu else {}
        servers = server_metrics.summary(self._servers, self._timeline)
        found = bounds(servers["each"], self._known_limits(), self._in_flight, gpu) if servers else {}
        parts = {"gpu": gpu, "servers": servers, "bounds": {**found, "stage": self._stage} if found else {}}
        parts["cost"] = cost({**run, **parts}) if gpu or servers else {}
        return {name: part for name, part in parts.items() if part}

    def _known_limits(self) -> list[Limits]:
        return [sampler.limits for sampler in self._servers]

    def _add(self, url: str, limits: Limits, in_flight: int) -> None:
        """From any thread. A server that is known already is not watched twice."""
        with self._lock:
            self._in_flight = in_flight or self._in_flight
            known = [sampler for sampler in self._servers if sampler.url == url]
            if known:
                known[0].limits = limits if limits != Limits() else known[0].limits
                return
            sampler = ServerSampler(url, len(self._servers), self._timeline, limits)
            self._servers.append(sampler)
            self._start(sampler, f"watch-server-{len(self._servers) - 1}")

    def _start(self, sampler: _Sampler, name: str) -> None:
        # a daemon: an answer that never ends must not hold the program
        thread = threading.Thread(target=self._keep_looking, args=(sampler,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _keep_looking(self, sampler: _Sampler) -> None:
        """At once, every second, and a last time when the run is over."""
        try:
            due = self._clock()
            while sampler.alive:
                last = self._ended.is_set()
                sampler.look(self._clock() - self._began)
                if last:
                    return
                due = max(due + self._every_s, self._clock())  # a slow look is not made up for
                self._ended.wait(due - self._clock())
        finally:
            sampler.close()
