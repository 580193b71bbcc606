"""A stage's worker in a process of its own, which can be killed and comes back.

To its Runner it is a worker like any other: a death or a missed deadline is an error of that call,
and the next call finds a fresh process.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from penstock.child import Care, Child
from penstock.errors import OpenError, PlanError
from penstock.item import Item
from penstock.pinning import environment
from penstock.stage import Stage


class ProcessWorker:
    """Opens `stage` in a child; `restarted` is told of every start after the first."""

    def __init__(
        self, stage: Stage, name: str, gpu: int | None, restarted: Callable[[], None] = lambda: None
    ) -> None:
        if type(stage).__module__ == "__main__":
            raise PlanError(
                f"Stage {stage.name!r} runs in a process of its own, but its class is defined in the script"
                " that was started, which that process does not import.",
                "Move the class into a module.",
            )
        self._deadline_s = stage.deadline_s
        self._restarted = restarted
        self._ended = False
        self._child: Child[list[Item], list[Item]] = Child(
            stage.open,
            name=name,
            env=environment(math.ceil(stage.needs.cpus), gpu),
            care=getattr(stage, "care", Care()),  # a stage whose engine leaks or hangs says so
        )
        self._child.start()

    def __call__(self, items: list[Item]) -> list[Item]:
        if self._ended:
            raise OpenError(f"{self._child.name} was ended with its run.")
        starts = self._child.starts
        try:
            return self._child.call(items, self._deadline_s * len(items))
        finally:
            if self._child.starts > starts:
                self._restarted()

    def close(self) -> None:
        self._child.close()

    def kill(self) -> None:
        """Ends the process from any thread, for good."""
        self._ended = True
        self._child.interrupt()
