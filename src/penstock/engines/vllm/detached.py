"""The servers that `penstock engine` keeps running, as files in the user's cache: one file a server.

Light: every run reads here the limits of its servers.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.engines.weights.cache import cache_folder
from penstock.processes.alive import is_alive


@dataclass(frozen=True, slots=True, kw_only=True)
class DetachedServer:
    """One detached server: how to start it, and its state."""

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
    recogniser: str = ""  # whose preset it has, where that is one of ours
    vision: str = "auto"
    state: str = "starting"  # starting, ready, failed
    reason: str = ""
    keeper: int = 0  # process ids; 0 before there is one
    keeper_born: int = 0  # in clock ticks since boot: a process id that is used again has another birth
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


def servers() -> list[DetachedServer]:
    """Returns all servers that were started and not stopped, by name."""
    found = [read(path) for path in sorted(folder().glob("*.json"))]
    return [server for server in found if server is not None]


def read(path: Path) -> DetachedServer | None:
    try:
        value = json.loads(path.read_text())
        return DetachedServer(
            **{**value, "extra_args": tuple(value["extra_args"]), "command": tuple(value["command"])}
        )
    except (OSError, ValueError, TypeError, KeyError):  # removed meanwhile, or of another version
        return None


def path_of(name: str) -> Path:
    return folder() / f"{name}.json"


def write(server: DetachedServer) -> None:
    folder().mkdir(parents=True, exist_ok=True)
    path = path_of(server.name)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_text(json.dumps(asdict(server), indent=2))
    scratch.replace(path)


def born(pid: int) -> int:
    """When a process began, in ticks since boot; 0 if it has ended, 1 if the system does not tell."""
    if not Path("/proc/self/stat").exists():
        return 1 if is_alive(pid) else 0
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] == "Z" else int(fields[19])
