"""Work that processes of their own do while this one loads what it needs itself.

Threads would not do: what takes seconds to load (Kiwi, an embedder, lancedb) holds the interpreter meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any, TypeVar

from penstock.processes.child import Child

DEADLINE_S = 600.0  # callers of a server set shorter ones

Result = TypeVar("Result")
Work = Callable[[], Any]


class Background:
    """Starts what it is given at once; the `with` ends what is no longer awaited.

    with Background() as background:
        vector = background.do(partial(embed_question, out, question))
        ...
        vector.result()
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(thread_name_prefix="background")  # threads that only wait
        self._children: list[Child[Work, Any]] = []
        self._ended = Event()

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for child in self._children:
            child.interrupt()
        self._pool.shutdown()

    def do(self, work: Callable[[], Result]) -> Future[Result]:
        """`work` must pickle. Its error is raised by the future."""
        child: Child[Work, Any] = Child(_open, name=f"background-{len(self._children)}")
        self._children.append(child)
        return self._pool.submit(self._ask, child, work)

    def _ask(self, child: Child[Work, Any], work: Work) -> Any:
        try:
            child.start()
            # one that was not there yet could not be interrupted
            return None if self._ended.is_set() else child.call(work, DEADLINE_S)
        finally:
            child.kill()  # it has said all it knows, and would take its time to give its memory back


def _open() -> Callable[[Work], Any]:
    return _call


def _call(work: Work) -> Any:
    return work()
