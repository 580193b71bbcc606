"""The half of a child that runs in the child: opens what it is sent, then answers question after question.

Started by child.py as `python -m penstock.processes.child_main FD MB`. Says READY when its function is open,
or sends back why not.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
import traceback
from pathlib import Path

from penstock.errors import BadInput, EngineError, ItemError, OpenError, PenstockError
from penstock.processes.confinement import MEMORY_VARIABLE, bound_memory, shut_in
from penstock.processes.wire import Frames

READY = "ready"
FIRST_TO_END = 500  # of 1000: where memory runs out the kernel ends us, and not the run with all its pages
BEAT_S = 0.2  # beats are sent no more often; each costs a system call

_parent: Frames | None = None
_last_beat = 0.0


def beat() -> None:
    """Tells the parent that this work moves. Cheap; does nothing outside of a child.

    Only for the thread that does the work: beats of another would prove nothing.
    """
    global _last_beat
    now = time.monotonic()
    if _parent is not None and now - _last_beat >= BEAT_S:
        _last_beat = now
        _reply(_parent, "beat", None)


def _serve(parent: Frames, max_mb: int) -> None:
    try:
        function = parent.receive()()
    except Exception as exc:  # whatever stops it from opening is the parent's to tell
        _reply(parent, "error", _as_open_error(exc))
        return
    if max_mb:
        shut_in()  # after the imports, which may write what they compiled
    _reply(parent, "ok", READY)
    while True:
        try:
            request = parent.receive()
        except (EOFError, ConnectionError):
            break
        try:
            _reply(parent, "ok", function(request))
        except PenstockError as exc:
            _reply(parent, "error", exc)
        except Exception as exc:  # the seam to foreign code: one request fails, the process lives
            _reply(parent, "error", _as_item_error(exc))
    close = getattr(function, "close", None)
    if close is not None:
        close()


def _reply(parent: Frames, kind: str, value: object) -> None:
    parent.send((kind, value, _used_mb()))


def _used_mb() -> float:
    """The memory of this process without files it has mapped, and what torch holds of its GPU."""
    try:
        resident, mapped = map(int, Path("/proc/self/statm").read_text("ascii").split()[1:3])
    except OSError:  # not Linux: growth is then not seen
        return 0.0
    torch = sys.modules.get("torch")
    on_gpu = torch.cuda.memory_reserved() if torch is not None and torch.cuda.is_initialized() else 0
    return ((resident - mapped) * os.sysconf("SC_PAGE_SIZE") + on_gpu) / 2**20


def _as_open_error(exc: Exception) -> PenstockError:
    if isinstance(exc, PenstockError):
        return exc
    return OpenError(f"{type(exc).__name__}: {exc}")


def _as_item_error(exc: Exception) -> ItemError:
    if isinstance(exc, MemoryError):
        return BadInput(
            "it needs more memory than a process that reads files may use.", f"See {MEMORY_VARIABLE}."
        )
    where = traceback.extract_tb(exc.__traceback__)[-1]
    return EngineError(f"{type(exc).__name__}: {exc} ({where.name}, line {where.lineno})")


def _end_with_parent(parent: int) -> None:
    """Ends this process when its parent is gone, even while native code runs."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main(max_mb: int = 0) -> None:
    """Serves the parent. With `max_mb` it is confined, and has no more memory."""
    global _parent
    with contextlib.suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text(str(FIRST_TO_END), "ascii")
    if max_mb:
        bound_memory(max_mb)
    # run as a script this module is __main__; whoever imports it must find the same one
    sys.modules.setdefault("penstock.processes.child_main", sys.modules[__name__])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they reach the whole group; the parent closes the socket
    threading.Thread(
        target=_end_with_parent, args=(os.getppid(),), name="end-with-parent", daemon=True
    ).start()
    with socket.socket(fileno=int(sys.argv[1])) as end, contextlib.suppress(ConnectionError):
        _parent = Frames(end, sends_plain=max_mb > 0)
        _serve(_parent, max_mb)


if __name__ == "__main__":
    main(int(sys.argv[2]))
