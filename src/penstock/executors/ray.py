"""Many machines: every machine of a Ray cluster runs the whole plan on its own share of the items.

    ray start --head                          # on the first machine
    ray start --address=HEAD:6379             # on each of the others
    penstock parse SCANS -o OUT --executor ray

A page stays on one machine from its file to its Markdown, so no pixels cross the network: items go out
without them, results come back to the driver, which writes them. Where OUT is on a store each machine
publishes its own, and the driver only hands out and counts. Each GPU gets a worker of its own (a
machine without one gets a single worker), with the local executor inside. A machine that dies loses
nothing: its items go to others, and machines that join are given work. Inputs lie under the same path
everywhere, or are objects of a store. The only file that imports ray.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import penstock
from penstock.errors import MissingModel, NoProgress, OpenError, first_line, install_advice
from penstock.executors.base import Executor, ItemFilesSpec, ItemWriterSpec, Stream, close_listing
from penstock.executors.channel import Channel, Closed
from penstock.executors.handout import Handout
from penstock.executors.local import STALL_S, Local
from penstock.executors.machine import Machine, MachineReport
from penstock.item import ELSEWHERE, Item
from penstock.plan import Plan
from penstock.trace.profile import HardwareFacts
from penstock.trace.spans import StageInfo, Trace

log = logging.getLogger(__name__)

TAKE_S = 1.0  # a machine with nothing to tell answers so often: that is its heartbeat
START_S = 300.0  # for a worker to begin: its machine may be busy with another's job
LOOK_S = 5.0  # between two looks for machines that came or went
COMMIT_S = 30.0  # for machines to publish what they finished when a run is stopped
MAX_DEATHS = 6  # in a row without a single result: then it is not the machines
CALLS = 3  # put and take at once, and one to spare
# files may be copies there, with times of their own
ACTOR = {"max_concurrency": CALLS, "max_restarts": 0, "runtime_env": {"env_vars": {ELSEWHERE: "1"}}}


class Ray(Executor):
    """Streams items through a plan on all machines of a cluster, in completion order.

    Joins the cluster that runs on this machine (or the one in $RAY_ADDRESS); without one, Ray starts
    one here, which is good for trying and nothing else.
    """

    name = "ray"
    on_this_machine = False

    def __init__(self, trace: Trace | None = None, stall_s: float = STALL_S) -> None:
        super().__init__(trace)
        self._stall_s = stall_s
        self._most = 1  # workers at once, for the profile
        self._machines: tuple[HardwareFacts, ...] = ()
        self._writing: ItemWriterSpec | None = None
        self._files: ItemFilesSpec | None = None
        self._run: _RayRun | None = None

    def write_on_machines(self, spec: ItemWriterSpec) -> bool:
        self._writing = spec
        return True

    def fetch_on_machines(self, spec: ItemFilesSpec) -> None:
        self._files = spec

    def has_written(self, item: Item) -> bool:
        given_up = self._run.given_up if self._run is not None else ()
        return self._writing is not None and item.id not in given_up

    def stream(self, plan: Plan, items: Iterable[Item]) -> Stream:
        with (
            _joined() as ray,
            _RayRun(ray, plan, items, self.trace, self._stall_s, self._writing, self._files) as run,
        ):
            self._run = run
            for item in run.results():
                self._most = max(self._most, run.num_workers)
                self._machines = tuple(run.machines.values())
                yield item

    def machines(self) -> tuple[HardwareFacts, ...]:
        return self._machines

    def infos(self, plan: Plan) -> list[StageInfo]:
        return [replace(info, workers=info.workers * self._most) for info in Local().infos(plan)]


@dataclass
class _ClusterWorker:
    """One worker in the cluster as the driver sees it."""

    name: str
    slot: str
    actor: Any
    asked: Any  # what it will tell next
    since: float  # when it began, or last had something to tell
    up: bool = False


@dataclass
class _RayRun:
    """One stream over the cluster. Everything but the feeding happens on the caller's thread."""

    ray: Any
    plan: Plan
    items: Iterable[Item]
    trace: Trace
    stall_s: float
    writing: ItemWriterSpec | None = None
    files: ItemFilesSpec | None = None
    given_up: set[str] = field(default_factory=set)  # ids of items that no machine has written
    workers: dict[str, _ClusterWorker] = field(default_factory=dict)  # by slot
    machines: dict[str, HardwareFacts] = field(default_factory=dict)  # by node, as long as they work
    error: BaseException | None = None

    def __post_init__(self) -> None:
        window = sum(stage.batch.max_items * stage.workers * stage.overlap for stage in self.plan) + 1
        self._source: Channel[Item] = Channel(4 * window)
        self._handout = Handout(self._source, window)
        self._fed = threading.Event()
        self._deaths = 0
        self._number = 0
        self._looked = float("-inf")
        self._began = time.monotonic()
        self._since_1970 = time.time() - self.trace.clock()

    def __enter__(self) -> _RayRun:
        threading.Thread(target=self._feed, name="feed", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._source.abort()
        if self.writing is not None:
            commits = [worker.actor.commit.remote() for worker in self.workers.values() if worker.up]
            if commits:
                self.ray.wait(commits, num_returns=len(commits), timeout=COMMIT_S)
        for worker in self.workers.values():
            self.ray.kill(worker.actor)  # its processes end with it
        if self._fed.is_set():
            close_listing(self.items)

    @property
    def num_workers(self) -> int:
        return sum(worker.up for worker in self.workers.values())

    def results(self) -> Iterator[Item]:
        while True:
            fed = self._fed.is_set()  # before the source is looked at: it may end in between
            if fed and not len(self._source) and not self._handout.out:
                break
            self._look_for_machines()
            for worker in list(self.workers.values()):
                if worker.up and (given := self._handout.next_for(worker.name)):
                    worker.actor.put.remote(given)
            yield from self._listen()
        if self.error is not None:
            raise self.error

    def _feed(self) -> None:
        try:
            for item in self.items:
                self._source.put(item)
        except Closed:
            pass  # the run ended first
        except BaseException as exc:  # raised by `results`: on this thread it would be lost
            self.error = exc
        finally:
            self._fed.set()

    def _listen(self) -> Iterator[Item]:
        asked = {worker.asked: worker for worker in self.workers.values()}
        if not asked:
            time.sleep(TAKE_S / 4)
            return
        ready, _ = self.ray.wait(list(asked), num_returns=1, timeout=TAKE_S)
        for ref in ready:
            yield from self._heard(asked[ref])
        for worker in list(self.workers.values()):
            yield from self._patience(worker)

    def _heard(self, worker: _ClusterWorker) -> Iterator[Item]:
        try:
            report: MachineReport = self.ray.get(worker.asked)
        except self.ray.exceptions.RayTaskError as exc:
            raise exc.cause from None
        except self.ray.exceptions.RayError as exc:
            yield from self._lost(worker, first_line(exc))
            return
        self._keep_times(report)
        if report.hardware is not None:
            self.machines[_node_of(worker.slot)] = report.hardware
        if report.error is not None:
            raise report.error
        worker.asked = worker.actor.take.remote(TAKE_S)
        if report.items or not worker.up or not self._handout.at_work(worker.name):
            worker.since, worker.up = time.monotonic(), True
        if report.items:
            self._deaths = 0
        self._handout.came_back(worker.name, report.items, report.finished)
        yield from report.items

    def _patience(self, worker: _ClusterWorker) -> Iterator[Item]:
        """Gives up a worker that never began, or that holds items and stands still."""
        waited = time.monotonic() - worker.since
        if not worker.up and waited > START_S:
            yield from self._lost(
                worker, f"it did not begin within {START_S:g} s; are its cores taken by other jobs?"
            )
        elif worker.up and waited > self.stall_s:
            yield from self._lost(worker, f"nothing came from it for {self.stall_s:g} s")

    def _lost(self, worker: _ClusterWorker, why: str) -> Iterator[Item]:
        log.warning("%s is lost: %s", worker.name, why)
        self.ray.kill(worker.actor)
        del self.workers[worker.slot]
        if _node_of(worker.slot) not in map(_node_of, self.workers):
            self.machines.pop(_node_of(worker.slot), None)
        given_up = self._handout.lost(worker.name)
        self.given_up.update(item.id for item in given_up)
        yield from given_up
        self._deaths = 0 if given_up else self._deaths + 1  # finding the page that did it is a result
        if self._deaths >= MAX_DEATHS:
            raise NoProgress(
                f"{MAX_DEATHS} workers of the cluster were lost in a row without a result: {why}.",
                "Look at the logs of Ray and of the machines; finished pages are kept.",
            )

    def _look_for_machines(self) -> None:
        if time.monotonic() - self._looked < LOOK_S:
            return
        self._looked = time.monotonic()
        for node in self.ray.nodes():
            for slot, resources in _slots(node):
                if slot not in self.workers:
                    self._open(node, slot, resources)
        if not self.workers and time.monotonic() - self._began > START_S:
            raise OpenError("The Ray cluster has no machine with a CPU.", "See `ray status`.")

    def _open(self, node: dict[str, Any], slot: str, resources: dict[str, int]) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False)
        self._number += 1
        name = f"{node['NodeManagerHostname']}#{self._number}"
        actor = (
            self.ray.remote(Machine)
            .options(**resources, **ACTOR, scheduling_strategy=here)
            .remote(self.plan, penstock.__version__, name, self.writing, self.files)
        )
        asked = actor.take.remote(0.0)
        self.workers[slot] = _ClusterWorker(name, slot, actor, asked, time.monotonic())

    def _keep_times(self, report: MachineReport) -> None:
        for span in report.spans:
            self.trace.add(replace(span, start=span.start - self._since_1970))
        for count in report.counts:
            self.trace.count(count.stage, failed=count.failed, restarts=count.restarts)


def _slots(node: dict[str, Any]) -> Iterator[tuple[str, dict[str, int]]]:
    """Yields a slot for each GPU of a machine with its share of the cores, or one with all cores."""
    if not node["Alive"]:
        return
    cpus, gpus = int(node["Resources"].get("CPU", 0)), int(node["Resources"].get("GPU", 0))
    for number in range(max(1, gpus) if cpus else 0):
        share = {"num_cpus": max(1, cpus // max(1, gpus)), "num_gpus": 1 if gpus else 0}
        yield f"{node['NodeID']}/{number}", share


def _node_of(slot: str) -> str:
    return slot.partition("/")[0]


class _joined:
    """The cluster as `ray`, left again at the end unless the caller had joined it before."""

    def __enter__(self) -> Any:
        try:
            import ray
        except ImportError as exc:
            raise MissingModel(
                "Ray is not installed.", f"{install_advice('ray')}, on every machine of the cluster."
            ) from exc
        self._was_in = ray.is_initialized()
        self._ray = ray
        if not self._was_in:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
        return ray

    def __exit__(self, *_: object) -> None:
        if not self._was_in:
            self._ray.shutdown()
