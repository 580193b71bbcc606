"""A cluster without Ray: machines are objects of this process, whose calls run in threads.

Has what the Ray executor asks of the package `ray`. A machine that is killed answers nothing more.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from penstock.executors import ray as executor


def sent(value: Any) -> Any:
    """Returns what arrives of a value on another machine."""
    return pickle.loads(pickle.dumps(value))


class RayError(Exception):
    """What Ray raises for a machine that is gone."""


class RayTaskError(RayError):
    """What Ray raises for an error on a machine."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


class _Method:
    def __init__(self, machine: MachineThread, name: str) -> None:
        self._machine, self._name = machine, name

    def remote(self, *given: Any) -> Future[Any]:
        return self._machine.call(self._name, given)


class MachineThread:
    """An actor. `death` ends what waits for it."""

    def __init__(self, made: Any) -> None:
        self._made = made
        self._threads = ThreadPoolExecutor(4, "machine")
        self._waiting: list[Future[Any]] = []
        self.is_dead = False

    def call(self, name: str, given: tuple[Any, ...]) -> Future[Any]:
        answer: Future[Any] = Future()
        self._waiting.append(answer)

        def work() -> None:
            result = getattr(self._made, name)(*sent(given))
            if not self.is_dead:
                answer.set_result(sent(result))

        if not self.is_dead:
            self._threads.submit(work)
        return answer

    def __getattr__(self, name: str) -> _Method:
        return _Method(self, name)

    def die(self) -> None:
        self.is_dead = True
        for answer in self._waiting:
            if not answer.done():
                answer.set_exception(RayError("the machine is gone"))


class ThreadsCluster:
    """Has so many machines of one core; `kill_one` takes one away, and its node with it."""

    exceptions = type("exceptions", (), {"RayError": RayError, "RayTaskError": RayTaskError})

    def __init__(self, machines: int) -> None:
        self._ids = [f"{number:056x}" for number in range(1, machines + 1)]  # as Ray's own are written
        self.actors: list[MachineThread] = []

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {"NodeID": id, "NodeManagerHostname": id, "Alive": True, "Resources": {"CPU": 1}}
            for id in self._ids
        ]

    def remote(self, kind: Any) -> ThreadsCluster:
        self._kind = kind
        return self

    def options(self, **_: Any) -> _Made:
        return _Made(self, self._kind)

    def wait(
        self, asked: list[Future[Any]], num_returns: int, timeout: float
    ) -> tuple[list[Future[Any]], list[Future[Any]]]:
        done, left = wait(asked, timeout, FIRST_COMPLETED if num_returns < len(asked) else "ALL_COMPLETED")
        return list(done)[:num_returns], list(left)

    def get(self, answer: Future[Any]) -> Any:
        return answer.result()

    def kill(self, actor: MachineThread) -> None:
        actor.die()

    def kill_one(self) -> None:
        """Kills a machine that is at work; another begins in its place when the driver looks next."""
        next(actor for actor in self.actors if not actor.is_dead).die()


class _Made:
    def __init__(self, cluster: ThreadsCluster, kind: Any) -> None:
        self._cluster, self._kind = cluster, kind

    def remote(self, *given: Any) -> MachineThread:
        self._cluster.actors.append(MachineThread(self._kind(*sent(given))))
        return self._cluster.actors[-1]


@contextmanager
def threads_cluster(machines: int) -> Iterator[ThreadsCluster]:
    """Lets the Ray executor join this cluster for the block."""
    cluster = ThreadsCluster(machines)

    @contextmanager
    def joined() -> Iterator[ThreadsCluster]:
        yield cluster

    with patch.object(executor, "_joined", joined), patch.object(executor, "LOOK_S", 0.2):
        yield cluster
