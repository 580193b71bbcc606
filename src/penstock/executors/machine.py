"""One machine's half of a run over several: the local executor, fed and asked from outside.

Knows nothing of Ray: it takes and gives plain values, so tests need no cluster.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import penstock
from penstock.errors import OpenError, PenstockError
from penstock.executors.base import ItemFilesSpec, ItemWriterSpec
from penstock.executors.channel import Channel, Closed
from penstock.executors.local import Local
from penstock.executors.published import Published
from penstock.item import Item
from penstock.plan import Plan
from penstock.processes.hardware import hardware
from penstock.trace.profile import HardwareFacts
from penstock.trace.spans import Span, Trace

FETCHES = 8  # at once, ahead of the plan by what the machine was given
INBOX = 1_000_000  # never full: the feeder counts what it has not got back


@dataclass(frozen=True, slots=True)
class Count:
    """What a trace counts besides its spans."""

    stage: str
    failed: int
    restarts: int


@dataclass(frozen=True, slots=True)
class MachineReport:
    """What a machine did since it was last asked. Spans start in seconds since 1970."""

    items: tuple[Item, ...] = ()  # done
    finished: int = 0  # more that are, and wait to be published
    spans: tuple[Span, ...] = ()
    counts: tuple[Count, ...] = ()
    error: PenstockError | None = None
    hardware: HardwareFacts | None = None  # told once


class Machine:
    """Runs a plan on what it is given until it is ended; `take` and `put` may be called at once.

    With `writing`, it publishes what it finishes, and gives back only what is published. With `files`, it
    brings the files that it does not see.
    """

    def __init__(
        self,
        plan: Plan,
        version: str,
        name: str,
        writing: ItemWriterSpec | None = None,
        files: ItemFilesSpec | None = None,
    ) -> None:
        self._name = name
        self._inbox: Channel[Future[Item]] = Channel(INBOX)
        self._files = files.open() if files is not None else None
        self._fetching = ThreadPoolExecutor(FETCHES, "fetch")
        self._news = threading.Condition()
        self._items: list[Item] = []
        self._at_work = 0
        self._error: PenstockError | None = None
        self._relay = Relay(name)
        self._hardware: HardwareFacts | None = HardwareFacts.of(hardware())
        self._published = Published(writing.open() if writing is not None else None)
        if version != penstock.__version__:
            self._error = OpenError(
                f"{name} has Penstock {penstock.__version__}, the run was started with {version}.",
                "Install the same version on every machine of the cluster.",
            )
            return
        threading.Thread(target=self._run, args=(plan,), name="machine", daemon=True).start()

    def put(self, items: list[Item]) -> None:
        with self._news:
            self._at_work += len(items)
        for item in items:
            self._inbox.put(self._fetching.submit(self._brought, item))

    def take(self, wait_s: float) -> MachineReport:
        """Returns what is new; waits for it up to `wait_s`."""
        with self._news:
            self._news.wait_for(lambda: self._items or self._error, timeout=wait_s)
            is_idle = not self._at_work and not self._items
        if self._error is None:
            self.commit(due_only=not is_idle)
        with self._news:
            items, self._items = self._items, []
            spans, counts = self._relay.drain()
            facts, self._hardware = self._hardware, None
            finished = self._published.waiting if self._error is None else 0
            return MachineReport(tuple(items), finished, spans, counts, self._error, facts)

    def commit(self, due_only: bool = False) -> None:
        """Publishes what is finished, or only what has waited long enough."""
        try:
            done = self._published.commit(due_only)
        except PenstockError as exc:
            self._end(exc)
        else:
            with self._news:
                self._items += done

    def _run(self, plan: Plan) -> None:
        # Standing still is no fault here: others may have all the work. Whoever feeds us watches that.
        executor = Local(self._relay, stall_s=math.inf)
        try:
            for item in executor.stream(plan, self._given()):
                done = self._published.add(self._files.give_back(item) if self._files else item)
                with self._news:
                    self._at_work -= 1
                    self._items += done
                    self._news.notify_all()
        except BaseException as exc:  # reported to the driver, which ends the run with it
            self._end(exc)

    def _end(self, exc: BaseException) -> None:
        with self._news:
            self._error = self._error or self._told(exc)
            self._news.notify_all()

    def _given(self) -> Iterator[Item]:
        while True:
            try:
                yield from (future.result() for future in self._inbox.take())
            except Closed:
                return

    def _brought(self, item: Item) -> Item:
        return self._files.bring(item) if self._files is not None else item

    def _told(self, exc: BaseException) -> PenstockError:
        if isinstance(exc, PenstockError):
            return type(exc)(f"On {self._name}: {exc.message}", exc.advice)
        return PenstockError(f"On {self._name}: {type(exc).__name__}: {exc}")


class Relay(Trace):
    """Keeps spans and counts until they are drained, instead of summing them up."""

    def __init__(self, machine: str) -> None:
        super().__init__()
        self._machine = machine
        self._since_1970 = time.time() - self.clock()
        self._guard = threading.Lock()
        self._spans: list[Span] = []
        self._counts: list[Count] = []

    def add(self, span: Span) -> None:
        shifted = replace(span, worker=f"{self._machine}/{span.worker}", start=span.start + self._since_1970)
        with self._guard:
            self._spans.append(shifted)

    def count(self, stage: str, *, failed: int = 0, restarts: int = 0) -> None:
        with self._guard:
            self._counts.append(Count(stage, failed, restarts))

    def drain(self) -> tuple[tuple[Span, ...], tuple[Count, ...]]:
        with self._guard:
            spans, counts = tuple(self._spans), tuple(self._counts)
            self._spans, self._counts = [], []
        return spans, counts
