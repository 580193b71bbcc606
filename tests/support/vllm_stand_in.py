"""Stands where `vllm` would: a process that writes down its life, reads or embeds, and obeys the real flags.

A folder holds two scripts, `vllm` and `nvidia-smi`, and the life of every server: a line when it is launched,
when it answers, and when it is told to end. With a file `broken-MODEL` the server of that model ends at once,
once; with `slow-MODEL` it answers when that file is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.waiting import wait_until

SCRIPT = '#!/bin/sh\nexec {python} -m tests.support.vllm_stand_in {folder} "$@"\n'
SMI = """#!/bin/sh
case "$*" in
    *memory.free*) cat {folder}/free ;;
    *) echo '0, {name}, {mib}' ;;
esac
"""


@dataclass(frozen=True)
class Event:
    """What happened to a server: "launched", "ready" or "ended"."""

    what: str
    model: str
    words: tuple[str, ...]
    niceness: int
    pid: int

    @property
    def brief(self) -> str:
        return f"{self.what} {self.model}"

    def value(self, flag: str) -> str:
        assert self.words.count(flag) == 1, (flag, self.words)
        return self.words[self.words.index(flag) + 1]


class Life:
    """The servers of a machine with one card."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, mib: int) -> None:
        folder.mkdir()
        self.folder = folder
        self.free(mib)
        _script(folder / "vllm", SCRIPT.format(python=sys.executable, folder=folder))
        _script(folder / "nvidia-smi", SMI.format(folder=folder, name=name, mib=mib))
        root = str(Path(__file__).parents[2])
        monkeypatch.setenv("PENSTOCK_VLLM", str(folder / "vllm"))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), root])))
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        monkeypatch.setenv("TMPDIR", str(folder))
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def free(self, mib: int) -> None:
        (self.folder / "free").write_text(f"{mib}\n")

    def events(self) -> list[Event]:
        path = self.folder / "life"
        lines = path.read_text().splitlines() if path.exists() else []
        return [Event(**{**json.loads(line), "words": tuple(json.loads(line)["words"])}) for line in lines]

    def is_over(self) -> bool:
        """Whether no server is left, however it was ended."""
        return not any(_is_alive(event.pid) for event in self.events())

    def brief(self) -> list[str]:
        return [event.brief for event in self.events()]


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def main() -> None:
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    name = Path(words[1]).name

    def note(what: str) -> None:
        row = {"what": what, "model": name, "words": words, "niceness": os.nice(0), "pid": os.getpid()}
        with (folder / "life").open("a") as file:
            file.write(json.dumps(row) + "\n")

    def end(*_: object) -> None:
        note("ended")
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    note("launched")
    if (folder / f"broken-{name}").exists():
        (folder / f"broken-{name}").unlink()
        sys.exit("ValueError: No room on this card.")
    wait_until(lambda: not (folder / f"slow-{name}").exists(), pause_s=0.02)
    port = int(words[words.index("--port") + 1])
    note("ready")
    if "--runner" in words:
        embed(port, words[1])
    else:
        read(port)


def embed(port: int, model: str) -> None:
    from tests.support.embedding_server import Server

    ThreadingHTTPServer(("127.0.0.1", port), Server(model=model)._handler()).serve_forever()


def read(port: int) -> None:
    from aiohttp import web

    from penstock.testing.fake_server import FakeServer

    app = FakeServer(model="glm-ocr").app()
    web.run_app(app, host="127.0.0.1", port=port, access_log=None, print=None, handle_signals=False)


if __name__ == "__main__":
    main()
