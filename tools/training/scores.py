"""How far two formulas are apart, and how well lines are read."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

Cut = TypeVar("Cut")


def edit_distance(first: Sequence[str], second: Sequence[str]) -> float:
    """Insertions, deletions and changes of tokens over the longer one's length: from 0, the same, to 1."""
    if not first and not second:
        return 0.0
    row = list(range(len(second) + 1))
    for at, one in enumerate(first, start=1):
        before, row[0] = row[0], at
        for to, other in enumerate(second, start=1):
            before, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, before + (one != other))
    return row[-1] / max(len(first), len(second))


def scored(
    samples: Sequence[tuple[Cut, str]], read: Callable[[Cut], str], bare: Callable[[str], str]
) -> dict[str, float]:
    """Reads every line; returns the character error rate, lines without a fault and CPU milliseconds.

    `bare` makes texts comparable. Processes that `read` starts are counted.
    """
    began = _cpu_s()
    said = [read(cut) for cut, _ in samples]
    seconds = _cpu_s() - began
    pairs = [(bare(text), bare(true)) for text, (_, true) in zip(said, samples, strict=True)]
    wrong = sum(edit_distance(text, true) * max(len(text), len(true)) for text, true in pairs)
    return {
        "cer": round(wrong / max(1, sum(len(true) for _, true in pairs)), 4),
        "exact": round(sum(text == true for text, true in pairs) / len(pairs), 4),
        "cpu_ms": round(1000 * seconds / len(pairs), 1),
    }


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime
