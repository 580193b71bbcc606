"""Readers of files for the tests: children forked from a process that has imported what they need.

A test that reads a small file waits for two Pythons to load the same libraries, which is nine tenths of its
cost. One process (`python -m tests.support.warm_children FD`) loads them once and forks a child for each
request. The child gets the folder, environment and descriptors it would have had, and runs `child_main`.

Children with settings for libraries or an interpreter of their own are started as ever. Tests of how children
start and end use the fixture `really_started`.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from unittest import mock

from penstock.processes import child, child_main
from penstock.processes.confinement import SANDBOX_VARIABLE, poor_environment

LOADED = (
    "penstock.workers.load", "penstock.sources.file_answers", "penstock.sources.archives.answers",
    "penstock.engines.office.open", "penstock.workers.office",
)  # fmt: skip
really_spawn = child._spawn  # for tests of how processes start
PID_WIDTH = 20  # characters before the status in a pipe, which may be there at once
# not read while libraries load, but for the last, to which OpenCV adds its own folder when it is imported
GIVEN = frozenset(
    {"PYTHONPATH", "PYTEST_CURRENT_TEST", "PATH", "HOME", "TMPDIR", SANDBOX_VARIABLE, "LD_LIBRARY_PATH"}
)
MAX_REQUEST = 1 << 18  # bytes: the search path of a test may be long


class WarmChild:
    """A child of the warm process, as `Popen` shows one. A pipe says how it ended."""

    def __init__(self, pid: int, ended: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = ended
        self._reads = threading.Lock()  # any thread may wait, or end it
        weakref.finalize(self, os.close, ended)

    def wait(self, timeout: float | None = None) -> int:
        if not select.select([self._ended], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a warm child", timeout or 0.0)
        with self._reads:
            if self.returncode is None:
                self.returncode = int(os.read(self._ended, 100) or -signal.SIGKILL)
        return self.returncode

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0.0)
        return None

    def kill(self) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


@dataclass
class WarmProcess:
    """Starts with the first request. Owned by the session of the tests, which closes it."""

    _open: ExitStack = field(default_factory=ExitStack)
    _starts: threading.Lock = field(default_factory=threading.Lock)
    _asks: socket.socket | None = None

    def spawn(
        self, command: list[str], theirs: socket.socket, environment: dict[str, str], stderr: IO[bytes]
    ) -> WarmChild:
        with self._starts:  # threads may read at once
            asks = self._asks or self._started()
        reading, writing = os.pipe()
        words = {"max_mb": int(command[-1]), "cwd": str(Path.cwd()), "environment": environment}
        with theirs:
            socket.send_fds(asks, [json.dumps(words).encode()], [theirs.fileno(), stderr.fileno(), writing])
        os.close(writing)
        return WarmChild(int(os.read(reading, PID_WIDTH)), reading)

    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.support.warm_children", str(theirs.fileno())]
            process = subprocess.Popen(
                command,
                env={**_shared(poor_environment(os.environ)), "PYTHONPATH": os.pathsep.join(sys.path)},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self._open.callback(process.wait)
        self._asks = self._open.enter_context(ours)
        return ours

    def close(self) -> None:
        self._open.close()
        self._asks = None


def _shared(environment: dict[str, str]) -> dict[str, str]:
    """Returns what must be equal: the rest is given to each child."""
    return {name: value for name, value in environment.items() if name not in GIVEN}


@contextmanager
def warm_children() -> Iterator[None]:
    """Children that are confined and have our own environment are forked from one warm process."""
    warm, usual = WarmProcess(), _shared(poor_environment(os.environ))

    def spawn(
        command: list[str], theirs: socket.socket, environment: dict[str, str], stderr: IO[bytes]
    ) -> Any:
        is_confined = command[3:4] == [child.PROGRAM] and command[-1] != "0"
        if is_confined and _shared(environment) == usual:
            return warm.spawn(command, theirs, environment, stderr)
        return really_spawn(command, theirs, environment, stderr)

    with mock.patch.object(child, "_spawn", spawn):
        try:
            yield
        finally:
            warm.close()


def main(asked: socket.socket) -> None:
    """Forks until nobody asks any more."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for name in LOADED:
        with suppress(ImportError):  # of an extra: a child that needs it says so
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    while True:
        words, descriptors, _, _ = socket.recv_fds(asked, MAX_REQUEST, 3)
        if not words:
            break
        if os.fork() == 0:
            asked.close()
            _watch(json.loads(words), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _watch(asked: dict[str, Any], end: int, stderr: int, tells: int) -> None:
    """Forks the child, says which process it is, and how it ended."""
    pid = os.fork()
    if pid == 0:
        os.close(tells)
        os._exit(_be_the_child(asked, end, stderr))
    os.close(end)
    os.close(stderr)
    with suppress(BrokenPipeError):
        os.write(tells, str(pid).rjust(PID_WIDTH).encode())
        _, status = os.waitpid(pid, 0)
        os.write(tells, str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _be_the_child(asked: dict[str, Any], end: int, stderr: int) -> int:
    os.dup2(stderr, 2)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.path[:] = asked["environment"]["PYTHONPATH"].split(os.pathsep)
    sys.argv = [child.PROGRAM, str(end), str(asked["max_mb"])]
    try:
        child_main.main(asked["max_mb"])
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as own:
        main(own)
