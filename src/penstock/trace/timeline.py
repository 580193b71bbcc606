"""Numbers sampled during a run, in constant memory however long it is.

A `Timeline` holds the mean of each quantity in at most 240 bins of time, which double in width when the
run outgrows them. A `Gauge` holds the mean and the peak of one quantity, `Shares` the median of a share.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from penstock.trace.profile import Curve, MeanAndPeak

MAX_BINS = 240  # as the stages' timeline: what a screen shows
FIRST_BIN_S = 1.0  # the samplers' own pace


class Timeline:
    """Several threads fill it; it is read when the run is over."""

    def __init__(self, bin_s: float = FIRST_BIN_S) -> None:
        self.bin_s = bin_s
        self._lock = threading.Lock()
        self._bins: dict[str, list[tuple[float, int]]] = {}  # sum and count

    def add(self, at: float, numbers: Mapping[str, float]) -> None:
        """Adds samples taken `at` seconds after the start."""
        with self._lock:
            while at >= self.bin_s * MAX_BINS:
                self._widen()
            place = max(0, int(at / self.bin_s))
            for name, value in numbers.items():
                bins = self._bins.setdefault(name, [])
                bins.extend([(0.0, 0)] * (place + 1 - len(bins)))
                total, count = bins[place]
                bins[place] = (total + value, count + 1)

    def means(self, name: str) -> Curve:
        """One mean for each bin, None where there was no sample."""
        with self._lock:
            return tuple(total / count if count else None for total, count in self._bins.get(name, []))

    def _widen(self) -> None:
        self.bin_s *= 2
        for name, bins in self._bins.items():
            padded = bins + [(0.0, 0)] * (len(bins) % 2)
            pairs = zip(padded[::2], padded[1::2], strict=True)
            self._bins[name] = [(a[0] + b[0], a[1] + b[1]) for a, b in pairs]


def added(curves: Sequence[Curve]) -> Curve:
    """The sum of several curves, bin by bin. A curve without a sample in a bin counts as 0 there."""
    columns = zip_longest(*curves)
    sampled = [[value for value in column if value is not None] for column in columns]
    return tuple(sum(values) if values else None for values in sampled)


@dataclass(slots=True)
class Gauge:
    """Mean and peak of the values added to it."""

    total: float = 0.0
    count: int = 0
    peak: float = 0.0

    def add(self, value: float) -> None:
        self.total += value
        self.count += 1
        self.peak = max(self.peak, value)

    def summary(self) -> MeanAndPeak | None:
        return MeanAndPeak(self.total / self.count, self.peak) if self.count else None


@dataclass(slots=True)
class Shares:
    """The median of shares between 0 and 1. Drivers tell whole percents, so 101 counters are exact."""

    counts: Counter[int] = field(default_factory=Counter)

    def add(self, share: float) -> None:
        self.counts[round(share * 100)] += 1

    def median(self) -> float | None:
        """The lower of the middle two where their number is even; None without any."""
        left = (self.counts.total() + 1) // 2
        for percent in sorted(self.counts):
            left -= self.counts[percent]
            if left <= 0:
                return percent / 100
        return None
