"""A process of our own that answers one question at a time and can be killed.

The child runs `python -m penstock.child FD` and speaks pickles over a private socket, so whatever
it prints cannot break the protocol and the caller's main module is never imported again. It says
READY when its function is open, or sends back why not. It ends when its parent does: the socket
closes, and a watching thread exits even while native code is busy.

Not a pool and not a queue: the owner calls `call` from one thread at a time and closes it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import IO, Any, Generic, TypeVar

from penstock.errors import DeadlinePassed, EngineError, ItemError, OpenError, PenstockError, WorkerDied

Request = TypeVar("Request")
Reply = TypeVar("Reply")

OPEN_DEADLINE_S = 300.0  # loading weights from a cold disk; an engine that needs more is a server
READY = "ready"
SOCKET_BUFFER = 64 * 1024  # what a socket takes without a reader, on every system we know


class Child(Generic[Request, Reply]):
    """Calls `opener()` in a new process, then its result for each request.

    `opener` must pickle: a module's function, or a bound method of a frozen dataclass.

        with Child(open_probe, name="probe") as probe:
            pages = probe.call(path, deadline_s=30)
    """

    def __init__(
        self,
        opener: Callable[[], Callable[[Request], Reply]],
        *,
        name: str,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.starts = 0
        self._opener = opener
        self._env = dict(env or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: Connection[Any, Any] | None = None
        self._stderr: IO[bytes] | None = None

    def __enter__(self) -> Child[Request, Reply]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Starts the process unless it runs. Raises OpenError with the child's own reason."""
        if self._process is not None:
            return
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", "penstock.child", str(theirs.fileno())]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **self._env}
        self._stderr = tempfile.TemporaryFile()  # native libraries chatter; it is told only of the dead
        self._process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
        )
        theirs.close()
        self._socket = Connection(ours.detach())
        self.starts += 1
        try:
            self._send(self._opener, time.monotonic() + OPEN_DEADLINE_S)
            self._expect_ready()
        except BaseException:
            self.kill()
            raise

    def call(self, request: Request, deadline_s: float) -> Reply:
        """The child's answer.

        Raises WorkerDied or DeadlinePassed after ending the process (the next call starts a new
        one), and whatever ItemError the child's function raised.
        """
        self.start()
        end = time.monotonic() + deadline_s
        try:
            self._send(request, end)
            kind, value = self._receive(end, deadline_s)
        except (EOFError, ConnectionError) as exc:
            raise self._death() from exc
        except DeadlinePassed:
            self.kill()
            raise
        if kind == "error":
            raise value
        reply: Reply = value
        return reply

    def close(self) -> None:
        """Asks the child to end, and ends it. Safe to call twice."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            try:
                self._process.wait(timeout=2.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(timeout=10.0)
            self._process = None
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
        self.close()

    def _send(self, value: object, end: float) -> None:
        assert self._socket is not None
        message = pickle.dumps(value, protocol=5)
        if len(message) < SOCKET_BUFFER:
            self._socket.send_bytes(message)
            return
        # a child that stopped reading would block us for ever: the timer ends it at the deadline
        timer = threading.Timer(max(0.0, end - time.monotonic()), self.interrupt)
        timer.daemon = True
        timer.start()
        try:
            self._socket.send_bytes(message)
        finally:
            timer.cancel()

    def interrupt(self) -> None:
        """Ends the process from any thread; the one that waits for it gets WorkerDied."""
        process = self._process
        if process is not None:
            process.kill()

    def _receive(self, end: float, deadline_s: float) -> tuple[str, Any]:
        assert self._socket is not None
        if not self._socket.poll(max(0.0, end - time.monotonic())):
            raise DeadlinePassed(
                f"{self.name} took longer than {deadline_s:g} s and was ended.",
                "If the page is just large, raise --page-timeout.",
            )
        kind, value = pickle.loads(self._socket.recv_bytes())
        return kind, value

    def _expect_ready(self) -> None:
        try:
            kind, value = self._receive(time.monotonic() + OPEN_DEADLINE_S, OPEN_DEADLINE_S)
        except (EOFError, ConnectionError) as exc:
            raise OpenError(
                f"{self.name} ended while it was opening ({self._exit_words()}{self._last_words()})."
            ) from exc
        if kind == "error":
            raise value
        assert value == READY

    def _exit_words(self) -> str:
        process = self._process
        if process is None:
            return "already closed"
        try:
            code = process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            return "socket closed"
        if code >= 0:
            return f"exit code {code}"
        with contextlib.suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
        return f"killed by signal {-code}"

    def _last_words(self) -> str:
        """What the child last printed, for whoever has to find out why it died."""
        if self._stderr is None:
            return ""
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - 2000))
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return f", after saying: {lines[-1][:300]}" if lines else ""

    def _death(self) -> WorkerDied:
        words = self._exit_words() + self._last_words()
        advice = "Out of memory?" if "SIGKILL" in words else ""
        self.kill()
        return WorkerDied(f"{self.name} died: {words}.", advice)


def _serve(connection: Connection[Any, Any]) -> None:
    try:
        function = pickle.loads(connection.recv_bytes())()
    except Exception as exc:  # whatever stops it from opening is the parent's to tell
        _reply(connection, "error", _as_open_error(exc))
        return
    _reply(connection, "ok", READY)
    while True:
        try:
            request = pickle.loads(connection.recv_bytes())
        except (EOFError, ConnectionError):
            break
        try:
            _reply(connection, "ok", function(request))
        except PenstockError as exc:
            _reply(connection, "error", exc)
        except Exception as exc:  # the seam to foreign code: one request fails, the process lives
            _reply(connection, "error", _as_item_error(exc))
    close = getattr(function, "close", None)
    if close is not None:
        close()


def _reply(connection: Connection[Any, Any], kind: str, value: object) -> None:
    connection.send_bytes(pickle.dumps((kind, value), protocol=5))


def _as_open_error(exc: Exception) -> PenstockError:
    if isinstance(exc, PenstockError):
        return exc
    return OpenError(f"{type(exc).__name__}: {exc}")


def _as_item_error(exc: Exception) -> ItemError:
    where = traceback.extract_tb(exc.__traceback__)[-1]
    return EngineError(f"{type(exc).__name__}: {exc} ({where.name}, line {where.lineno})")


def _end_with_parent(parent: int) -> None:
    """Ends this process when its parent is gone, even while native code runs."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it closes the socket
    threading.Thread(
        target=_end_with_parent, args=(os.getppid(),), name="end-with-parent", daemon=True
    ).start()
    with Connection(int(sys.argv[1])) as connection, contextlib.suppress(BrokenPipeError, ConnectionError):
        _serve(connection)


if __name__ == "__main__":
    main()
