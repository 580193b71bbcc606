"""What every executor promises."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from typing import ClassVar, Protocol

from penstock.item import Item
from penstock.plan import Plan
from penstock.trace.profile import HardwareFacts
from penstock.trace.spans import StageInfo, StageState, Trace

log = logging.getLogger(__name__)
Stream = Generator[Item, None, None]


class ItemWriter(Protocol):
    """Writes finished items on the machine that finished them."""

    def add(self, item: Item) -> Item:
        """Buffers it, or publishes it with all before it. Returns it without what is in files now."""

    def commit(self) -> None:
        """Publishes what is buffered."""

    @property
    def num_buffered(self) -> int: ...

    @property
    def is_due(self) -> bool:
        """Whether what is buffered has waited long enough."""


class ItemWriterSpec(Protocol):
    """What pickles, and opens a writer on a machine."""

    def open(self) -> ItemWriter: ...


class ItemFiles(Protocol):
    """Brings the files of items to a machine that does not see where they were listed. Thread-safe."""

    def bring(self, item: Item) -> Item: ...

    def give_back(self, item: Item) -> Item:
        """Returns a finished item as it was listed."""


class ItemFilesSpec(Protocol):
    """What pickles, and is opened on a machine."""

    def open(self) -> ItemFiles: ...


class Executor(ABC):
    """Yields every item it was given once, in any order, some with a failure."""

    name: ClassVar[str]
    on_this_machine: ClassVar[bool] = True  # whether this machine's CPU time and memory are the run's

    def __init__(self, trace: Trace | None = None) -> None:
        self.trace = trace or Trace()

    @abstractmethod
    def stream(self, plan: Plan, items: Iterable[Item]) -> Stream:
        """Closing the stream ends every thread and process it started."""

    def end(self, error: Exception) -> None:
        """Ends the stream from another thread than the one that waits for it, which gets the error.

        An executor that cannot do this ends with its listing.
        """
        return

    def write_on_machines(self, spec: ItemWriterSpec) -> bool:
        """Lets the machines of a cluster write what they finish. Returns whether there are any."""
        return False

    def fetch_on_machines(self, spec: ItemFilesSpec) -> None:
        """Lets the machines of a cluster bring files that they do not see."""
        return

    def has_written(self, item: Item) -> bool:
        """Whether the machine that finished it wrote it, so that the driver need not."""
        return False

    def machines(self) -> tuple[HardwareFacts, ...]:
        """Returns the machines of a cluster that work for the stream. Empty for a stream on this machine."""
        return ()

    @abstractmethod
    def infos(self, plan: Plan) -> list[StageInfo]: ...

    def depths(self) -> tuple[StageState, ...]:
        """Returns how much waits before each stage now; nothing where the executor has no queues."""
        return ()


def close_listing(items: Iterable[Item]) -> None:
    """Ends a listing that was not read to its end. Call it when no more of it is read."""
    if isinstance(items, Generator):
        items.close()


def log_opened(stage: str, number: int, seconds: float) -> None:
    """Notes that a worker is open: its weights are loaded, its servers answer."""
    log.info(
        "stage %s is open, worker %d, after %.1f s", stage, number, seconds,
        extra={"stage": stage, "worker": number, "seconds": round(seconds, 3)},
    )  # fmt: skip
