"""The spine: every executor gives the same result, and one bad item costs only itself."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from penstock.driver import Tally
from penstock.errors import Failure, NoProgress, OpenError, PlanError
from penstock.executors.channel import Channel, Closed
from penstock.executors.guard import StallGuard
from penstock.executors.inline import Inline
from penstock.executors.local import Local
from penstock.executors.process import YIELDING, ProcessWorker
from penstock.item import Item
from penstock.page import Page
from penstock.plan import Plan, differences
from penstock.region import Region
from penstock.runner import Runner
from penstock.stage import Batch, Needs, Stage, Worker
from penstock.testing.fake_stages import FakeLayout, FakeRecognise
from tests.support.waiting import HANGS_S, wait_until


@dataclass(frozen=True, kw_only=True)
class Size(Stage):
    """Gives items a size, so the fakes have something to read."""

    name: ClassVar[str] = "size"
    writes: ClassVar[tuple[str, ...]] = ("width", "height", "pixels", "image")

    def open(self) -> _Sizer:
        return _Sizer()


class _Sizer(Worker[Page]):
    def __call__(self, items: list[Page]) -> list[Page]:
        return [replace(item, width=100, height=200, image=b"x") for item in items]

    def close(self) -> None:
        pass


def items(count: int) -> list[Page]:
    return [Page(id=f"doc/{n:05d}", uri="doc.pdf", document="doc.pdf", part=n) for n in range(count)]


def fake_plan(**recognise: object) -> Plan:
    return Plan(Size(), FakeLayout(), FakeRecognise(**recognise))


PROCESS = Needs(process=True)


@pytest.mark.parametrize("executor", [Inline, Local])
def test_every_executor_gives_the_same_rows(executor: type[Inline] | type[Local]) -> None:
    plan = fake_plan(fails=(7, 8), batch=Batch(max_items=4, linger_ms=5), workers=2)
    reference = {item.id: item for item in Inline().stream(plan, items(40))}
    got = list(executor().stream(plan, items(40)))
    assert len(got) == 40
    assert {item.id: item for item in got} == reference


def test_processes_give_the_same_rows_as_threads() -> None:
    reference = {item.id: item for item in Inline().stream(fake_plan(fails=(3,)), items(12))}
    plan = fake_plan(fails=(3,), needs=PROCESS, workers=2, batch=Batch(max_items=4))
    assert {item.id: item for item in Local().stream(plan, items(12))} == reference


@dataclass(frozen=True, kw_only=True)
class Looks(Stage):
    """Says what reaches a process: heavy fields, its place among others."""

    name: ClassVar[str] = "looks"
    reads: ClassVar[tuple[str, ...]] = ("image",)
    writes: ClassVar[tuple[str, ...]] = ("markdown",)

    def open(self) -> _Looker:
        return _Looker()


class _Looker(Worker[Page]):
    def __call__(self, items: list[Page]) -> list[Page]:
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        return [replace(i, markdown=f"{i.image!r} {i.pixels is None} {nice}", image=b"gone") for i in items]

    def close(self) -> None:
        pass


def test_only_what_a_stage_reads_and_writes_crosses_to_its_process() -> None:
    sent = replace(items(1)[0], image=b"jpeg", pixels=np.zeros((2, 2, 3), np.uint8))
    worker = ProcessWorker(Looks(needs=Needs(process=True, yields=True)), "looks", None)
    try:
        [got] = worker([sent])
    finally:
        worker.close()
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    assert got.markdown == f"b'jpeg' True {min(19, nice + YIELDING)}"
    assert got.image == b"jpeg"  # not written, so it stayed here
    assert got.pixels is sent.pixels


def test_a_poisoned_page_that_kills_its_process_fails_alone() -> None:
    plan = fake_plan(kills=(5,), needs=PROCESS, batch=Batch(max_items=4))
    local = Local()
    got = {item.part: item for item in local.stream(plan, items(12))}
    assert [part for part, item in got.items() if item.failure] == [5]
    assert got[5].failure is not None
    assert got[5].failure.kind == "WorkerDied"
    assert "SIGKILL" in got[5].failure.message
    assert local.trace.profile(local.infos(plan)).stages[2].restarts >= 1


def test_a_page_that_hangs_is_ended_at_its_deadline() -> None:
    plan = fake_plan(hangs=(1,), needs=PROCESS, deadline_s=3.0)
    got = {item.part: item for item in Local().stream(plan, items(3))}
    assert got[1].failure is not None
    assert got[1].failure.kind == "DeadlinePassed"
    assert got[0].failure is None
    assert got[2].failure is None


def test_failed_items_pass_by_and_lose_their_pixels() -> None:
    plan = fake_plan(fails=(0,))
    [item] = Inline().stream(plan, items(1))
    assert item.failure is not None
    assert item.failure.stage == "fake_recognise"
    assert item.failure.advice == "Take it out of `fails`."
    assert item.image is None


def test_heavy_fields_are_dropped_after_their_last_reader() -> None:
    plan = fake_plan()
    assert set(plan.drops(0)) == {"image", "pixels", "layer", "way_back"}
    [item] = Inline().stream(plan, items(1))
    assert item.image is None


def test_a_stage_that_returns_other_ids_is_found_out() -> None:
    def swap(items: list[Page]) -> list[Page]:
        return [replace(item, id="other") for item in items]

    swap.close = lambda: None  # type: ignore[attr-defined]
    [item] = Runner(FakeLayout(), swap)(items(1))  # type: ignore[arg-type]
    assert item.failure is not None
    assert "not the same" in item.failure.message


def test_a_batch_waits_for_nobody_when_nothing_is_on_its_way() -> None:
    """A page alone in a service: were the batch to wait, this test would pass its time limit."""
    finished = threading.Semaphore(1)

    def one_after_the_other() -> Iterator[Page]:
        for item in items(3):
            finished.acquire()
            yield item

    plan = fake_plan(batch=Batch(max_items=16, linger_ms=3_600_000))
    got = []
    for item in Local().stream(plan, one_after_the_other()):
        got.append(item.part)
        finished.release()
    assert got == [0, 1, 2]


def test_a_batch_waits_for_what_is_on_its_way() -> None:
    channel: Channel[int] = Channel(8)
    channel.put(1)
    threading.Thread(target=lambda: [channel.put(number) for number in (2, 3)], daemon=True).start()
    assert channel.take(8, 3_600.0, more_coming=lambda: channel.puts < 3) == [1, 2, 3]


def test_a_plan_says_what_does_not_fit() -> None:
    with pytest.raises(PlanError, match="'fake_recognise' reads 'regions', which no earlier stage writes"):
        Plan(Size(), FakeRecognise())
    with pytest.raises(PlanError, match="processes and overlap"):
        fake_plan(needs=PROCESS, overlap=2)


def test_the_fingerprint_holds_results_and_not_tuning() -> None:
    assert fake_plan(workers=8, seconds=1.0).fingerprint() == fake_plan().fingerprint()
    changed = fake_plan(fails=(1,))
    assert changed.fingerprint() != fake_plan().fingerprint()
    assert differences(fake_plan().settings(), changed.settings()) == ["fake_recognise.fails: [] -> [1]"]


@dataclass(frozen=True, kw_only=True)
class Unopenable(FakeLayout):
    def open(self) -> object:  # type: ignore[override]
        raise OpenError("The weights are gone.", "Run: penstock models fetch")


def test_a_worker_that_cannot_open_ends_the_run_with_its_reason() -> None:
    plan = Plan(Size(), Unopenable(), FakeRecognise())
    for executor in (Inline(), Local()):
        with pytest.raises(OpenError, match="weights are gone"):
            list(executor.stream(plan, items(3)))


def test_a_source_that_raises_ends_the_run() -> None:
    def broken() -> Iterator[Page]:
        yield from items(2)
        raise RuntimeError("listing broke")

    with pytest.raises(RuntimeError, match="listing broke"):
        list(Local().stream(fake_plan(), broken()))


def test_closing_the_stream_ends_every_thread_and_process() -> None:
    before = {thread.ident for thread in threading.enumerate()}
    stream = Local().stream(fake_plan(needs=PROCESS, seconds=0.01), items(200))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    left = [thread.name for thread in threading.enumerate() if thread.ident not in before]
    assert left == []


def test_a_listing_that_outlasts_its_run_is_closed_when_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.executors.local.JOIN_S", 0.1)
    answers, closed = threading.Event(), threading.Event()

    def slow() -> Iterator[Page]:
        try:
            yield from items(1)
            answers.wait(60)
            yield from items(2)
        finally:
            closed.set()

    listing = slow()  # held, so that nothing else closes it
    stream = Local().stream(fake_plan(), listing)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert not closed.is_set()
    answers.set()
    assert closed.wait(60)


def test_memory_stays_flat_because_the_feeder_waits() -> None:
    fed = 0

    def counted() -> Iterator[Page]:
        nonlocal fed
        for item in items(400):
            fed += 1
            yield item

    for taken, _ in enumerate(Local().stream(fake_plan(seconds=0.002), counted())):
        assert fed - taken < 30
    assert fed == 400


def test_a_run_that_stands_still_ends_with_depths_and_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.executors.local.JOIN_S", 0.1)  # its thread never ends
    plan = fake_plan(hangs=(0,))
    with pytest.raises(NoProgress) as caught:
        list(Local(stall_s=3.0).stream(plan, items(3)))
    assert "recognise: 1 waiting, 1 running" in str(caught.value)
    assert "thread fake_recognise-0" in str(caught.value)


class Standing:
    """A run whose caller has yet to take a result."""

    is_idle = False

    def __init__(self) -> None:
        self.channels = [Channel[Item](1)]
        self.channels[0].put(items(1)[0])
        self.failed = threading.Event()
        self.looks = 0

    def clock(self) -> float:
        """Returns a time that is an hour later at every look."""
        self.looks += 1
        return self.looks * 3600.0

    def depths(self) -> tuple[str, ...]:
        return ()

    def fail(self, error: BaseException) -> None:
        self.failed.set()


def test_a_slow_caller_is_not_taken_for_a_stall() -> None:
    run = Standing()
    with StallGuard(run, stall_s=0.02, clock=run.clock):
        wait_until(lambda: run.looks > 10)
        assert not run.failed.is_set()
        run.channels[0].take()  # now a stage is what the run waits for
        assert run.failed.wait(HANGS_S)


def test_busy_starved_and_blocked_sum_to_one() -> None:
    local = Local()
    plan = fake_plan(seconds=0.02, workers=2)
    list(local.stream(plan, items(50)))
    for row in local.trace.profile(local.infos(plan)).stages:
        assert sum(row.shares.values()) == pytest.approx(1.0)
        assert row.items == 50
    assert local.trace.profile(local.infos(plan)).bottleneck == "fake_recognise"


def test_a_channel_hands_out_batches_and_drains_after_closing() -> None:
    channel = Channel[int](8)
    for number in range(5):
        channel.put(number)
    channel.close()
    assert channel.take(3) == [0, 1, 2]
    assert channel.take(3) == [3, 4]
    with pytest.raises(Closed):
        channel.take()
    with pytest.raises(Closed):
        channel.put(6)


def test_a_failed_region_is_counted_and_told_with_its_page() -> None:
    why = Failure(stage="recognise", kind="EngineError", message="No answer.", advice="Ask again.")
    regions = (Region(label="text", box=(0, 0, 1, 1)), Region(label="table", box=(0, 0, 1, 1), failure=why))
    tally = Tally()
    tally.count(Page(id="a/00002", uri="a.pdf", document="a.pdf", part=2, regions=regions))
    assert (tally.done, tally.failed_regions, tally.all_well) == (1, 1, False)
    assert tally.failed_parts == [("a.pdf page 3, table", "No answer. Ask again.")]
