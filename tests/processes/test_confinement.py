"""A process that reads strangers' bytes has a bound, no secrets, and nothing to write or call."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from penstock.errors import BadInput, EngineError, UsageError, WorkerDied
from penstock.processes import child_main
from penstock.processes.child import Child
from penstock.processes.confinement import landlock_version, poor_environment, reader_memory_mb
from tests.conftest import REPO
from tests.support.bombs import equal_cells, far_gif, flated_pdf

BOUND_MB = 400


def weighed(folder: Path, bound_mb: int = BOUND_MB) -> tuple[dict[str, str], int]:
    """What a run says of each page, by the beginning of its id, and the largest child's peak."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.read_and_weigh", str(folder)],
        env={**os.environ, "PENSTOCK_READER_MEMORY_MB": str(bound_mb)},
        cwd=REPO,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    return {f"{id.split('-')[0]}/{id.split('/')[1]}": why for id, why in told["pages"].items()}, told[
        "peak_mb"
    ]


@pytest.mark.slow
def test_small_files_that_ask_for_gigabytes_fail_alone_and_within_the_bound(tmp_path: Path) -> None:
    (tmp_path / "far.gif").write_bytes(far_gif())
    (tmp_path / "twice.pdf").write_bytes(flated_pdf(500, filters=2))
    (tmp_path / "once.pdf").write_bytes(flated_pdf(500, filters=1))
    (tmp_path / "cells").mkdir()
    equal_cells(tmp_path / "cells" / "cells.parquet", 40)
    Image.new("RGB", (40, 30)).save(tmp_path / "good.png")
    assert (tmp_path / "far.gif").stat().st_size < 400
    assert (tmp_path / "twice.pdf").stat().st_size < 8_000
    pages, peak_mb = weighed(tmp_path)
    assert peak_mb <= BOUND_MB
    assert pages["good/00000"] == ""
    assert pages["far/00000"] == ""
    assert "larger than 89,478,485 pixels" in pages["far/00001"]
    assert "larger than 89,478,485 pixels" in pages["far/00002"]  # it is drawn on the second
    assert "400 MiB" in pages["twice/00000"]
    assert "400 MiB" in pages["once/00000"]
    cells = [why for id, why in pages.items() if id.startswith("cells")]
    assert len(cells) == 16
    assert all("header is damaged" in why for why in cells)


def open_spy() -> Callable[[str], Any]:
    """A function of the child that does what a hostile file might make a decoder do."""
    return spy


def spy(task: str) -> Any:
    word, _, rest = task.partition(" ")
    if word == "environment":
        return dict(os.environ)
    if word == "write":
        Path(rest).write_text("mine now")
    if word == "run":
        subprocess.run([rest], check=True)
    if word == "connect":
        socket.create_connection(("127.0.0.1", int(rest)), timeout=5).close()
    if word == "shout":
        for _ in range(int(rest)):
            os.write(2, b"x" * (1 << 20))
    if word == "grow":
        return len(bytearray(int(rest) << 20))
    if word == "call":  # one that was taken over is bound to no form
        assert child_main._parent is not None
        child_main._parent._sends_plain = False
        return Caller(rest)
    return "done"


class Caller:
    """Pickles as a call of a function that its reader has."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path(self.path),)


def test_no_secret_reaches_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "PENSTOCK_PASSWORD", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "s3cret")
    with Child(open_spy, name="reader", confined=True) as child:
        seen = child.call("environment", 30)
    assert "s3cret" not in seen.values()
    assert {"PATH", "OMP_NUM_THREADS"} <= set(seen)


@pytest.mark.skipif(landlock_version() < 4, reason="this kernel cannot forbid it")
def test_a_reader_writes_runs_and_calls_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_READER_SANDBOX", raising=False)  # set where coverage is measured
    with socket.create_server(("127.0.0.1", 0)) as server, Child(open_spy, name="r", confined=True) as child:
        for task in (f"write {tmp_path / 'new'}", "run /bin/true", f"connect {server.getsockname()[1]}"):
            with pytest.raises(Exception, match="Permission"):
                child.call(task, 30)
    assert list(tmp_path.iterdir()) == []
    with Child(open_spy, name="free") as child:
        assert child.call(f"write {tmp_path / 'new'}", 30) == "done"


def test_a_reader_that_grows_is_refused_and_answers_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_READER_MEMORY_MB", "300")
    with Child(open_spy, name="reader", confined=True) as child:
        with pytest.raises(BadInput, match="more memory"):
            child.call("grow 400", 30)
        assert child.call("grow 10", 30) == 10 << 20
        assert child.starts == 1


def test_a_reader_that_prints_without_end_fills_no_disk() -> None:
    with Child(open_spy, name="reader", confined=True) as child:
        with pytest.raises(EngineError, match="File too large"):
            child.call("shout 40", 30)
        assert child._running is not None
        assert os.fstat(child._running.stderr.fileno()).st_size == 16 << 20


def test_a_reader_that_was_taken_over_makes_us_call_nothing(tmp_path: Path) -> None:
    with Child(open_spy, name="reader", confined=True) as child:
        with pytest.raises(WorkerDied, match=r"is no answer"):
            child.call(f"call {tmp_path / 'touched'}", 30)
        assert child.call("x", 30) == "done"
    assert not (tmp_path / "touched").exists()


def test_the_bound_is_the_users_or_a_share_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for memory, bound in ((2_000, 1024), (10_000, 2500), (500_000, 4096)):
        monkeypatch.setattr("penstock.processes.confinement.machine_memory_mb", lambda memory=memory: memory)
        assert reader_memory_mb() == bound
    monkeypatch.setenv("PENSTOCK_READER_MEMORY_MB", "9000")
    assert reader_memory_mb() == 9000
    monkeypatch.setenv("PENSTOCK_READER_MEMORY_MB", "lots")
    with pytest.raises(UsageError, match="lots"):
        reader_memory_mb()


def test_a_poor_environment_keeps_what_it_knows() -> None:
    rich = {"PATH": "/bin", "LC_ALL": "C", "DB_PASSWORD": "x", "SOMETHING": "y", "HF_HOME": "/models"}
    assert {name: value for name, value in poor_environment(rich).items() if name in rich} == {
        "PATH": "/bin",
        "LC_ALL": "C",
    }
