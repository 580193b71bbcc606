"""Measures the CPU time of calls."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def per_call_ms(call: Callable[[], object], rounds: int) -> float:
    """CPU milliseconds of one call: the median, since other work on the machine slows some calls."""
    call()
    times = []
    for _ in range(rounds):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return 1e3 * statistics.median(times)


def mean_ms(call: Callable[[T], object], things: Sequence[T]) -> float:
    """CPU milliseconds of a call, the mean over things that differ."""
    call(things[0])
    began = time.process_time()
    for thing in things:
        call(thing)
    return 1e3 * (time.process_time() - began) / len(things)
