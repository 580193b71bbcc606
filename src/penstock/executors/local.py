"""Threads, bounded channels and killable processes on one machine.

    feeder -> [channel] -> stage workers -> [channel] -> ... -> [channel] -> the caller

Every channel is bounded, so a slow stage stops the feeder and memory is flat. A worker opens when its first
item arrives; processes and model servers start as soon as there is an item for them on the way, and pages
wait before them meanwhile. The first error ends the whole run; closing the stream (or Ctrl-C) ends every
thread and process it started.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from penstock.errors import Failure
from penstock.executors.base import Executor, Stream, close_listing, log_opened
from penstock.executors.channel import Channel, Closed
from penstock.executors.guard import StallGuard
from penstock.executors.process import ProcessWorker
from penstock.item import Item
from penstock.plan import Plan
from penstock.processes.malloc import share_heaps
from penstock.processes.resources import visible_gpus
from penstock.runner import Runner, without
from penstock.stage import Stage, Worker
from penstock.trace.spans import Laps, StageInfo, StageState, Trace

log = logging.getLogger(__name__)
STALL_S = 900.0  # longer than any one page may take; a run that stands still this long is broken
JOIN_S = 5.0  # for all threads together
CANCELLED = Failure(stage="", kind="Cancelled", message="It was cancelled.")


class Local(Executor):
    """Streams items through a plan on all cores and GPUs of this machine, in completion order.

    No stage begins with an item that `is_cancelled`: it leaves the run with the failure CANCELLED.
    """

    name = "local"

    def __init__(
        self,
        trace: Trace | None = None,
        stall_s: float = STALL_S,
        is_cancelled: Callable[[Item], bool] = lambda _: False,
    ) -> None:
        super().__init__(trace)
        self._stall_s = stall_s
        self._is_cancelled = is_cancelled
        self._run: _LocalRun | None = None

    def stream(self, plan: Plan, items: Iterable[Item]) -> Stream:
        share_heaps()
        run = _LocalRun(plan, items, self.trace, self._is_cancelled)
        self._run = run
        with StallGuard(run, self._stall_s), run:
            yield from run.results()

    def end(self, error: Exception) -> None:
        if self._run is not None:
            self._run.fail(error)

    def infos(self, plan: Plan) -> list[StageInfo]:
        return [_info(stage) for stage in plan]

    def depths(self) -> tuple[StageState, ...]:
        return self._run.depths() if self._run else ()


class _LocalRun:
    """One stream's threads and channels, from start to end."""

    def __init__(
        self, plan: Plan, items: Iterable[Item], trace: Trace, is_cancelled: Callable[[Item], bool]
    ) -> None:
        self.error: BaseException | None = None
        self.is_cancelled = is_cancelled
        self._trace = trace
        self._items = items
        self._stages = [_StageRun(stage, i, plan.drops(i), self) for i, stage in enumerate(plan)]
        self.channels = [Channel[Item](_capacity(stage)) for stage in plan]
        # the caller is only slow when it commits a shard: two batches of the last stage bridge that
        self.channels.append(Channel[Item](2 * plan.stages[-1].batch.max_items * plan.stages[-1].workers))
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._fed = 0
        self._feeding = threading.Condition()
        self._ended = False
        self.is_over = False  # by an error, or since nobody takes the results any more

    @property
    def trace(self) -> Trace:
        return self._trace

    def __enter__(self) -> _LocalRun:
        self._start("feed", self._feed)
        for index, stage_run in enumerate(self._stages):
            source, sink = self.channels[index], self.channels[index + 1]
            for number in range(stage_run.num_threads):
                self._start(f"{stage_run.stage.name}-{number}", stage_run.work, number, source, sink)
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        end = time.monotonic() + JOIN_S
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))  # one in native code may not end; it is a daemon

    def results(self) -> Iterator[Item]:
        while True:
            try:
                [item] = self.channels[-1].take()
            except Closed:
                break
            yield item
        if self.error is not None:
            raise self.error

    def fail(self, error: BaseException) -> None:
        """Ends the run: the first error is the caller's to raise."""
        with self._lock:
            self.error = self.error or error
        self._end()

    def await_item(self, number: int) -> bool:
        """Waits until item `number` of the run has set out; False when there is none."""
        with self._feeding:
            self._feeding.wait_for(lambda: self._fed > number or self._ended)
            return self._fed > number

    @property
    def is_idle(self) -> bool:
        """Whether every item that has set out has come through."""
        return self._fed <= self.channels[-1].puts

    def is_more_coming(self, index: int) -> bool:
        """Is an item that has set out still before stage `index`? A batch waits for no other.

        A service with one page in it would else wait for others that never come. What comes to the first
        stage is not known.
        """
        return index == 0 or self._fed > self.channels[index].puts

    def depths(self) -> tuple[StageState, ...]:
        return tuple(
            StageState(run.stage.name, len(channel), run.running, self._trace.items(run.stage.name))
            for run, channel in zip(self._stages, self.channels, strict=False)
        )

    def _end(self) -> None:
        self.is_over = True
        self._fed_all()
        for channel in self.channels:
            channel.abort()
        for stage_run in self._stages:
            stage_run.kill()

    def _start(self, name: str, target: object, *args: object) -> None:
        thread = threading.Thread(target=target, args=args, name=name, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _feed(self) -> None:
        try:
            self._feed_items()
        except Closed:
            pass  # the run ended first
        except BaseException as exc:  # a thread's end is not seen elsewhere: even sys.exit is the run's
            self.fail(exc)

    def _feed_items(self) -> None:
        try:
            for item in self._items:
                self.channels[0].put(item)
                with self._feeding:
                    self._fed += 1
                    self._feeding.notify_all()
        finally:  # here, since a count of pages may take longer than the end of a run waits
            close_listing(self._items)
        self._fed_all()
        self.channels[0].close()

    def _fed_all(self) -> None:
        with self._feeding:
            self._ended = True
            self._feeding.notify_all()


class _StageRun:
    """One stage's workers; each serves `overlap` threads and opens on its first item."""

    def __init__(self, stage: Stage, index: int, drops: tuple[str, ...], run: _LocalRun) -> None:
        self.stage = stage
        self._index = index
        self.num_threads = stage.workers * stage.overlap
        self.running = 0
        self._drops = drops
        self._run = run
        self._lock = threading.Lock()
        self._open_locks = [threading.Lock() for _ in range(stage.workers)]
        self._workers: list[Worker[Any] | None] = [None] * stage.workers
        self._alive = self.num_threads

    def work(self, number: int, source: Channel[Item], sink: Channel[Item]) -> None:
        try:
            self._loop(number, source, sink)
        except BaseException as exc:  # as above
            self._run.fail(exc)
        finally:
            self._leave(sink)

    def kill(self) -> None:
        """Ends processes at once, the executor's and a stage's own; they may be in the middle of a page."""
        for worker in self._workers:
            if worker is not None:
                worker.kill()

    def _loop(self, number: int, source: Channel[Item], sink: Channel[Item]) -> None:
        laps = Laps(self._run.trace, self.stage.name, f"{self.stage.name}-{number}")
        runner: Runner | None = None
        if self.stage.opens_early and self._run.await_item(number):
            laps.lap("starved")
            runner = self._runner(number)
            laps.lap("open")
        while True:
            try:
                items = self._take(source)
            except Closed:
                break
            laps.lap("starved")
            items = [self._without_cancelled(item) for item in items]
            if runner is None:
                runner = self._runner(number)
                laps.lap("open")
            results = self._call(runner, items)
            laps.lap("run", items=sum(item.failure is None for item in items))
            try:
                for item in results:
                    sink.put(item)
            except Closed:
                break
            laps.lap("blocked")
        laps.lap("starved")

    def _take(self, source: Channel[Item]) -> list[Item]:
        batch = self.stage.batch
        return source.take(
            batch.max_items, batch.linger_ms / 1000, lambda: self._run.is_more_coming(self._index)
        )

    def _without_cancelled(self, item: Item) -> Item:
        """Returns the item; one that is cancelled with a failure, so that the stages let it pass."""
        if item.failure is not None or not self._run.is_cancelled(item):
            return item
        return replace(without(item, item.heavy), failure=CANCELLED)

    def _call(self, runner: Runner, items: list[Item]) -> list[Item]:
        with self._lock:
            self.running += len(items)
        try:
            results = runner(items)
        finally:
            with self._lock:
                self.running -= len(items)
        failed = sum(
            new.failure is not None and old.failure is None for old, new in zip(items, results, strict=True)
        )
        if failed:
            self._run.trace.count(self.stage.name, failed=failed)
        return results

    def _runner(self, number: int) -> Runner:
        return Runner(self.stage, self._worker(number % self.stage.workers), self._drops)

    def _worker(self, index: int) -> Worker[Any]:
        with self._open_locks[index]:
            worker = self._workers[index]
            if worker is not None:
                worker.await_ready()  # raises again what stopped it
                return worker
            began = self._run.trace.clock()
            worker = self._workers[index] = self._open(index)
            if self._run.is_over:  # it ended while this opened, and had nothing to kill then
                worker.kill()
            worker.await_ready()
            log_opened(self.stage.name, index, self._run.trace.clock() - began)
            return worker

    def _open(self, index: int) -> Worker[Any]:
        if not self.stage.needs.process:
            return self.stage.open()
        gpus = visible_gpus() if self.stage.needs.gpus else []
        gpu = gpus[index % len(gpus)] if gpus else None
        name = f"{self.stage.name}-{index}" + (f" (GPU {gpu})" if gpu is not None else "")
        return ProcessWorker(self.stage, name, gpu, lambda: self._restarted(name))

    def _restarted(self, name: str) -> None:
        self._run.trace.count(self.stage.name, restarts=1)
        log.warning("the process %s was started again", name, extra={"stage": self.stage.name})

    def _leave(self, sink: Channel[Item]) -> None:
        with self._lock:
            self._alive -= 1
            last = self._alive == 0
        if last:
            for worker in self._workers:
                if worker is not None:
                    worker.close()
            sink.close()


def _capacity(stage: Stage) -> int:
    # one batch ready for each thread: the next one is there when a worker comes back for it
    return stage.batch.max_items * stage.workers * stage.overlap


def _info(stage: Stage) -> StageInfo:
    return StageInfo(
        name=stage.name,
        workers=stage.workers,
        overlap=stage.overlap,
        process=stage.needs.process,
        max_items=stage.batch.max_items,
    )
