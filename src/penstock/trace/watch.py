"""Watches the cards and the model servers of a run from the side, once a second.

    with RunWatch(["http://localhost:8000"]) as watch:
        ...  # the run
    profile = watch.add_to(run.profile())

A machine without a card and a run without a server cost no thread. Nothing here can end a run: a server
or driver that does not answer in time is left out of the profile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from penstock.trace import request_times, server_metrics
from penstock.trace.bounds import Limits, bounds
from penstock.trace.cost import cost
from penstock.trace.gpu import GpuSampler
from penstock.trace.profile import Profile
from penstock.trace.request_times import CLIENTS, RequestTimes
from penstock.trace.server_metrics import SERVERS, ServerNews, ServerSampler
from penstock.trace.timeline import Timeline

EVERY_S = 1.0
JOIN_S = 3.0  # a look has its deadline; a thread that outstays it is left to itself


class RunWatch:
    """Samples while the `with` lasts; also the servers and clients that announce themselves meanwhile."""

    def __init__(
        self,
        servers: Sequence[str] = (),
        *,
        limits: Mapping[str, Limits] | None = None,
        in_flight: int = 0,
        stage: str = "",
        at_work: Callable[[], Sequence[str]] | None = None,
        every_s: float = EVERY_S,
    ) -> None:
        self._given = list(dict.fromkeys(servers))
        self._limits = dict(limits or {})
        self._in_flight = in_flight
        self._stage = stage  # that asks the servers: what bounds them is what bounds it
        self._at_work = at_work  # the stages that work now
        self._every_s = every_s
        self._began = time.monotonic()
        self._timeline = Timeline()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._gpu: GpuSampler | None = None
        self._servers: list[ServerSampler] = []
        self._clients: list[RequestTimes] = []
        self._threads: list[threading.Thread] = []
        self._stack = ExitStack()

    def __enter__(self) -> RunWatch:
        self._began = time.monotonic()
        gpu = GpuSampler(self._timeline, self._at_work)
        if gpu.alive:
            self._gpu = gpu
            self._start(gpu, "watch-gpu")
        for url in self._given:
            self._add(url, self._limits.get(url, Limits()), self._in_flight)
        self._stack.enter_context(SERVERS.heard_by(self._hear))
        self._stack.enter_context(CLIENTS.heard_by(self._clients.append))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._ended.set()
        end = time.monotonic() + JOIN_S
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def add_to(self, profile: Profile) -> Profile:
        """Returns the profile with what was watched: gpu, servers, requests, bounds and cost."""
        gpu = self._gpu.summary() if self._gpu else None
        servers = server_metrics.summary(self._servers, self._timeline)
        found = bounds(servers.each, self._known_limits(), self._in_flight, gpu) if servers else None
        profile = replace(
            profile,
            gpu=gpu,
            servers=servers,
            requests=request_times.summary(self._clients),
            bounds=replace(found, stage=self._stage) if found else None,
        )
        return replace(profile, cost=cost(profile)) if gpu or servers else profile

    def _known_limits(self) -> list[Limits]:
        return [sampler.limits for sampler in self._servers]

    def _hear(self, news: ServerNews) -> None:
        self._add(news.url, news.limits, news.in_flight)

    def _add(self, url: str, limits: Limits, in_flight: int) -> None:
        """Any thread may call it. A server that is watched already is not watched twice."""
        with self._lock:
            self._in_flight = in_flight or self._in_flight
            known = [sampler for sampler in self._servers if sampler.url == url]
            if known:
                known[0].limits = limits if limits != Limits() else known[0].limits
                return
            sampler = ServerSampler(url, len(self._servers), self._timeline, limits)
            self._servers.append(sampler)
            self._start(sampler, f"watch-server-{len(self._servers) - 1}")

    def _start(self, sampler: GpuSampler | ServerSampler, name: str) -> None:
        # a daemon: an answer that never ends must not hold the program
        thread = threading.Thread(target=self._keep_looking, args=(sampler,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _keep_looking(self, sampler: GpuSampler | ServerSampler) -> None:
        """Looks at once, every second, and a last time when the run is over."""
        try:
            due = time.monotonic()
            while sampler.alive:
                last = self._ended.is_set()
                sampler.look(time.monotonic() - self._began)
                if last:
                    return
                due = max(due + self._every_s, time.monotonic())  # a slow look is not made up for
                self._ended.wait(due - time.monotonic())
        finally:
            sampler.close()
