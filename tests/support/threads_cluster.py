"""A cluster without Ray: machines are objects of this process, whose calls run in threads.

Has what the Ray executor asks of the package `ray`. A machine that is killed answers nothing more.
"""

from __future__ import annotations

import pickle
import threading
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


def _gone() -> RayError:
    return RayError("the machine is gone")


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
        self._lock = threading.Lock()  # an answer is given once: by the machine or by its death
        self.is_dead = False

    def call(self, name: str, given: tuple[Any, ...]) -> Future[Any]:
        """Returns the answer to come. A dead machine is found out by the first call after its death."""
        answer: Future[Any] = Future()
        with self._lock:
            if self.is_dead:
                answer.set_exception(_gone())
            else:
                self._waiting.append(answer)
                self._threads.submit(self._work, answer, name, given)
        return answer

    def _work(self, answer: Future[Any], name: str, given: tuple[Any, ...]) -> None:
        error: RayTaskError | None = None
        result = None
        try:
            result = sent(getattr(self._made, name)(*sent(given)))
        except Exception as exc:  # what Ray does with an error on a machine
            error = RayTaskError(exc)
        with self._lock:
            if answer.done():
                return
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(result)

    def __getattr__(self, name: str) -> _Method:
        return _Method(self, name)

    def die(self) -> None:
        with self._lock:
            self.is_dead = True
            for answer in self._waiting:
                if not answer.done():
                    answer.set_exception(_gone())


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
