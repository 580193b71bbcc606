"""Work that a few may do at once, on threads, while a bounded number waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio

from penstock.serve.errors import HttpRefusal

MAX_ASKING = 64  # requests that wait for the one drawing process, or for the one searcher
T = TypeVar("T")


class BoundedCalls:
    """Runs so many calls at a time. Refuses more than MAX_ASKING that wait."""

    def __init__(self, at_once: int = 1) -> None:
        self._limiter = anyio.CapacityLimiter(at_once)

    async def __call__(self, work: Callable[[], T]) -> T:
        if self._limiter.statistics().tasks_waiting >= MAX_ASKING:
            raise HttpRefusal(503, "Too many requests wait for this.", "Try again in a moment.")
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)
