"""Keeps servers running after the command that started them has ended.

`penstock engine start` writes an `Engine` into the user's cache, one file a server, and starts

    python -m penstock.engines.vllm.daemon FILE

in a session of its own. The keeper starts the server, watches it like any managed one, and writes what
becomes of it into the file. SIGTERM ends both. `status` and `stop` read the files.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from penstock.engines.vllm.presets import preset
from penstock.engines.vllm.server import ManagedServer
from penstock.engines.weights.registry import cache_folder
from penstock.errors import OpenError, UsageError

STOP_S = 40.0  # the guard's grace, and some for a card to be given back


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One detached server: what was asked for, and what became of it."""

    name: str
    model: str
    preset: str
    gpu: int | None
    port: int
    served_name: str
    prompt: str
    extra_args: tuple[str, ...]
    log: str
    command: tuple[str, ...]
    state: str = "starting"  # starting, ready, failed
    reason: str = ""
    keeper: int = 0  # process ids; 0 before there is one
    keeper_born: int = 0  # in clock ticks since boot: a number that is used again has another birth
    server: int = 0
    restarts: int = 0
    since: float = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def alive(self) -> bool:
        return self.keeper != 0 and born(self.keeper) == self.keeper_born


def folder() -> Path:
    return cache_folder().parent / "engines"


def engines() -> list[Engine]:
    """All that were started and not stopped, by name."""
    found = [read(path) for path in sorted(folder().glob("*.json"))]
    return [engine for engine in found if engine is not None]


def read(path: Path) -> Engine | None:
    try:
        value = json.loads(path.read_text())
        return Engine(
            **{**value, "extra_args": tuple(value["extra_args"]), "command": tuple(value["command"])}
        )
    except (OSError, ValueError, TypeError, KeyError):  # removed meanwhile, or of another version
        return None


def path_of(name: str) -> Path:
    return folder() / f"{name}.json"


def write(engine: Engine) -> None:
    folder().mkdir(parents=True, exist_ok=True)
    path = path_of(engine.name)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_text(json.dumps(asdict(engine), indent=2))
    scratch.replace(path)


def start(engine: Engine) -> None:
    """Starts the keeper and returns at once; `wait` tells how it went."""
    if (known := read(path_of(engine.name))) is not None and known.alive:
        raise UsageError(f"{engine.name} is already running at {known.url}.", "Stop it first, or add --name.")
    write(replace(engine, since=time.time()))
    Path(engine.log).parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-P", "-m", "penstock.engines.vllm.daemon", str(path_of(engine.name))]
    with Path(engine.log).open("ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    # the keeper outlives us on purpose: nobody waits for it, and Popen must not warn about that
    process.returncode = 0


def wait(name: str, tell: Callable[[Engine], None]) -> Engine:
    """Returns when the server is ready. Raises OpenError with its reason if it will not be."""
    pause = threading.Event()
    last: Engine | None = None
    missing = 0
    while True:
        engine = read(path_of(name))
        if engine is None:
            raise OpenError(f"{name} was stopped while it was starting.")
        if engine != last:
            tell(engine)
            last = engine
        if engine.state == "failed":
            raise OpenError(engine.reason)
        if engine.state == "ready":
            return engine
        missing = 0 if engine.alive or not engine.keeper else missing + 1
        if missing > 20:
            raise OpenError(f"{name}'s keeper ended while it was starting (log: {engine.log}).")
        pause.wait(0.25)


def stop(engine: Engine) -> None:
    """Ends the keeper, and with it the server. The card is free when this returns."""
    if engine.alive:
        _send(engine.keeper, signal.SIGTERM)
        end = time.monotonic() + STOP_S
        pause = threading.Event()
        while engine.alive and time.monotonic() < end:
            pause.wait(0.05)
        if engine.alive:
            _send(engine.keeper, signal.SIGKILL)  # the guard sees it gone and ends the server
    path_of(engine.name).unlink(missing_ok=True)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def born(pid: int) -> int:
    """When a process began, in ticks since boot; 0 if it is no more, 1 where the system does not tell."""
    if not Path("/proc/self/stat").exists():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return 0
        return 1
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] == "Z" else int(fields[19])


def keep(path: Path) -> int:
    """The keeper's life: start the server, note how it is, end it when told to."""
    engine = read(path)
    if engine is None:
        return 2
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    engine = replace(engine, keeper=os.getpid(), keeper_born=born(os.getpid()))
    write(engine)
    server = ManagedServer(
        engine.model,
        preset(engine.preset),
        engine.gpu,
        engine.port,
        engine.extra_args,
        Path(engine.log),
        served_name=engine.served_name,
        prompt=engine.prompt,
    )
    starter = threading.Thread(target=_start, args=(server, engine, told), name="vllm-start", daemon=True)
    starter.start()
    _note_changes(server, path, told)
    server.stop()
    starter.join()
    return 0


def _start(server: ManagedServer, engine: Engine, told: threading.Event) -> None:
    try:
        server.start()
    except OpenError as exc:
        if not told.is_set():
            write(replace(engine, state="failed", reason=str(exc)))
            told.set()
    else:
        write(replace(engine, state="ready", server=server.pid or 0))


def _note_changes(server: ManagedServer, path: Path, told: threading.Event) -> None:
    while not told.wait(1.0):
        engine = read(path)
        if engine is None:
            return
        if engine.state == "starting":
            continue
        reason = str(server.failure) if server.failure else ""
        state = "failed" if reason else "ready"
        new = replace(engine, restarts=server.restarts, server=server.pid or 0, state=state, reason=reason)
        if new != engine and not told.is_set():
            write(new)


if __name__ == "__main__":
    sys.exit(keep(Path(sys.argv[1])))
