"""Tells how sure a mean is: bootstrap intervals, and a paired test of two runs on the same samples.

Both are seeded, so the same scores give the same interval on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.passes.scores import Interval

RESAMPLES = 2000  # the 95 % ends move by under 2 % of the width between seeds
FLIPS = 10_000  # the smallest p they can show is 1e-4
MAX_EXACT = 13  # all 2^13 sign flips are fewer than FLIPS
SEED = 20240607
CHUNK = 4_000_000  # resampled indices held at once


@dataclass(frozen=True, slots=True)
class PairedTest:
    """`difference` is mean(second) - mean(first) on shared samples; `p` is two-sided."""

    difference: float
    low: float
    high: float
    p: float
    count: int


def bootstrap_interval(scores: Sequence[float], confidence: float = 0.95, seed: int = SEED) -> Interval:
    """Returns the mean of `scores` with its percentile bootstrap interval. NaN without scores."""
    values = np.asarray(scores, dtype=np.float64)
    if values.size == 0:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    means = _resampled_means(values, seed)
    tail = (1.0 - confidence) / 2
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return Interval(float(values.mean()), float(low), float(high), int(values.size))


def paired_test(first: Sequence[float], second: Sequence[float], seed: int = SEED) -> PairedTest:
    """Tests whether two runs differ on the same samples, by flipping signs of the differences.

    Exact for few samples, random flips for many; the interval is a bootstrap of the differences.
    """
    differences = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    if differences.size == 0:
        return PairedTest(float("nan"), float("nan"), float("nan"), 1.0, 0)
    interval = bootstrap_interval(differences.tolist(), seed=seed)
    return PairedTest(
        interval.mean, interval.low, interval.high, _sign_flip_p(differences, seed), interval.count
    )


def _sign_flip_p(differences: np.ndarray[tuple[int], np.dtype[np.float64]], seed: int) -> float:
    count = differences.size
    observed = abs(differences.sum())
    if observed == 0.0:
        return 1.0
    if count <= MAX_EXACT:
        bits = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
        sums = np.abs((1 - 2 * bits) @ differences)
        return float((sums >= observed * (1 - 1e-12)).mean())
    generator = np.random.default_rng(seed)
    extreme = done = 0
    while done < FLIPS:
        rows = min(FLIPS - done, max(1, CHUNK // count))
        signs = generator.integers(0, 2, size=(rows, count), dtype=np.int8) * 2 - 1
        extreme += int((np.abs(signs @ differences) >= observed * (1 - 1e-12)).sum())
        done += rows
    return (extreme + 1) / (FLIPS + 1)


def _resampled_means(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], seed: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    generator = np.random.default_rng(seed)
    rows = max(1, CHUNK // values.size)
    parts = [
        values[generator.integers(0, values.size, size=(min(rows, RESAMPLES - start), values.size))].mean(
            axis=1
        )
        for start in range(0, RESAMPLES, rows)
    ]
    return np.concatenate(parts)
