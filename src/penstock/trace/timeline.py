"""Numbers sampled while a run goes on, kept in constant memory however long it is.

A `Timeline` holds the mean of each quantity in at most 240 stretches of time, which double in width
when the run outgrows them. A `Gauge` holds one quantity's mean and peak.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

MAX_BINS = 240  # as the stages' timeline: what a screen shows
FIRST_BIN_S = 1.0  # the samplers' own pace


class Timeline:
    """Filled by several threads, read when the run is over."""

    def __init__(self, bin_s: float = FIRST_BIN_S) -> None:
        self.bin_s = bin_s
        self._lock = threading.Lock()
        self._bins: dict[str, list[tuple[float, int]]] = {}  # sum and count

    def add(self, at: float, numbers: Mapping[str, float]) -> None:
        """What was seen `at` seconds after the start."""
        with self._lock:
            while at >= self.bin_s * MAX_BINS:
                self._widen()
            place = max(0, int(at / self.bin_s))
            for name, value in numbers.items():
                bins = self._bins.setdefault(name, [])
                bins.extend([(0.0, 0)] * (place + 1 - len(bins)))
                total, count = bins[place]
                bins[place] = (total + value, count + 1)

    def means(self, name: str) -> list[float | None]:
        """One number a stretch, None where nothing was seen."""
        with self._lock:
            return [total / count if count else None for total, count in self._bins.get(name, [])]

    def _widen(self) -> None:
        self.bin_s *= 2
        for name, bins in self._bins.items():
            padded = bins + [(0.0, 0)] * (len(bins) % 2)
            pairs = zip(padded[::2], padded[1::2], strict=True)
            self._bins[name] = [(a[0] + b[0], a[1] + b[1]) for a, b in pairs]


def added(lines: list[list[float | None]]) -> list[float | None]:
    """The sum of several lines, moment by moment; where one saw nothing, that of the others."""
    length = max((len(line) for line in lines), default=0)
    padded = [line + [None] * (length - len(line)) for line in lines]
    seen = [[value for value in moment if value is not None] for moment in zip(*padded, strict=True)]
    return [sum(moment) if moment else None for moment in seen]


@dataclass(slots=True)
class Gauge:
    """Mean and peak of what it was given."""

    total: float = 0.0
    count: int = 0
    peak: float = 0.0

    def add(self, value: float) -> None:
        self.total += value
        self.count += 1
        self.peak = max(self.peak, value)

    def summary(self) -> dict[str, float] | None:
        return {"mean": self.total / self.count, "peak": self.peak} if self.count else None
