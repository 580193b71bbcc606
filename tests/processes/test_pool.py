"""The crew survives what GPU processes do: print, hang, die, run out of memory, grow, lose their parent."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import psutil
import pytest

import penstock
from penstock.engines.mesh.request import MeshOptions
from penstock.errors import DeadlinePassed, EngineError, MissingModel, OpenError, WorkerDied
from penstock.executors.local import Local
from penstock.page import Page
from penstock.photo import Photo, PhotoObject
from penstock.photos.masks import pack
from penstock.photos.user_boxes import GivenDepth
from penstock.plan import Plan
from penstock.processes.child import OPEN_PAUSES_S, Child
from penstock.processes.pool import BREAK_AFTER, Breaker, ProcessPool
from penstock.stage import Needs, Stage, Supervision, Worker, tuning
from penstock.stages.measure import Measure
from penstock.stages.reconstruct import Reconstruct
from penstock.testing.fake_mesh import FakeScript, fake_mesh
from tests.support.scripted import TellPid, open_after_deaths, open_scripted
from tests.support.together import mesh_in_rounds


def test_a_beat_keeps_slow_work_alive_and_silence_ends_it() -> None:
    with Child(open_scripted, name="one", supervision=Supervision(silence_s=2.0)) as child:
        pid = child.call("work 3.0", deadline_s=30)
        assert child.call("print", deadline_s=30) == pid
        with pytest.raises(DeadlinePassed, match=r"made no progress for 2 s"):
            child.call("breathe", deadline_s=30)
        assert child.call("work 0.1", deadline_s=30) != pid


def test_a_child_is_replaced_after_so_many_tasks_or_so_much_growth() -> None:
    with Child(open_scripted, name="one", supervision=Supervision(max_tasks=3)) as child:
        pids = [child.call("x", 30) for _ in range(7)]
        assert len(set(pids)) == 3
        assert pids[0] == pids[2] != pids[3]
    with Child(open_scripted, name="one", supervision=Supervision(max_growth_mb=60)) as child:
        pids = [child.call("grow 25", 30) for _ in range(8)]
        assert 2 <= len(set(pids)) <= 4


def test_who_dies_while_it_opens_is_tried_again(tmp_path: Path) -> None:
    pauses: list[float] = []
    opener = partial(open_after_deaths, tmp_path / "deaths", 2)
    with Child(opener, name="one", wait=lambda s: bool(pauses.append(s))) as child:
        assert child.call("x", deadline_s=30)
    assert (child.starts, pauses) == (3, list(OPEN_PAUSES_S))


def test_who_dies_each_time_it_opens_says_what_was_seen(tmp_path: Path) -> None:
    opener = partial(open_after_deaths, tmp_path / "deaths", 99)
    child = Child(opener, name="mesh-0", wait=lambda _: False)
    with pytest.raises(OpenError) as told:
        child.start()
    assert "mesh-0 ended 3 times while it was opening (killed by SIGKILL" in told.value.message
    assert "after saying: half of the weights are loaded" in told.value.message
    assert "memory" in told.value.advice
    assert child.starts == 3


def test_who_is_interrupted_while_it_opens_is_not_tried_again(tmp_path: Path) -> None:
    opener = partial(open_after_deaths, tmp_path / "deaths", 99)
    child = Child(opener, name="one", wait=lambda _: True)
    with pytest.raises(OpenError, match="one ended while it was opening"):
        child.start()
    assert child.starts == 1


def test_another_interpreter_gets_our_package_and_nothing_else_of_ours() -> None:
    # eval is a function any interpreter has: it opens one that tells what it sees
    tell = "lambda _: (__import__('sys').path, __import__('penstock').__file__)"
    with Child(partial(eval, tell), name="other", executable=sys.executable) as child:
        path, home = child.call("", 30)
    assert home == str(Path(penstock.__file__))
    assert str(Path(__file__).parent) not in path
    with pytest.raises(OpenError, match="cannot be started"):
        Child(open_scripted, name="none", executable="/nonexistent/python").start()


def test_who_is_forgotten_in_a_ring_of_references_ends_without_a_word() -> None:
    child = Child(open_scripted, name="one")
    child.start()
    assert child._running is not None
    process, ring = child._running.process, [child._running, child]
    ring.append(ring)  # type: ignore[arg-type]
    code = process.poll()
    del child, ring
    gc.collect()
    assert (code, process.poll()) == (None, -signal.SIGKILL)


def crew_of(
    size: int, deadline_s: float = 30.0, supervision: Supervision | None = None
) -> ProcessPool[str, str]:
    return ProcessPool(
        [Child(open_scripted, name=f"m{n}", supervision=supervision) for n in range(size)], deadline_s
    )


def test_a_crash_is_tried_once_more_and_the_second_is_the_tasks_own(tmp_path: Path) -> None:
    crew = crew_of(1)
    try:
        crew.start()
        assert crew.call(f"die-once {tmp_path / 'mark'}")
        with pytest.raises(WorkerDied, match="SIGABRT"):
            crew.call("die")
        assert crew.call("x")
    finally:
        crew.close()


@pytest.mark.slow
def test_200_tasks_with_a_tenth_crashing_all_end_well_but_the_poisoned(tmp_path: Path) -> None:
    tasks = [f"die-once {tmp_path / str(n)}" if n % 10 == 3 else "x" for n in range(200)]
    poisoned = (17, 90, 151)
    for n in poisoned:
        tasks[n] = "die"
    crew = crew_of(2)

    def outcome(task: str) -> str:
        try:
            return crew.call(task)
        except WorkerDied:
            return "died"

    try:
        crew.start()
        with ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(outcome, tasks))
    finally:
        crew.close()
    assert [n for n, word in enumerate(outcomes) if word == "died"] == list(poisoned)


def test_the_breaker_opens_after_deaths_in_a_row_and_tries_again_after_a_rest() -> None:
    now = [0.0]
    breaker = Breaker(lambda: now[0])
    waits = [breaker.died() for _ in range(BREAK_AFTER)]
    assert waits == sorted(waits)
    assert waits[-1] <= 5.0
    with pytest.raises(EngineError, match="ended their process"):
        breaker.check()
    now[0] += 31
    breaker.check()  # one trial
    with pytest.raises(EngineError):
        breaker.check()
    breaker.went_well()
    breaker.check()


def test_a_member_that_worked_for_a_photo_is_asked_again() -> None:
    crew = crew_of(2)
    try:
        crew.start()
        first, second = crew.call("x", affinity="a"), crew.call("x", affinity="b")
        assert first != second
        assert [crew.call("x", affinity=photo) for photo in "abba"] == [first, second, second, first]
    finally:
        crew.close()


def test_no_member_outlives_a_parent_that_is_killed() -> None:
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); from tests.processes import test_pool;"
        "script = test_pool.FakeScript(hangs=('p1/0',));"
        "run = test_pool.Local().stream(test_pool.plan(script, things=1), test_pool.photos(3));"
        "next(run); print('up', flush=True); list(run)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(Path(__file__).parents[2])], stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"up\n"
    children = psutil.Process(parent.pid).children(recursive=True)
    assert len(children) == 2  # one of them hangs
    parent.kill()
    parent.wait()
    parent.stdout.close()
    _, alive = psutil.wait_procs(children, timeout=300)
    assert not alive


@dataclass(frozen=True, kw_only=True)
class Staged(Stage):
    """Photos of flat colour with `count` boxes each, as if they had been detected."""

    name: ClassVar[str] = "staged"
    item: ClassVar[type[Photo]] = Photo
    writes: ClassVar[tuple[str, ...]] = ("pixels", "objects", "width", "height")
    count: int = 3

    def open(self) -> _Staged:
        return _Staged(self.count)


class _Staged(Worker[Photo]):
    def __init__(self, count: int) -> None:
        self._count = count

    def __call__(self, items: list[Photo]) -> list[Photo]:
        mask = np.zeros((120, 160), bool)
        mask[50:100, 60:100] = True
        thing = PhotoObject(label="chair", box=(60, 50, 100, 100), mask=pack(mask), mask_path="masks/x.png")
        objects = tuple(replace(thing, index=n) for n in range(self._count))
        pixels = np.full((120, 160, 3), 90, np.uint8)
        return [replace(item, pixels=pixels, objects=objects, width=160, height=120) for item in items]

    def close(self) -> None:
        pass


def photos(count: int) -> list[Photo]:
    return [Photo(id=f"p{n}", uri=f"p{n}.jpg", document=f"p{n}.jpg") for n in range(count)]


def plan(script: FakeScript, crew: int = 2, things: int = 3, **options: object) -> Plan:
    mesh = fake_mesh(script, **options)
    return Plan(
        Staged(count=things),
        Reconstruct(engine="sam3d", mesh=mesh, pool_size=crew, overlap=crew + 2),
        Measure(),
    )


def test_every_fault_of_the_stand_in_costs_only_its_own_object() -> None:
    script = FakeScript(
        hangs=("p0/1",), dies=("p1/0",), raises=("p1/2",), short_of_memory=("p2/0",), seconds=0.01
    )
    got = {item.id: item for item in Local().stream(plan(script, silence_s=6.0), photos(3))}
    kinds = {
        f"{item.id}/{thing.index}": thing.failure.kind
        for item in got.values()
        for thing in item.objects
        if thing.failure is not None
    }
    assert kinds == {"p0/1": "DeadlinePassed", "p1/0": "WorkerDied", "p1/2": "EngineError"}
    assert all(item.failure is None for item in got.values())
    fine = [thing for item in got.values() for thing in item.objects if thing.failure is None]
    assert len(fine) == 6  # the one short of memory is done with the smaller setting
    assert all(thing.cloud and thing.bbox_cbm and thing.estimate == "anchored" for thing in fine)


def test_the_scale_is_applied_and_a_depth_map_makes_it_metric(tmp_path: Path) -> None:
    depth = tmp_path / "depth.npy"
    np.save(depth, np.full((120, 160), 2.0, np.float32))
    script = FakeScript(size=(0.9, 0.5, 0.7))
    stages = list(plan(script, crew=1, things=1))
    stages[1] = replace(stages[1], depths=(GivenDepth("", str(depth)),))  # type: ignore[type-var]
    [item] = Local().stream(Plan(*stages), photos(1))
    [thing] = item.objects
    assert thing.estimate == "metric"
    assert thing.bbox_cbm == pytest.approx(8 * 0.9 * 0.5 * 0.7, rel=0.1)  # scale 2: eight times


def test_an_empty_rooms_depth_reaches_the_stand_in_in_its_axes_and_measures_nothing() -> None:
    # the stand-in refuses a pointmap of another size or with other axes
    [item] = Local().stream(plan(FakeScript(), crew=1, things=1, floor_depth=True), photos(1))
    [thing] = item.objects
    assert thing.failure is None
    assert thing.estimate == "anchored"


@pytest.mark.parametrize(("count", "things", "rounds"), [(1, 8, 2), (4, 3, 3)])
def test_4_workers_take_2_rounds_for_8_objects_of_a_photo_and_3_for_3_of_4_photos(
    tmp_path: Path, count: int, things: int, rounds: int
) -> None:
    # a call ends when four are under way: with fewer at once, the run would not end
    worker = Reconstruct(engine="sam3d", mesh=mesh_in_rounds(tmp_path, 4), pool_size=4, overlap=6).open()
    try:
        with ThreadPoolExecutor(6) as threads:
            done = list(threads.map(lambda item: worker([item])[0], _Staged(things)(photos(count))))
    finally:
        worker.close()
    assert all(thing.failure is None for item in done for thing in item.objects)
    calls = list(tmp_path.iterdir())
    assert len(calls) == 4 * rounds
    assert len({call.read_text() for call in calls}) == 4  # processes


def commands_of_children() -> Iterator[str]:
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # it ended meanwhile, or has ended and waits to be collected
            yield " ".join(child.cmdline())


def test_closing_a_run_ends_a_crew_that_hangs() -> None:
    stream = Local().stream(plan(FakeScript(hangs=("p1/0",)), crew=2, things=1), photos(3))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert not [command for command in commands_of_children() if "sam3d" in command]


@dataclass(frozen=True, kw_only=True)
class Worn(Stage):
    """Says in which process it ran; wants a fresh one after two items."""

    name: ClassVar[str] = "worn"
    writes: ClassVar[tuple[str, ...]] = ("markdown",)
    needs: Needs = tuning(Needs(process=True))
    supervision: Supervision = tuning(Supervision(max_tasks=2))

    def open(self) -> TellPid:
        return TellPid()


def test_the_executor_recycles_a_stage_that_asks_for_it() -> None:
    local = Local()
    pages = [Page(id=f"p{n}", uri="p.pdf", document="p.pdf", part=n) for n in range(6)]
    pids = [item.markdown for item in local.stream(Plan(Worn()), pages)]
    assert len(set(pids)) == 3
    assert local.trace.profile(local.infos(Plan(Worn()))).stages[0].restarts == 2


def test_sam3d_without_its_environment_says_what_to_install() -> None:
    bare = Plan(Staged(), Reconstruct(engine="sam3d"), Measure())
    with pytest.raises(MissingModel, match="own Python environment"):
        list(Local().stream(bare, photos(1)))
    named = Plan(
        Staged(), Reconstruct(engine="sam3d", mesh=MeshOptions(python=sys.executable, config="none.yaml"))
    )
    with pytest.raises(MissingModel, match=r"pipeline.yaml is not at"):
        list(Local().stream(named, photos(1)))
