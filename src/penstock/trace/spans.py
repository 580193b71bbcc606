"""Records where the time of a run goes, in constant memory however long the run is.

Every worker thread divides its life into laps without gaps: open, run, starved (nothing to take) and
blocked (nowhere to put). So busy + starved + blocked is 100 % of each stage by construction.
`Trace` adds laps to sums, a histogram and a timeline as they come; only `--trace` keeps every lap.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from penstock.trace.profile import Bin, Profile, StageProfile, StageTimeline, narrowest
from penstock.trace.time_histogram import TimeHistogram

Kind = Literal["open", "run", "starved", "blocked"]
SHARES: tuple[Kind, ...] = ("run", "starved", "blocked")

MAX_BINS = 240  # as many as a screen shows; the bins double in width when the run outgrows them
FIRST_BIN_S = 0.25


@dataclass(frozen=True, slots=True)
class Span:
    """One lap of one worker thread."""

    stage: str
    worker: str
    kind: Kind
    start: float
    seconds: float
    items: int = 0


@dataclass
class _Sums:
    seconds: dict[Kind, float] = field(default_factory=lambda: dict.fromkeys(("open", *SHARES), 0.0))
    items: int = 0
    calls: int = 0
    failed: int = 0
    restarts: int = 0
    call_times: TimeHistogram = field(default_factory=TimeHistogram)


@dataclass(frozen=True, slots=True)
class StageInfo:
    """What the report says about a stage besides its times."""

    name: str
    workers: int = 1
    overlap: int = 1
    process: bool = False
    max_items: int = 1


@dataclass(frozen=True, slots=True)
class StageState:
    """One stage now: items that wait before it, items in its workers, items it has let go."""

    name: str
    waiting: int
    running: int
    done: int

    def __str__(self) -> str:
        return f"{self.name}: {self.waiting} waiting, {self.running} running, {self.done} done"


class Trace:
    """Collects spans from all threads of one run."""

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, sink: Callable[[Span], None] | None = None
    ):
        self.clock = clock
        self.began = clock()
        self._sink = sink
        self._lock = threading.Lock()
        self._sums: dict[str, _Sums] = {}
        self._bin_s = FIRST_BIN_S
        self._bins: dict[str, list[list[float]]] = {}

    def add(self, span: Span) -> None:
        with self._lock:
            sums = self._sums.setdefault(span.stage, _Sums())
            sums.seconds[span.kind] += span.seconds
            if span.kind == "run":
                sums.calls += 1
                sums.items += span.items
                sums.call_times.add(span.seconds)
            if span.kind in SHARES:
                self._draw(span)
        if self._sink is not None:
            self._sink(span)

    def count(self, stage: str, *, failed: int = 0, restarts: int = 0) -> None:
        with self._lock:
            sums = self._sums.setdefault(stage, _Sums())
            sums.failed += failed
            sums.restarts += restarts

    def items(self, stage: str) -> int:
        with self._lock:
            return self._sums[stage].items if stage in self._sums else 0

    def profile(self, stages: list[StageInfo]) -> Profile:
        """A profile with what spans tell: seconds, stages, their timeline and the bottleneck."""
        with self._lock:
            wall = max(self.clock() - self.began, 1e-9)
            rows = tuple(_row(info, self._sums.get(info.name, _Sums()), wall) for info in stages)
            timeline = {info.name: tuple(map(_frozen, self._bins.get(info.name, []))) for info in stages}
            return Profile(
                seconds=wall,
                stages=rows,
                timeline=StageTimeline(self._bin_s, timeline),
                bottleneck=narrowest(rows),
            )

    def _draw(self, span: Span) -> None:
        start, end = span.start - self.began, span.start - self.began + span.seconds
        while end >= self._bin_s * MAX_BINS:
            self._widen()
        bins = self._bins.setdefault(span.stage, [])
        column = SHARES.index(span.kind)
        for number in range(max(0, int(start / self._bin_s)), int(end / self._bin_s) + 1):
            while len(bins) <= number:
                bins.append([0.0, 0.0, 0.0])
            left, right = number * self._bin_s, (number + 1) * self._bin_s
            bins[number][column] += max(0.0, min(end, right) - max(start, left))

    def _widen(self) -> None:
        self._bin_s *= 2
        for stage, bins in self._bins.items():
            padded = bins + [[0.0, 0.0, 0.0]] * (len(bins) % 2)
            pairs = zip(padded[::2], padded[1::2], strict=True)
            self._bins[stage] = [[a + b for a, b in zip(one, two, strict=True)] for one, two in pairs]


class Laps:
    """One thread's stopwatch: each `lap` records the time since the one before."""

    def __init__(self, trace: Trace, stage: str, worker: str) -> None:
        self._trace = trace
        self._stage = stage
        self._worker = worker
        self._since = trace.clock()

    def lap(self, kind: Kind, items: int = 0) -> None:
        now = self._trace.clock()
        self._trace.add(Span(self._stage, self._worker, kind, self._since, now - self._since, items))
        self._since = now


def _frozen(seconds: list[float]) -> Bin:
    run, starved, blocked = seconds
    return run, starved, blocked


def _row(info: StageInfo, sums: _Sums, wall: float) -> StageProfile:
    total = sum(sums.seconds[kind] for kind in SHARES) or 1e-9
    busy_s = sums.seconds["run"]
    return StageProfile(
        name=info.name,
        workers=info.workers,
        overlap=info.overlap,
        process=info.process,
        items=sums.items,
        calls=sums.calls,
        failed=sums.failed,
        restarts=sums.restarts,
        open_s=sums.seconds["open"],
        busy=busy_s / total,
        starved=sums.seconds["starved"] / total,
        blocked=sums.seconds["blocked"] / total,
        busy_s=busy_s,
        items_per_s=sums.items / wall,
        capacity_per_s=sums.items / busy_s * info.workers * info.overlap if busy_s else 0.0,
        batch_fill=sums.items / (sums.calls * info.max_items) if sums.calls else 0.0,
        p50_ms=sums.call_times.percentile(0.50) * 1000,
        p95_ms=sums.call_times.percentile(0.95) * 1000,
    )
