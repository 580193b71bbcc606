"""Durations in buckets of equal ratio: constant memory, and percentiles within half a bucket."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

PER_DECADE = 100  # buckets: percentiles within 1.2 %


@dataclass(slots=True)
class TimeHistogram:
    """Counts durations, in about a thousand counters."""

    buckets: Counter[int] = field(default_factory=Counter)

    def add(self, seconds: float) -> None:
        self.buckets[round(math.log10(max(seconds, 1e-6)) * PER_DECADE)] += 1

    def percentile(self, share: float) -> float:
        """Returns the seconds within which this share of the durations lies; 0 if there are none."""
        left = share * self.buckets.total()
        for bucket in sorted(self.buckets):
            left -= self.buckets[bucket]
            if left <= 1e-9:
                return float(10 ** (bucket / PER_DECADE))
        return 0.0
