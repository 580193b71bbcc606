"""A service is ready when a page of our own was read: not before, not when that failed; nobody sees it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.errors import Failure, OpenError
from penstock.page import Page
from penstock.plan import Plan
from penstock.region import Region
from penstock.serve.reading.reading_probe import PATIENCE_S, PAUSE_S, ReadingProbe
from penstock.serve.reading.service import Service
from penstock.stage import Worker
from penstock.stages.load import Load
from penstock.store.ledger import Ledger
from penstock.store.schema import PAGES
from penstock.testing.fake_recipe import fake
from penstock.testing.fake_stages import FakeLayout
from tests.support.running_service import SAMPLE, Client, Running, await_up, free_port
from tests.support.waiting import HANGS_S, wait_until

BROKEN = Failure(
    stage="recognise_remote", kind="EngineError", message="No server answers.", advice="Start it."
)
FOUND = Region(index=0, label="text", box=(0.0, 0.0, 9.0, 9.0))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Layout(Worker[Page]):
    """Looks at pages as a test says."""

    def __init__(self, look: Callable[[Page], Page]) -> None:
        self._look = look

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._look(page) for page in items]


def looked(monkeypatch: pytest.MonkeyPatch, look: Callable[[Page], Page]) -> Plan:
    monkeypatch.setattr(FakeLayout, "open", lambda _: Layout(look))
    return Plan(Load(dpi=36, workers=1), FakeLayout(), name="looked")


def serving(out: Path, plan: Plan) -> Service:
    return Service(out, plan, probes=True)


# the probe by itself


def read(probe: ReadingProbe) -> Page:
    [page] = probe.take()
    assert isinstance(page, Page)
    return replace(page, regions=(FOUND,))


def problem(probe: ReadingProbe) -> str:
    return probe.problem.message if probe.problem is not None else ""


def test_it_is_sent_once_and_passes_when_it_is_read() -> None:
    probe = ReadingProbe(fake(), Clock())
    page = read(probe)
    assert Path(page.uri).is_file()
    assert "is starting" in problem(probe)
    assert list(probe.take()) == []  # one is on its way
    assert probe.put(page)
    assert (problem(probe), list(probe.take())) == ("", [])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"failure": BROKEN}, "No server answers."),
        ({"regions": (replace(FOUND, failure=BROKEN),)}, "No server answers."),
        ({"regions": ()}, "Nothing was found on it."),
    ],
)
def test_a_failure_is_told_and_another_follows_after_a_pause(change: dict[str, Any], told: str) -> None:
    clock = Clock()
    probe = ReadingProbe(fake(), clock)
    assert probe.put(replace(read(probe), **change))
    assert told in problem(probe)
    clock.now = PAUSE_S - 1
    assert list(probe.take()) == []
    clock.now = PAUSE_S
    assert probe.put(read(probe))
    assert problem(probe) == ""


def test_a_page_that_failed_is_followed_by_one_of_ours() -> None:
    clock = Clock()
    probe = ReadingProbe(fake(), clock)
    assert probe.put(read(probe))
    assert not probe.put(Page(id="a/00000", uri="a", document="a", failure=BROKEN))
    assert (problem(probe), list(probe.take())) == ("", [])
    clock.now = PAUSE_S
    assert probe.put(replace(read(probe), failure=BROKEN))
    assert "No server answers." in problem(probe)


def test_who_waits_too_long_is_told_so_and_a_run_that_begins_anew_is_not_known() -> None:
    clock = Clock()
    probe = ReadingProbe(fake(), clock)
    page = read(probe)
    clock.now = PATIENCE_S + 1
    assert f"not read after {clock.now:.0f} s" in problem(probe)
    assert probe.put(page)  # late is better than never
    assert problem(probe) == ""
    probe.start_over()
    assert "is starting" in problem(probe)


# in a service


def test_ready_when_a_page_was_read_and_nothing_of_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    seen: list[str] = []

    def look(page: Page) -> Page:
        seen.append(Path(page.uri).name)
        gate.wait(HANGS_S)
        return replace(page, regions=(FOUND,))

    with serving(tmp_path, looked(monkeypatch, look)) as service, Running(service) as client:
        status, told = client("/health")
        assert (status, "is starting" in told["error"]) == (503, True)
        status, told = client("/health/live")
        assert (status, told["ready"], "is starting" in told["reason"]) == (200, False, True)
        assert client("/ready")[0] == 503
        assert b"penstock_ready 0.0" in client("/metrics")[1]
        gate.set()
        wait_until(lambda: client("/health")[0] == 200)
        assert client("/health/live")[1]["reason"] == ""
        assert client("/ready") == (200, {"status": "ok"})
        assert b"penstock_ready 1.0" in client("/metrics")[1]
        assert client("/v1/documents")[1] == client("/v1/jobs")[1] == client("/v1/failures")[1] == []
        run = client("/v1/run")[1]
        assert (run["done"], run["failed"], run["waiting_pages"]) == (0, 0, 0)
        sent = client.wait(client.send("a.pdf", SAMPLE.read_bytes())["name"])
        assert sent["done"] == 4
    assert seen == ["probe.png", *["a.pdf"] * 4]
    assert {entry.document for entry in Ledger(tmp_path, PAGES).entries().values()} == {sent["name"]}


def test_a_page_that_cannot_be_read_makes_it_not_ready_until_one_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = threading.Event()
    monkeypatch.setattr("penstock.serve.reading.reading_probe.PAUSE_S", 0.0)
    monkeypatch.setattr("penstock.serve.reading.reading_run.COMMIT_S", 0.01)

    def look(page: Page) -> Page:
        return replace(page, regions=(FOUND,)) if works.is_set() else replace(page, failure=BROKEN)

    with serving(tmp_path, looked(monkeypatch, look)) as service, Running(service) as client:
        wait_until(lambda: "No server answers." in _told(client))
        assert client("/health/live")[0] == 200
        works.set()
        wait_until(lambda: client("/health")[0] == 200)
    assert not Ledger(tmp_path, PAGES).entries()


def test_a_model_that_is_not_there_is_told_of_before_anyone_sends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: FakeLayout) -> None:
        raise OpenError("The model is not there.", "Fetch it.")

    monkeypatch.setattr(FakeLayout, "open", missing)
    monkeypatch.setattr("penstock.executors.local.JOIN_S", 0.1)
    with serving(tmp_path, fake()) as service, Running(service) as client:
        wait_until(lambda: _told(client) == "The model is not there.")
        assert client("/health/live")[1]["reason"] == "The model is not there."


def test_a_service_ends_at_once_while_its_models_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading, may_load = threading.Event(), threading.Event()

    def load(page: Page) -> Page:
        loading.set()
        assert may_load.wait(HANGS_S)
        return page

    monkeypatch.setattr("penstock.executors.local.JOIN_S", 0.1)
    with serving(tmp_path, looked(monkeypatch, load)) as service:
        assert loading.wait(HANGS_S)
    assert "serve" not in [thread.name for thread in threading.enumerate()]  # it waited for no page
    assert service.error is None
    may_load.set()


def test_a_service_that_only_shows_a_run_is_ready(tmp_path: Path) -> None:
    with Service(tmp_path, probes=True) as service, Running(service) as client:
        assert client("/health")[1]["ready"] is True


@pytest.mark.slow
def test_the_built_in_recipe_reads_the_page_and_takes_no_note_of_it(tmp_path: Path) -> None:
    port, out = free_port(), tmp_path / "out"
    command = [sys.executable, "-m", "penstock", "serve", str(out), "--recipe", "documents"]
    process = subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        await_up(Client(f"http://127.0.0.1:{port}"))
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert not Ledger(out, PAGES).entries()
    assert sorted(path.name for path in out.iterdir()) == [".penstock", "documents.jsonl", "run.json"]
    assert (out / "documents.jsonl").read_text() == ""


def _told(client: Client) -> str:
    return str(client("/health")[1].get("error", ""))
