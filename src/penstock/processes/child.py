"""A process of our own that answers one question at a time and can be killed.

The child runs `child_main.py` and speaks over a private socket, so whatever it prints cannot break
the protocol and the caller's main module is never imported again. It says READY when its function is
open, or sends back why not; if it dies before, it is tried again. It ends when its parent does: the socket
closes, and a watching thread exits even while native code is busy. Work that takes long calls `beat()`
as it goes: a beat comes from the work itself, so a thread that still runs next to a hung kernel
proves nothing.

Not a pool and not a queue: the owner calls `call` from one thread at a time and closes it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from penstock.errors import DeadlinePassed, OpenError, PenstockError, WorkerDied
from penstock.processes.child_main import READY
from penstock.processes.confinement import MEMORY_VARIABLE, poor_environment, reader_memory_mb
from penstock.processes.plain import NotPlain
from penstock.processes.wire import Frames
from penstock.sizes import MIB, memory_size
from penstock.stage import Supervision

Request = TypeVar("Request")
Reply = TypeVar("Reply")

OPEN_DEADLINE_S = 300.0  # loading weights from a cold disk; an engine that needs more is a server
# between tries to open: who was killed for want of memory may find some when others have ended
OPEN_PAUSES_S = (1.0, 5.0)
PROGRAM = "penstock.processes.child_main"
OUT_OF_MEMORY = (
    "The system ends a process so when memory runs out: run less at the same time, or give it more memory."
)
# Another interpreter must get our package and nothing else of ours: its numpy and torch are its own.
FOREIGN = """
import importlib.util as u, sys
home = sys.argv[2]
s = u.spec_from_file_location("penstock", home + "/__init__.py", submodule_search_locations=[home])
m = sys.modules["penstock"] = u.module_from_spec(s)
s.loader.exec_module(m)
from penstock.processes.child_main import main
main()
"""


class Child(Generic[Request, Reply]):
    """Calls `opener()` in a new process, then its result for each request.

    `opener` must pickle: a module's function, or a bound method of a frozen dataclass. `executable` is
    another Python (3.11 or newer) with packages of its own. `confined` is for one that reads strangers'
    bytes. `wait` pauses between tries to open, and says whether to stop trying. One that `warms_up` has
    `open_s` for its first answer too: kernels are compiled by then.

        with Child(open_probe, name="probe") as probe:
            pages = probe.call(path, deadline_s=30)
    """

    def __init__(
        self,
        opener: Callable[[], Callable[[Request], Reply]],
        *,
        name: str,
        env: Mapping[str, str] | None = None,
        executable: str | None = None,
        supervision: Supervision | None = None,
        confined: bool = False,
        wait: Callable[[float], bool] | None = None,
        open_s: float = OPEN_DEADLINE_S,
        warms_up: bool = False,
    ) -> None:
        self.name = name
        self._open_s, self._warms_up = open_s, warms_up
        self._stopped = threading.Event()
        self._wait = wait or self._stopped.wait
        self._max_mb = reader_memory_mb() if confined else 0
        self.starts = 0
        self._executable = executable
        self._supervision = supervision or Supervision()
        self._served = 0
        self._memory_mb: tuple[float, float] = (0.0, 0.0)  # after the first answer, after the last
        self._opener = opener
        self._env = dict(env or {})
        self._running: _Running | None = None
        self._forgotten: weakref.finalize[..., Any] | None = None

    def __enter__(self) -> Child[Request, Reply]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Starts the process unless it runs. One that dies while it opens is tried again.

        Raises OpenError with the child's own reason, or what was seen of its deaths.
        """
        if self._running is not None:
            return
        for pause_s in (*OPEN_PAUSES_S, None):
            try:
                self._start_once()
                return
            except ChildProcessError as exc:
                if pause_s is None or self._stopped.is_set() or self._wait(pause_s):
                    times = f" {len(OPEN_PAUSES_S) + 1} times" if pause_s is None else ""
                    advice = OUT_OF_MEMORY if "SIGKILL" in str(exc) else ""
                    raise OpenError(
                        f"{self.name} ended{times} while it was opening ({exc}).", advice
                    ) from exc

    def _start_once(self) -> None:
        """Raises ChildProcessError if the process dies before it is open."""
        self._running = running = self._launched()
        # one that is forgotten ends too, in whatever order the garbage collector takes its parts
        self._forgotten = weakref.finalize(self, running.kill)
        self._forgotten.atexit = False  # it ends with us anyway
        self.starts += 1
        self._served = 0
        with contextlib.ExitStack() as undo:
            undo.callback(self.kill)
            self._open()
            undo.pop_all()

    def _launched(self) -> _Running:
        ours, theirs = socket.socketpair()
        command, environment = self._command(theirs.fileno())
        with contextlib.ExitStack() as undo:  # Ctrl-C must leave nothing behind either
            undo.enter_context(ours)
            # native libraries chatter; it is shown only when one died
            stderr = undo.enter_context(tempfile.TemporaryFile())
            process = _spawn(command, theirs, environment, stderr)
            undo.pop_all()
        return _Running(process, Frames(ours, max_bytes=self._max_mb << 20), stderr)

    def call(self, request: Request, deadline_s: float) -> Reply:
        """Returns the child's answer.

        Raises WorkerDied or DeadlinePassed after ending the process (the next call starts a new
        one), and whatever ItemError the child's function raised.
        """
        self.start()
        silence_s = self._supervision.silence_s
        if self._warms_up and not self._served:
            deadline_s, silence_s = deadline_s + self._open_s, silence_s and silence_s + self._open_s
        end = time.monotonic() + deadline_s
        try:
            self._send(request, deadline_s)
            kind, value = self._receive(end, deadline_s, silence_s)
        except NotPlain as exc:
            self.kill()
            raise WorkerDied(f"{self.name} answered with what is no answer ({exc}), and was ended.") from exc
        except (EOFError, ConnectionError) as exc:
            raise self._death() from exc
        except DeadlinePassed:
            self.kill()
            raise
        self._served += 1
        if self._is_worn():
            self.close()  # the next call starts a fresh one
        if kind == "error":
            if getattr(value, "ends_process", False):  # its GPU is lost: it could only fail again
                self.kill()
            raise value
        reply: Reply = value
        return reply

    def close(self) -> None:
        """Requests the child to end, and ends it. Safe to call twice."""
        self._end(_Running.close)

    def kill(self) -> None:
        self._end(_Running.kill)

    def _end(self, how: Callable[[_Running], None]) -> None:
        if self._running is not None:
            how(self._running)
            self._running = None
        if self._forgotten is not None:
            self._forgotten.detach()
            self._forgotten = None

    def _send(self, value: object, deadline_s: float) -> None:
        assert self._running is not None
        try:
            self._running.frames.send(value, time.monotonic() + deadline_s)
        except TimeoutError:
            raise self._late(deadline_s, 0.0) from None

    def interrupt(self) -> None:
        """Ends the process from any thread; the one that waits for it gets WorkerDied."""
        self._stopped.set()
        running = self._running
        if running is not None:
            running.process.kill()

    def _receive(self, end: float, deadline_s: float, silence_s: float = 0.0) -> tuple[str, Any]:
        """Returns the next answer; beats before it only show that it is on its way."""
        assert self._running is not None
        kind, value = "beat", None
        while kind == "beat":
            until = min(end, time.monotonic() + silence_s) if silence_s else end
            try:
                kind, value, memory_mb = _checked(self._running.frames.receive(end, begun_until=until))
                if (
                    kind == "beat" and time.monotonic() > end
                ):  # beats that are there already wait for no clock
                    raise TimeoutError
            except TimeoutError:
                raise self._late(deadline_s, silence_s if until < end else 0.0) from None
        first = self._memory_mb[0] if self._served else memory_mb
        self._memory_mb = (first, memory_mb)
        return kind, value

    def _late(self, deadline_s: float, silence_s: float) -> DeadlinePassed:
        if silence_s:
            return DeadlinePassed(f"{self.name} made no progress for {silence_s:g} s and was ended.")
        return DeadlinePassed(
            f"{self.name} took longer than {deadline_s:g} s and was ended.",
            "If the page is just large, raise --page-timeout.",
        )

    def _is_worn(self) -> bool:
        supervision, (first, last) = self._supervision, self._memory_mb
        return bool(
            (supervision.max_tasks and self._served >= supervision.max_tasks)
            or (supervision.max_growth_mb and last - first > supervision.max_growth_mb)
            or (self._max_mb and last > self._max_mb / 2)  # the next page would have too little
        )

    def _command(self, descriptor: int) -> tuple[list[str], dict[str, str]]:
        if self._executable is None:
            path = os.pathsep.join(filter(None, sys.path))
            command = [sys.executable, "-P", "-m", PROGRAM, str(descriptor), str(self._max_mb)]
            inherited = poor_environment(os.environ) if self._max_mb else dict(os.environ)
            return command, {**inherited, "PYTHONPATH": path, **self._env}
        own = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
        folder = str(Path(__file__).resolve().parents[1])
        return [self._executable, "-P", "-c", FOREIGN, str(descriptor), folder], {**own, **self._env}

    def _open(self) -> None:
        before = _largest_child_mb()
        assert self._running is not None
        try:
            self._send(self._opener, self._open_s)
            kind, value = self._receive(time.monotonic() + self._open_s, self._open_s)
        except (EOFError, ConnectionError) as exc:
            words = self._running.death_words()
            largest = _largest_child_mb()
            used = f", having used {memory_size(largest * MIB)}" if largest > before else ""
            raise ChildProcessError(words + used) from exc
        if kind == "error":
            raise value
        assert value == READY

    def _death(self) -> WorkerDied:
        words = self._running.death_words() if self._running is not None else "already closed"
        advice = OUT_OF_MEMORY if "SIGKILL" in words else ""
        if self._max_mb and "SIGSEGV" not in words and not advice:  # a library that has no memory left aborts
            bound = memory_size(self._max_mb * MIB)
            advice = f"Few files need more than the {bound} it may use; {MEMORY_VARIABLE} sets that."
        self.kill()
        return WorkerDied(f"{self.name} died: {words}.", advice)


