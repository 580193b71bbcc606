"""A run loads and lays out pages while the servers that it starts are starting."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from penstock.engines.image.codec import encode_jpeg
from penstock.engines.vllm.presets import Card
from penstock.errors import OpenError
from penstock.executors.local import Local
from penstock.page import Page
from penstock.plan import Plan
from penstock.region import Region
from penstock.stage import Stage, Worker
from penstock.stages.recognise_remote import RecogniseRemote
from tests.support.waiting import wait_until

PAGES = 12
PICTURE = encode_jpeg(np.full((56, 112, 3), 255, np.uint8), 90)
# a server that says when it was launched, and starts when the test lets it
STAND_IN = """\
import sys, time
from pathlib import Path
here = Path(__file__).parent
(here / "launched").touch()
while not (here / "go").exists():
    time.sleep(0.02)
if (here / "go").read_text() == "broken":
    sys.exit("ValueError: The model is broken.")
sys.argv = ["fake_server", sys.argv[sys.argv.index("--port") + 1]]
from penstock.testing.fake_server import main
main()
"""


@dataclass(frozen=True, kw_only=True)
class Laid(Stage):
    """Finds one region on each page, and writes down what it has done."""

    name: ClassVar[str] = "layout"
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    folder: str
    last: str = "good"

    def open(self) -> _Laid:
        wait_until((Path(self.folder) / "launched").exists)  # the server starts before this has opened
        return _Laid(self)


class _Laid(Worker[Page]):
    def __init__(self, stage: Laid) -> None:
        self._stage, self._laid = stage, 0

    def __call__(self, items: list[Page]) -> list[Page]:
        self._laid += len(items)
        if self._laid == PAGES:  # all are laid out before the server is up
            (Path(self._stage.folder) / "go").write_text(self._stage.last)
        region = Region(label="text", box=(0, 0, 112, 56), request=PICTURE)
        return [replace(page, regions=(region,)) for page in items]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    script = tmp_path / "vllm.py"
    script.write_text(STAND_IN)
    monkeypatch.setenv("PENSTOCK_VLLM", f"{sys.executable} {script}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def plan(laid: Laid) -> Plan:
    return Plan(laid, RecogniseRemote(overlap=PAGES), name="glm-ocr")


def pages(count: int = PAGES) -> list[Page]:
    return [
        Page(id=f"a/{n}", uri="a.png", document="a.png", part=n, width=112, height=56) for n in range(count)
    ]


def test_pages_are_laid_out_while_the_server_starts(folder: Path) -> None:
    read = list(Local().stream(plan(Laid(folder=str(folder))), pages()))
    assert len(read) == PAGES
    assert [page.failure or page.regions[0].failure for page in read] == [None] * PAGES
    assert all(page.regions[0].content for page in read)


def test_a_server_that_does_not_start_ends_the_run_with_its_reason(folder: Path) -> None:
    with pytest.raises(OpenError, match=r"did not start: ValueError: The model is broken"):
        list(Local().stream(plan(Laid(folder=str(folder), last="broken")), pages()))


@dataclass(frozen=True, kw_only=True)
class LaidFirst(Laid):
    """A layout that takes its memory before a server starts that measures the card."""

    def open(self) -> _Laid:
        assert not (Path(self.folder) / "launched").exists()
        return _Laid(self)


@pytest.fixture
def small_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too small to give a cache: its server measures it."""
    monkeypatch.setattr("penstock.engines.vllm.run_servers.cards", lambda: [Card(0, "RTX 4060", 8.6)])


@pytest.mark.usefixtures("small_card")
def test_a_server_that_measures_its_card_starts_when_the_layout_has_its_memory(folder: Path) -> None:
    read = list(Local().stream(plan(LaidFirst(folder=str(folder))), pages()))
    assert all(page.regions[0].content for page in read)


@pytest.mark.usefixtures("small_card")
def test_one_that_measures_and_does_not_start_ends_the_run_with_its_reason(folder: Path) -> None:
    with pytest.raises(OpenError, match=r"did not start: ValueError: The model is broken"):
        list(Local().stream(plan(LaidFirst(folder=str(folder), last="broken")), pages()))
    wait_until(_no_servers(folder))


@dataclass(frozen=True, kw_only=True)
class NoWeights(Laid):
    """A layout that cannot open."""

    def open(self) -> Any:
        super().open()
        raise OpenError("There are no weights.")


def test_a_run_that_ends_meanwhile_ends_the_start(folder: Path) -> None:
    began = time.monotonic()
    with pytest.raises(OpenError, match="no weights"):
        list(Local().stream(plan(NoWeights(folder=str(folder))), pages()))
    wait_until(_no_servers(folder))
    assert time.monotonic() - began < 60


def test_a_stream_that_is_closed_meanwhile_ends_the_start(folder: Path) -> None:
    def endless() -> Any:
        yield from pages(PAGES - 1)
        wait_until((folder / "launched").exists)
        raise KeyboardInterrupt  # as Ctrl-C in the listing

    with pytest.raises(KeyboardInterrupt):
        list(Local().stream(plan(Laid(folder=str(folder))), endless()))
    wait_until(_no_servers(folder))


def _no_servers(folder: Path) -> Callable[[], bool]:
    """Returns whether no process of the stand-in is left."""
    script = str(folder / "vllm.py").encode()

    def gone() -> bool:
        for command in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if script in command.read_bytes():
                    return False
            except OSError:
                continue  # it ended
        return True

    return gone
