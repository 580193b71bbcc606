"""One thread, no queues: the reference every executor must equal, and the one to debug with.

It cannot end a page that hangs; the local executor can.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack

from penstock.executors.base import Executor, Stream, log_opened
from penstock.item import Item
from penstock.plan import Plan
from penstock.runner import Runner
from penstock.trace.spans import Laps, StageInfo


class Inline(Executor):
    """Runs each item through all stages before it takes the next."""

    name = "inline"

    def stream(self, plan: Plan, items: Iterable[Item]) -> Stream:
        with ExitStack() as stack:
            steps: list[tuple[str, Runner]] = []
            for item in items:
                if not steps:  # open workers only once there is work
                    steps = self._open(plan, stack)
                yield self._through(steps, item)

    def infos(self, plan: Plan) -> list[StageInfo]:
        return [StageInfo(name=stage.name) for stage in plan]

    def _open(self, plan: Plan, stack: ExitStack) -> list[tuple[str, Runner]]:
        steps = []
        for index, stage in enumerate(plan):
            laps = Laps(self.trace, stage.name, "inline")
            began = self.trace.clock()
            worker = stage.open()
            stack.callback(worker.close)
            worker.await_ready()
            laps.lap("open")
            log_opened(stage.name, 0, self.trace.clock() - began)
            steps.append((stage.name, Runner(stage, worker, plan.drops(index))))
        return steps

    def _through(self, steps: list[tuple[str, Runner]], item: Item) -> Item:
        for name, run in steps:
            laps = Laps(self.trace, name, "inline")
            failed_before = item.failure is not None
            [item] = run([item])
            laps.lap("run", items=0 if failed_before else 1)
            if item.failure is not None and not failed_before:
                self.trace.count(name, failed=1)
        return item
