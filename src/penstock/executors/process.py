"""A stage's worker in a process of its own, which can be killed and comes back.

To its Runner it is a worker like any other: a death or a missed deadline is an error of that call,
and the next call finds a fresh process. Heavy fields cross only where they must: there if the stage
reads them, back if it writes them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from penstock.errors import OpenError, PlanError
from penstock.item import Item
from penstock.processes.child import Child
from penstock.processes.resources import environment
from penstock.runner import without
from penstock.stage import Stage, Worker

YIELDING = 10  # a tenth of the share of those who do not yield, all of what they leave


class ProcessWorker(Worker[Item]):
    """Opens `stage` in a child; calls `restarted` at every start after the first."""

    def __init__(
        self, stage: Stage, name: str, gpu: str | None, restarted: Callable[[], None] = lambda: None
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
        self._reads = stage.reads
        self._writes = stage.writes
        self._child: Child[list[Item], list[Item]] = Child(
            partial(_open, stage),
            name=name,
            env=environment(math.ceil(stage.needs.cpus), gpu),
            supervision=stage.supervision,
            confined=stage.needs.confined,
        )
        self._child.start()

    def __call__(self, items: list[Item]) -> list[Item]:
        if self._ended:
            raise OpenError(f"{self._child.name} was ended with its run.")
        starts = self._child.starts
        try:
            sent = [without(item, _heavy_but(item, self._reads)) for item in items]
            return self._whole(items, self._child.call(sent, self._deadline_s * len(items)))
        finally:
            if self._child.starts > starts:
                self._restarted()

    def _whole(self, items: list[Item], results: list[Item]) -> list[Item]:
        """Returns the results with the heavy fields that stayed here."""
        if len(items) != len(results):
            return results  # the Runner says what is wrong with it
        return [
            replace(result, **{field: getattr(item, field) for field in _heavy_but(item, self._writes)})
            for item, result in zip(items, results, strict=True)
        ]

    def close(self) -> None:
        self._child.close()

    def kill(self) -> None:
        """Ends the process from any thread, for good."""
        self._ended = True
        self._child.interrupt()


def _heavy_but(item: Item, fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(field for field in item.heavy if field not in fields)


class _LightWorker(Worker[Item]):
    """In the child: a worker whose answers leave what it did not write behind."""

    def __init__(self, worker: Worker[Any], writes: tuple[str, ...]) -> None:
        self._worker = worker
        self._writes = writes

    def __call__(self, items: list[Item]) -> list[Item]:
        return [without(item, _heavy_but(item, self._writes)) for item in self._worker(items)]

    def close(self) -> None:
        self._worker.close()


def _open(stage: Stage) -> _LightWorker:
    if stage.needs.yields:
        os.nice(YIELDING)
    return _LightWorker(stage.open(), stage.writes)
