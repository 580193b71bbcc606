"""Watches a load: how busy the GPU is, and how many cores the servers and this process use.

with LoadWatch(["http://127.0.0.1:8000"]) as watch:
    ...
print(watch.sentence())
"""

from __future__ import annotations

import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import psutil

from penstock.trace import vllm_metrics
from penstock.trace.gpu import GpuDriver, open_driver
from penstock.trace.vllm_metrics import VllmMetrics

EVERY_S = 1.0
# as vLLM names its processes where setproctitle is installed; its first process only waits for the others
GROUPS = {"VLLM::APIServer": "front end", "VLLM::EngineCor": "engine", "vllm": "front end"}


class LoadWatch:
    """Samples once a second from the first request on. Cores are over that time, the rest are means."""

    def __init__(self, servers: Sequence[str]) -> None:
        self._servers = servers
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="load-watch", daemon=True)
        self._samples: list[dict[str, float]] = []
        self._cores: dict[str, float] = {}

    def __enter__(self) -> LoadWatch:
        self._began, self._before = time.monotonic(), _cpu_seconds()
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        after, seconds = _cpu_seconds(), time.monotonic() - self._began
        self._cores = {who: (used - self._before.get(who, 0.0)) / seconds for who, used in after.items()}
        self._ended.set()
        self._thread.join()

    def figures(self) -> dict[str, Any]:
        """Means of running and waiting requests, GPU load and watts, and the cores of each group."""
        names = self._samples[0] if self._samples else {}
        means = {name: round(statistics.fmean(one[name] for one in self._samples), 2) for name in names}
        return {**means, "cores": {who: round(cores, 2) for who, cores in sorted(self._cores.items())}}

    def sentence(self) -> str:
        found = self.figures()
        cores = ", ".join(f"{who} {cores:.1f}" for who, cores in found.pop("cores").items())
        running = " ".join(f"{one['running']:.0f}" for one in self._samples)
        means = ", ".join(f"{name} {value:g}" for name, value in found.items())
        return f"{means}; cores: {cores}; running each second: {running}"

    def _watch(self) -> None:
        card = open_driver()
        while not self._ended.wait(EVERY_S):
            seen = self._look(card)
            if seen["running"] and not self._samples:
                self._began, self._before = time.monotonic(), _cpu_seconds()
            if seen["running"] or self._samples:
                self._samples.append(seen)
        if card:
            card.close()

    def _look(self, card: GpuDriver | None) -> dict[str, float]:
        found = [metrics for server in self._servers if (metrics := _metrics(server)) is not None]
        reading = ((card.read() if card else None) or [None])[0]
        return {
            "running": sum(metrics.running for metrics in found),
            "waiting": sum(metrics.waiting for metrics in found),
            "gpu": (reading and reading.load) or 0.0,
            "watts": (reading and reading.power_w) or 0.0,
        }


def _metrics(server: str) -> VllmMetrics | None:
    try:
        return vllm_metrics.read(vllm_metrics.fetch(server, deadline_s=5))
    except OSError:
        return None


def _cpu_seconds() -> dict[str, float]:
    """CPU seconds so far by group: front ends, engines, and "ours", this process with its children."""
    own = psutil.Process()
    ours = {child.pid for child in own.children(recursive=True)} | {own.pid}
    used: dict[str, float] = defaultdict(float)
    times = own.cpu_times()
    used["ours"] = times.children_user + times.children_system
    for process in psutil.process_iter():
        try:
            group = _group(process.cmdline(), process.pid in ours)
            if group:
                times = process.cpu_times()
                used[group] += times.user + times.system
        except psutil.Error:
            continue
    return used


def _group(command: list[str], ours: bool) -> str | None:
    title = " ".join(command[:4])
    found = next((group for start, group in GROUPS.items() if start in title), None)
    return found or ("ours" if ours else None)
