"""Jobs with options of their own: side by side, fair between those who sent them, never twice at once."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.page import Page
from penstock.passes.parse import ParseOptions
from penstock.serve.jobs.job_queue import JobQueue
from penstock.serve.jobs.record import JobRecord
from penstock.serve.reading.service import Service
from penstock.stage import Worker
from penstock.testing import FAKE
from penstock.testing.fake_recipe import fake
from penstock.testing.fake_stages import FakeLayout
from tests.support.made_pdf import pdf
from tests.support.running_service import Running
from tests.support.waiting import HANGS_S, wait_until


def job(id: str, owner: str = "") -> JobRecord:
    return JobRecord(id=id, kind="parse", created=0.0, documents=(), owner=owner)


def taken(queue: JobQueue) -> str:
    with queue.next() as record:
        return record.id if record is not None else ""


def test_those_who_sent_jobs_take_turns() -> None:
    queue = JobQueue()
    for record in [job(f"a{number}", "ann") for number in range(4)] + [job("b0", "bob"), job("c0", "cho")]:
        queue.put(record)
    assert len(queue) == 6
    assert [taken(queue) for _ in range(6)] == ["a0", "b0", "c0", "a1", "a2", "a3"]


def test_who_has_fewer_at_work_comes_first() -> None:
    queue = JobQueue()
    for id, owner in (("a0", "ann"), ("b0", "bob"), ("a1", "ann"), ("b1", "bob")):
        queue.put(job(id, owner))
    with queue.next() as first:
        assert first is not None and first.id == "a0"
        assert [taken(queue) for _ in range(3)] == ["b0", "b1", "a1"]


def test_a_job_that_is_put_again_waits_until_it_is_no_longer_at_work() -> None:
    queue = JobQueue()
    queue.put(job("a"))
    with ExitStack() as at_work:
        at_work.enter_context(queue.next())
        queue.put(job("a"))
        queue.put(job("b"))
        assert taken(queue) == "b"
    assert taken(queue) == "a"


def test_the_end_wakes_who_waits() -> None:
    queue = JobQueue()
    told: list[str] = []
    waiting = threading.Thread(target=lambda: told.append(taken(queue)))
    waiting.start()
    queue.end()
    waiting.join(HANGS_S)
    assert told == [""]
    queue.put(job("a"))
    assert taken(queue) == ""  # it is on disk, and waits for the next start


@pytest.mark.slow  # each run of a job starts processes
def test_a_short_job_does_not_wait_for_a_long_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end = threading.Event(), threading.Event()
    opened = FakeLayout.open

    class Layout(Worker[Page]):
        def __init__(self, stage: FakeLayout) -> None:
            self._real = opened(stage)

        def __call__(self, items: list[Page]) -> list[Page]:
            if any(page.document == "long.pdf" for page in items):
                begun.set()
                assert may_end.wait(HANGS_S)
            return self._real(items)

    monkeypatch.setattr(FakeLayout, "open", lambda stage: Layout(stage))
    reading = ParseOptions(inputs=(), recipe=FAKE)
    with Service(tmp_path, fake()) as service, Running(service, reading=reading, jobs_at_once=2) as client:
        long = client("/v1/parse?name=long.pdf&pages=1", pdf(["a", "b"]))[1]
        assert begun.wait(HANGS_S)
        short = client("/v1/parse?name=short.pdf&pages=1", pdf(["a", "b"]))[1]
        wait_until(lambda: client(f"/v1/jobs/{short['id']}")[1]["state"] == "done")
        assert client(f"/v1/jobs/{long['id']}")[1]["state"] == "running"
        may_end.set()
        wait_until(lambda: client(f"/v1/jobs/{long['id']}")[1]["state"] == "done")
