"""Several children that share one job: an idle one takes the next task.

A task whose process dies is tried once more in a fresh one; the second death is the task's own
failure. When deaths come one after another without a success between them, the fault is not the
tasks': the breaker opens, and tasks fail at once until a trial goes well again.
A pool holds no queue: its callers wait (`PartPool` has as many threads as a pool has members).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from penstock.errors import DeadlinePassed, EngineError, OpenError, PenstockError, WorkerDied
from penstock.processes.child import Child

Request = TypeVar("Request")
Reply = TypeVar("Reply")

BREAK_AFTER = 10  # deaths in a row: five poisoned tasks next to each other are still bad luck
REST_S = 30.0  # before one task is tried again
BACKOFF_S, MAX_BACKOFF_S = 0.05, 5.0  # before a dead member starts anew; doubled by each death in a row


class Breaker:
    """Counts deaths in a row, over all members."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._deaths = 0
        self._tried = 0.0

    def check(self) -> None:
        """Raises EngineError while the breaker is open; lets one task through after every rest."""
        with self._lock:
            if self._deaths < BREAK_AFTER:
                return
            if self._clock() - self._tried >= REST_S:
                self._tried = self._clock()
                return
            raise EngineError(
                f"The last {self._deaths} tries each ended their process, so this one was skipped.",
                "Look at the reason they give, then run again with --retry-failed.",
            )

    def died(self) -> float:
        """Notes a death. Returns the seconds to wait before the next start."""
        with self._lock:
            self._deaths += 1
            self._tried = self._clock()
            wait: float = min(MAX_BACKOFF_S, BACKOFF_S * 2.0 ** (self._deaths - 1))
            return wait

    def went_well(self) -> None:
        with self._lock:
            self._deaths = 0


class ProcessPool(Generic[Request, Reply]):
    """Owns its members: closes them when it is closed.

    pool = ProcessPool([Child(opener, name=f"mesh-{n}") for n in range(4)], deadline_s=300)
    reply = pool.call(request, affinity="photo 7")
    """

    def __init__(
        self, members: Sequence[Child[Request, Reply]], deadline_s: float, breaker: Breaker | None = None
    ) -> None:
        self._members = list(members)
        self._deadline_s = deadline_s
        self._breaker = breaker or Breaker()
        self._idle = list(members)
        self._free = threading.Condition()
        self._last: dict[str, str] = {}  # member's name -> for affinity it worked last
        self._closed = threading.Event()

    @property
    def starts(self) -> int:
        return sum(member.starts for member in self._members)

    def start(self) -> None:
        """Starts all members side by side; each is ready, weights loaded, when this returns."""
        with ThreadPoolExecutor(len(self._members), thread_name_prefix="crew-start") as pool:
            for started in [pool.submit(member.start) for member in self._members]:
                started.result()

    def call(self, request: Request, affinity: str = "") -> Reply:
        """Returns a member's answer. Prefers the one that last worked for `affinity`: it may hold a cache.

        Raises what the member's function raised, WorkerDied after a second death, DeadlinePassed.
        """
        try:
            return self._try(request, affinity)
        except WorkerDied:
            # memory may have been short because of another task: a death gets one more chance
            return self._try(request, affinity)

    def close(self) -> None:
        self._closed.set()
        with self._free:
            idle, self._idle = self._idle, []
            self._free.notify_all()
        for member in self._members:
            # a busy member's own thread closes it; here it is only ended
            member.close() if member in idle else member.interrupt()

    def _try(self, request: Request, affinity: str) -> Reply:
        self._breaker.check()
        member = self._borrow(affinity)
        try:
            reply = member.call(request, self._deadline_s)
        except (WorkerDied, DeadlinePassed):
            self._closed.wait(self._breaker.died())
            raise
        except PenstockError:
            self._breaker.went_well()  # it answered, if only with an error
            raise
        finally:
            self._give_back(member, affinity)
        self._breaker.went_well()
        return reply

    def _borrow(self, affinity: str) -> Child[Request, Reply]:
        with self._free:
            self._free.wait_for(lambda: bool(self._idle) or self._closed.is_set())
            if self._closed.is_set():
                raise OpenError("The crew was closed.")
            fits = [member for member in self._idle if affinity and self._last.get(member.name) == affinity]
            member = fits[0] if fits else self._idle[0]
            self._idle.remove(member)
            return member

    def _give_back(self, member: Child[Request, Reply], affinity: str) -> None:
        with self._free:
            self._last[member.name] = affinity
            if self._closed.is_set():
                member.close()
                return
            self._idle.append(member)
            self._free.notify()
