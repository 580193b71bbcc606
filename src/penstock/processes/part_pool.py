"""One queue of parts for all rows in flight.

A stage with uneven parts (the regions of a page, the objects of a photo) is called for several rows
at once; all their parts go through one pool. A row goes on when its last part has landed, and one
slow row holds back no slot. A part that fails does so alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from penstock.errors import DeadlinePassed, Failure, ItemError, PenstockError

T = TypeVar("T")


class PartPool:
    """`num_threads` threads that work on parts, whichever row they belong to."""

    def __init__(self, num_threads: int, name: str, deadline_s: float) -> None:
        self._pool = ThreadPoolExecutor(num_threads, thread_name_prefix=f"{name}-part")
        self._name = name
        self._deadline_s = deadline_s

    def map(self, parts: Sequence[Callable[[], T]]) -> list[T | Failure]:
        """Returns each part's result, or why it has none, in the order given.

        Errors that no part can help (missing weights, a full disk) are raised.
        """
        futures = [self._pool.submit(part) for part in parts]
        wait(futures, timeout=self._deadline_s)
        return [self._landed(future) for future in futures]

    def call(self, part: Callable[[], T]) -> T:
        """Returns one part's result, in its turn. Raises what it raises."""
        try:
            return self._pool.submit(part).result(timeout=self._deadline_s)
        except TimeoutError as exc:
            raise self._late() from exc

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _landed(self, future: Future[Any]) -> Any:
        if not future.done():
            future.cancel()
            return failure_of(self._late(), self._name)
        exc = future.exception()
        if exc is None:
            return future.result()
        if not isinstance(exc, Exception):
            raise exc
        return failure_of(exc, self._name)

    def _late(self) -> DeadlinePassed:
        return DeadlinePassed(f"It was not done after {self._deadline_s:g} s.", "Raise --page-timeout.")


def failure_of(exc: Exception, stage: str) -> Failure:
    """Returns a part's failure. Raises again what is not the part's fault."""
    if isinstance(exc, PenstockError):
        if not isinstance(exc, ItemError):
            raise exc
        return Failure(stage=stage, kind=type(exc).__name__, message=exc.message, advice=exc.advice)
    return Failure(stage=stage, kind=type(exc).__name__, message=f"{type(exc).__name__}: {exc}")
