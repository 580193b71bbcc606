"""Where a plan runs. An executor turns an iterator of items into an iterator of items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from penstock.errors import UsageError
from penstock.executors.inline import Inline
from penstock.executors.local import Local
from penstock.executors.ray import Ray
from penstock.item import Item
from penstock.plan import Plan
from penstock.trace.spans import StageInfo, Trace


class Executor(Protocol):
    """Yields every item it was given once, in any order, some with a failure."""

    name: str
    trace: Trace

    def stream(self, plan: Plan, items: Iterable[Item]) -> Iterator[Item]: ...

    def infos(self, plan: Plan) -> list[StageInfo]: ...


EXECUTORS: dict[str, type[Inline] | type[Local] | type[Ray]] = {"inline": Inline, "local": Local, "ray": Ray}


def executor(name: str, trace: Trace) -> Executor:
    if name not in EXECUTORS:
        raise UsageError(f"There is no executor {name!r}.", f"Choose from: {', '.join(EXECUTORS)}.")
    return EXECUTORS[name](trace)
