"""The contract between a stage and whoever runs it.

A `Stage` is a spec: a small frozen dataclass that pickles. Its `open()` loads weights and returns a
`Worker`, on the thread or in the process that will call it. Executors know nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol, TypeVar

from penstock.item import Item

T = TypeVar("T")


def tuning(default: T) -> T:
    """A field that changes speed but never results: left out of the plan's fingerprint."""
    made: T = field(default=default, metadata={"tuning": True})
    return made


@dataclass(frozen=True, slots=True)
class Needs:
    """What a worker needs. `process` gives each worker a process of its own, pinned to its GPUs.

    `yields` lets what else runs on the machine go first: whoever feeds a model server must not slow it.
    """

    cpus: float = 1.0
    gpus: float = 0.0
    process: bool = False
    yields: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Take up to `max_items`; after the first, wait at most `linger_ms` for the next."""

    max_items: int = 1
    linger_ms: float = 0.0


ANYWHERE = Needs()
ONE_BY_ONE = Batch()


class Worker(Protocol):
    """The live thing a stage opens. Called by `overlap` threads at once, so it must bear that."""

    def __call__(self, items: list[Item]) -> list[Item]:
        """Returns the same ids in the same order."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Base of all specs. Subclasses are frozen dataclasses that set `name`, `reads`, `writes`."""

    name: ClassVar[str]
    reads: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[str, ...]] = ()

    needs: Needs = tuning(ANYWHERE)
    batch: Batch = tuning(ONE_BY_ONE)
    workers: int = tuning(1)
    overlap: int = tuning(1)  # calls in flight for each worker
    deadline_s: float = tuning(120.0)  # for one item; kept only where `needs.process`

    def open(self) -> Worker:
        raise TypeError(f"stage {self.name!r} does not define open()")

    def settings(self) -> dict[str, Any]:
        """The fields that change results, for the fingerprint and run.json."""
        return {f.name: getattr(self, f.name) for f in fields(self) if not f.metadata.get("tuning")}
