"""CPU time of calls. A module of its own: the SDK's environment has nothing of ours."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def per_call_ms(call: Callable[[], object], rounds: int) -> float:
    """Of one call, the median: others use this machine too."""
    call()
    times = []
    for _ in range(rounds):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return 1e3 * statistics.median(times)


def mean_ms(call: Callable[[T], object], things: Sequence[T]) -> float:
    """Of a call for each of many things, which differ."""
    call(things[0])
    began = time.process_time()
    for thing in things:
        call(thing)
    return 1e3 * (time.process_time() - began) / len(things)
