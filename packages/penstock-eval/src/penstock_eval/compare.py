"""Compares two scored runs on the same samples: what changed, how sure that is, whether it is worse.

Each metric gets a paired test over the samples both runs scored. With many metrics some would look
worse by luck, so the level is Holm's: the smallest p must pass alpha / metrics, the next
alpha / (metrics - 1), and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from penstock.errors import UsageError
from penstock.passes.scores import read_summary
from penstock_eval.metrics.statistics import PairedTest, paired_test
from penstock_eval.results import SampleResult, read_samples

ALPHA = 0.05

Verdict = Literal["better", "worse", "same"]


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One metric over the shared samples. `verdict` is about the second run."""

    metric: str
    first: float
    second: float
    test: PairedTest
    higher_is_better: bool
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """`lost` are samples that only the first run has. Losing one is worse: it may not raise a mean."""

    protocol: str
    changes: tuple[MetricChange, ...]
    most_worse: tuple[tuple[str, str, float], ...]  # sample, metric, loss
    lost: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def is_worse(self) -> bool:
        return bool(self.lost) or any(change.verdict == "worse" for change in self.changes)


def compare_folders(first: Path, second: Path, alpha: float = ALPHA, tolerance: float = 0.0) -> Comparison:
    """Compares two folders that `penstock eval score` wrote. Raises UsageError on different protocols."""
    one, two = read_summary(first), read_summary(second)
    if one["protocol"] != two["protocol"]:
        raise UsageError(
            f"{first} has scores by {one['protocol']}, {second} by {two['protocol']}.",
            "Score both with the same protocol: their numbers cannot be compared.",
        )
    return compare_runs(
        read_samples(first), read_samples(second), one["higher_is_better"], one["protocol"], alpha, tolerance
    )


def compare_runs(
    first: Sequence[SampleResult],
    second: Sequence[SampleResult],
    higher_is_better: dict[str, bool],
    protocol: str = "",
    alpha: float = ALPHA,
    tolerance: float = 0.0,
) -> Comparison:
    """Compares results by sample id. A mean that falls by at most `tolerance` counts as the same."""
    one, two = {r.id: r for r in first}, {r.id: r for r in second}
    shared = [sample for sample in one if sample in two]
    tests: dict[str, tuple[list[float], list[float], PairedTest]] = {}
    for metric in higher_is_better:
        ids = [i for i in shared if metric in one[i].scores and metric in two[i].scores]
        if ids:
            left, right = [one[i].scores[metric] for i in ids], [two[i].scores[metric] for i in ids]
            tests[metric] = (left, right, paired_test(left, right))
    sure = _sure({metric: test.p for metric, (_, _, test) in tests.items()}, alpha)
    changes = tuple(
        _change(metric, left, right, test, higher_is_better[metric], metric in sure, tolerance)
        for metric, (left, right, test) in tests.items()
    )
    return Comparison(
        protocol=protocol,
        changes=changes,
        most_worse=_most_worse(one, two, shared, higher_is_better),
        lost=tuple(sorted(set(one) - set(two))),
        new=tuple(sorted(set(two) - set(one))),
    )


def _change(
    metric: str,
    left: list[float],
    right: list[float],
    test: PairedTest,
    higher_is_better: bool,
    is_sure: bool,
    tolerance: float,
) -> MetricChange:
    gain = test.difference if higher_is_better else -test.difference
    verdict: Verdict = "same"
    if is_sure and abs(gain) > tolerance:
        verdict = "better" if gain > 0 else "worse"
    return MetricChange(
        metric, sum(left) / len(left), sum(right) / len(right), test, higher_is_better, verdict
    )


def _sure(p_values: dict[str, float], alpha: float) -> set[str]:
    """Returns the metrics whose difference passes Holm's step-down test."""
    sure: set[str] = set()
    for rank, metric in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        if p_values[metric] > alpha / (len(p_values) - rank):
            break
        sure.add(metric)
    return sure


def _most_worse(
    one: dict[str, SampleResult],
    two: dict[str, SampleResult],
    shared: list[str],
    higher_is_better: dict[str, bool],
    count: int = 10,
) -> tuple[tuple[str, str, float], ...]:
    losses: list[tuple[str, str, float]] = []
    for sample in shared:
        for metric, higher in higher_is_better.items():
            if metric in one[sample].scores and metric in two[sample].scores:
                gain = two[sample].scores[metric] - one[sample].scores[metric]
                loss = -gain if higher else gain
                if loss > 0:
                    losses.append((sample, metric, loss))
    return tuple(sorted(losses, key=lambda entry: -entry[2])[:count])
