"""Where a plan runs: an executor turns an iterator of items into an iterator of items.

Not here: what is done to an item. Executors never name a stage.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from penstock.errors import UsageError

if TYPE_CHECKING:
    from penstock.executors.base import Executor
    from penstock.trace.spans import Trace

# by name, for the processes that a stage runs in load this room too, and none of these
EXECUTORS = {"inline": "inline:Inline", "local": "local:Local", "ray": "ray:Ray"}


def make_executor(name: str, trace: Trace) -> Executor:
    if name not in EXECUTORS:
        raise UsageError(f"There is no executor {name!r}.", f"Choose from: {', '.join(EXECUTORS)}.")
    module, _, cls = EXECUTORS[name].partition(":")
    made: Executor = getattr(importlib.import_module(f"{__name__}.{module}"), cls)(trace)
    return made
