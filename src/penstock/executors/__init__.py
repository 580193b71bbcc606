"""Where a plan runs: an executor turns an iterator of items into an iterator of items.

Not here: what is done to an item. Executors never name a stage.
"""

from __future__ import annotations

from penstock.errors import UsageError
from penstock.executors.base import Executor
from penstock.executors.inline import Inline
from penstock.executors.local import Local
from penstock.executors.ray import Ray
from penstock.trace.spans import Trace

__all__ = ["EXECUTORS", "Executor", "make_executor"]

EXECUTORS: dict[str, type[Executor]] = {"inline": Inline, "local": Local, "ray": Ray}


def make_executor(name: str, trace: Trace) -> Executor:
    if name not in EXECUTORS:
        raise UsageError(f"There is no executor {name!r}.", f"Choose from: {', '.join(EXECUTORS)}.")
    return EXECUTORS[name](trace)