@dataclass(frozen=True, slots=True)
class _Running:
    """A process that runs, with our end of its socket and what it printed."""

    process: subprocess.Popen[bytes]
    frames: Frames
    stderr: IO[bytes]

    def close(self) -> None:
        """Safe to call twice."""
        self.frames.close()
        try:
            self.process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=10.0)
        self.stderr.close()

    def kill(self) -> None:
        self.process.kill()
        self.close()

    def death_words(self) -> str:
        return self._exit_words() + self._last_words()

    def _exit_words(self) -> str:
        try:
            code = self.process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            return "socket closed"
        if code >= 0:
            return f"exit code {code}"
        with contextlib.suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
        return f"killed by signal {-code}"

    def _last_words(self) -> str:
        """Returns what the child last printed, to find out why it died."""
        self.stderr.seek(0, os.SEEK_END)
        self.stderr.seek(max(0, self.stderr.tell() - 2000))
        lines = self.stderr.read().decode("utf-8", "replace").strip().splitlines()
        return f", after saying: {lines[-1][:300]}" if lines else ""


def _checked(answer: Any) -> tuple[str, Any, float]:
    """Returns what a child sends: a kind, a value, its memory. Raises NotPlain for anything else."""
    if not isinstance(answer, tuple) or len(answer) != 3 or not isinstance(answer[2], int | float):
        raise NotPlain("it is no answer")
    kind, value, memory_mb = answer
    if kind not in ("ok", "error", "beat") or (kind == "error" and not isinstance(value, PenstockError)):
        raise NotPlain("it is neither a result nor an error")
    return kind, value, memory_mb


def _spawn(
    command: list[str], theirs: socket.socket, environment: dict[str, str], stderr: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Starts `command`, which keeps its end of the socket; ours of it is closed here."""
    with theirs:
        try:
            return subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )
        except OSError as exc:
            raise OpenError(f"{command[0]} cannot be started: {exc.strerror}.") from exc


def _largest_child_mb() -> int:
    """The most memory that any child of ours had that has ended."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kB elsewhere
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit >> 20
