"""Keeps servers running after the command that started them has ended.

`penstock engine start` writes a `DetachedServer` into the user's cache, one file a server, and starts

    python -m penstock.engines.vllm.daemon FILE

in a session of its own. That process, the keeper, starts the server, watches it like any managed one, and
writes its state into the file. SIGTERM ends both. `status` and `stop` read the files.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from penstock.engines.vllm.detached import DetachedServer, born, path_of, read, write
from penstock.engines.vllm.embedding_presets import EMBEDDING
from penstock.engines.vllm.presets import Preset
from penstock.engines.vllm.server import ManagedServer
from penstock.engines.vllm.server_plan import preset_for
from penstock.errors import OpenError, UsageError

STOP_S = 40.0  # the guard's grace, and some for a card to be given back


def start(server: DetachedServer) -> None:
    """Starts the keeper and returns at once; `wait` reports the outcome."""
    if (known := read(path_of(server.name))) is not None and known.alive:
        raise UsageError(f"{server.name} is already running at {known.url}.", "Stop it first, or add --name.")
    write(replace(server, since=time.time()))
    Path(server.log).parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-P", "-m", "penstock.engines.vllm.daemon", str(path_of(server.name))]
    with Path(server.log).open("ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    # the keeper outlives us on purpose, so nobody waits for it; Popen must not warn about that
    process.returncode = 0


def wait(name: str, tell: Callable[[DetachedServer], None]) -> DetachedServer:
    """Returns when the server is ready. Raises OpenError with the reason if it fails to start."""
    pause = threading.Event()
    last: DetachedServer | None = None
    missing = 0
    while True:
        server = read(path_of(name))
        if server is None:
            raise OpenError(f"{name} was stopped while it was starting.")
        if server != last:
            tell(server)
            last = server
        if server.state == "failed":
            raise OpenError(server.reason)
        if server.state == "ready":
            return server
        missing = 0 if server.alive or not server.keeper else missing + 1
        if missing > 20:
            raise OpenError(f"{name}'s keeper ended while it was starting (log: {server.log}).")
        pause.wait(0.25)


def stop(server: DetachedServer) -> None:
    """Ends the keeper, and with it the server. The card is free when this returns."""
    if server.alive:
        _send(server.keeper, signal.SIGTERM)
        end = time.monotonic() + STOP_S
        pause = threading.Event()
        while server.alive and time.monotonic() < end:
            pause.wait(0.05)
        if server.alive:
            _send(server.keeper, signal.SIGKILL)  # the guard sees it gone and ends the server
    path_of(server.name).unlink(missing_ok=True)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def planned_preset(server: DetachedServer) -> Preset:
    """Returns the preset with those of its flags that the command has: bf16 takes a preset's fp8 away."""
    known = preset_for(server.recogniser, server.preset, None)
    return replace(known, flags=tuple(flag for flag in known.flags if flag.name in server.command))


def keep(path: Path) -> int:
    """The keeper's main function: starts the server, records its state, ends it on SIGTERM."""
    server = read(path)
    if server is None:
        return 2
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = replace(server, keeper=os.getpid(), keeper_born=born(os.getpid()))
    write(server)
    managed = ManagedServer(
        server.model,
        planned_preset(server),
        server.gpu,
        server.port,
        server.extra_args,
        Path(server.log),
        served_name=server.served_name,
        prompt=server.prompt,
        vision=server.vision,
        probe=server.recogniser != EMBEDDING,
    )
    starter = threading.Thread(
        target=_start, args=(managed, server, stopping), name="vllm-start", daemon=True
    )
    starter.start()
    _note_changes(managed, path, stopping)
    managed.stop()
    starter.join()
    return 0


def _start(managed: ManagedServer, server: DetachedServer, stopping: threading.Event) -> None:
    try:
        managed.start()
    except OpenError as exc:
        if not stopping.is_set():
            write(replace(server, state="failed", reason=str(exc)))
            stopping.set()
    else:
        write(replace(server, state="ready", server=managed.pid or 0))


def _note_changes(managed: ManagedServer, path: Path, stopping: threading.Event) -> None:
    while not stopping.wait(1.0):
        server = read(path)
        if server is None:
            return
        if server.state == "starting":
            continue
        reason = str(managed.failure) if managed.failure else ""
        state = "failed" if reason else "ready"
        new = replace(server, restarts=managed.restarts, server=managed.pid or 0, state=state, reason=reason)
        if new != server and not stopping.is_set():
            write(new)


if __name__ == "__main__":
    sys.exit(keep(Path(sys.argv[1])))
