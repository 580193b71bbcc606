"""The contract between a stage and its runner.

A `Stage` is a spec: a small frozen dataclass that pickles. Its `open()` loads weights and returns a
`Worker`, on the thread or in the process that will call it. Executors know nothing else.
"""

from __future__ import annotations

import importlib
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Generic, TypeVar

from penstock.item import Item
from penstock.page import Page
from penstock.redaction import SafeRepr

T = TypeVar("T")
ItemT = TypeVar("ItemT", bound=Item)


def tuning(default: T) -> T:
    """Returns a field that changes speed but never results: left out of the plan's fingerprint."""
    made: T = field(default=default, metadata={"tuning": True})
    return made


def secret() -> Any:
    """Returns a field for a key or a password: changes no result, and is never shown."""
    return field(default=None, repr=False, metadata={"tuning": True})


@dataclass(frozen=True, slots=True)
class Needs:
    """What a worker needs. `process` gives each worker a process of its own, pinned to its GPUs.

    `yields` lets what else runs on the machine go first: the feeder of a model server must not slow it.
    `confined` is for a process that reads strangers' bytes: bounded memory, no secrets, nothing to write.
    """

    cpus: float = 1.0
    gpus: float = 0.0
    process: bool = False
    yields: bool = False
    confined: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Take up to `max_items`; after the first, wait at most `linger_ms` for the next."""

    max_items: int = 1
    linger_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Supervision:
    """When a process is taken for hung, and when it is replaced although it answers. Zero means never."""

    silence_s: float = 0.0  # without a sign of life
    max_tasks: int = 0
    max_growth_mb: float = 0.0  # of memory, its own and its GPU's, since its first answer


ANYWHERE = Needs()
ONE_BY_ONE = Batch()
UNSUPERVISED = Supervision()


class Worker(Generic[ItemT]):
    """The live thing a stage opens. `overlap` threads call it at once, so it must be thread-safe then."""

    def __call__(self, items: list[ItemT]) -> list[ItemT]:
        """Returns the same ids in the same order."""
        raise TypeError(f"{type(self).__name__} does not define __call__")

    def await_ready(self) -> None:
        """Waits for what it has started when it opened, before the first call. Raises what stopped it."""

    def close(self) -> None:
        """Gives back what it holds. Called once, after the last call."""

    def kill(self) -> None:
        """Ends its own processes at once, from any thread, also in the middle of a call."""


@dataclass(frozen=True, kw_only=True)
class Stage(SafeRepr):
    """Base of all specs. Subclasses are frozen dataclasses that set `name`, `reads`, `writes`.

    `item` is the class of items it works on; `reads` and `writes` name fields of that class.
    """

    name: ClassVar[str]
    worker: ClassVar[str] = ""  # "module:Class", imported where it is opened: a plan is built without numpy
    item: ClassVar[type[Item]] = Page

    needs: Needs = tuning(ANYWHERE)
    batch: Batch = tuning(ONE_BY_ONE)
    workers: int = tuning(1)
    overlap: int = tuning(1)  # calls in flight for each worker
    deadline_s: float = tuning(120.0)  # for one item; kept only where `needs.process`
    supervision: Supervision = tuning(UNSUPERVISED)  # kept only where `needs.process`

    @property
    def reads(self) -> tuple[str, ...]:
        return ()

    @property
    def writes(self) -> tuple[str, ...]:
        return ()

    @property
    def takes_read(self) -> bool:
        """Whether pages come to it that are read already, by what their files say themselves."""
        return False

    @property
    def addresses(self) -> tuple[str, ...]:
        """The model servers it uses that are already running."""
        return ()

    @property
    def opens_early(self) -> bool:
        """Whether a worker opens when an item for it has set out, while earlier stages still load.

        Processes do; a card's memory is opened one after the other.
        """
        return self.needs.process and not self.needs.gpus

    def open(self) -> Worker[Any]:
        """Loads weights and returns the worker, on the thread or in the process that will call it."""
        module, _, name = self.worker.partition(":")
        if not name:
            raise TypeError(f"stage {self.name!r} names no worker")
        made: Worker[Any] = getattr(importlib.import_module(module), name)(self)
        return made

    def settings(self) -> dict[str, Any]:
        """Returns the fields that change results, for the fingerprint and run.json."""
        return {f.name: getattr(self, f.name) for f in fields(self) if not f.metadata.get("tuning")}

    def defaults(self) -> dict[str, Any]:
        """Returns the defaults of these settings."""
        made = {f.name: f.default_factory() for f in fields(self) if f.default_factory is not MISSING}
        given = made | {f.name: f.default for f in fields(self) if f.default is not MISSING}
        return {name: given[name] for name in self.settings() if name in given}
