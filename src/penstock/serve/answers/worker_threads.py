"""A few threads that do short work for the event loop, such as writing what has arrived.

Not for work that takes long, nor for much of it at once: what comes while all are busy waits its turn. A call
costs a fraction of what it does by FastAPI's own pool, whose up to 40 threads fight for one interpreter.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class WorkerThreads:
    """Runs calls on `count` threads, which begin and end with the `with`."""

    def __init__(self, name: str, count: int) -> None:
        self._queue: queue.SimpleQueue[_HandedOver | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True)
            for number in range(count)
        ]

    def __enter__(self) -> WorkerThreads:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for _thread in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    async def __call__(self, work: Callable[[], T]) -> T:
        """Returns what `work` does. Who is cancelled meanwhile waits for its end: it may use their files."""
        call = _HandedOver(work)
        self._queue.put(call)
        try:
            result: T = await asyncio.shield(call.done)
        except asyncio.CancelledError:
            await asyncio.wait([call.done])
            raise
        return result

    def _work(self) -> None:
        while (call := self._queue.get()) is not None:
            call.run()
            del call  # it holds a request's bytes


class _HandedOver:
    """A piece of work, and the future that its caller waits for."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Any] = self._loop.create_future()
        self._work = work

    def run(self) -> None:
        try:
            result = self._work()
        except BaseException as exc:
            self._tell(self.done.set_exception, exc)
        else:
            self._tell(self.done.set_result, result)

    def _tell(self, tell: Callable[[Any], None], what: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody waits any more
            self._loop.call_soon_threadsafe(tell, what)
