"""The journal of jobs: a line each, none lost, none torn, none that was deleted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penstock.errors import StoreError
from penstock.serve.jobs.journal import JOURNAL, JobJournal
from penstock.serve.jobs.record import JobFiles, JobRecord


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[JobJournal]:
    one = JobJournal(tmp_path / "jobs", tmp_path)
    yield one
    one.close()


def ids(folder: Path) -> list[str]:
    return [row["id"] for row in JobJournal(folder / "jobs", folder).rows()]


def test_the_last_line_of_a_job_counts(tmp_path: Path, journal: JobJournal) -> None:
    journal.add([{"id": "a", "state": None}, {"id": "b", "state": None}])
    journal.add([{"id": "a", "state": "done"}])
    assert journal.rows() == [{"id": "a", "state": "done"}, {"id": "b", "state": None}]
    assert (tmp_path / "jobs" / JOURNAL).stat().st_mode & 0o077 == 0


def test_many_threads_lose_no_line_while_others_are_deleted(tmp_path: Path, journal: JobJournal) -> None:
    def work(number: int) -> None:
        journal.add([{"id": str(number)}])
        if number % 3 == 0:
            journal.delete(str(number))
            journal.tidy()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(120)))
    assert sorted(map(int, ids(tmp_path))) == [number for number in range(120) if number % 3]


def test_half_a_line_is_passed_by_and_gone_after_the_next_start(tmp_path: Path, journal: JobJournal) -> None:
    journal.add([{"id": "a"}])
    journal.close()
    with (tmp_path / "jobs" / JOURNAL).open("ab") as file:
        file.write(b'{"id": "half')
    again = JobJournal(tmp_path / "jobs", tmp_path)
    again.tidy(wholly=True)
    again.add([{"id": "b"}])
    again.close()
    assert ids(tmp_path) == ["a", "b"]


def test_a_full_disk_keeps_no_half_line(
    tmp_path: Path, journal: JobJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.add([{"id": "a"}])
    write, tries = os.write, []

    def full(file: int, data: memoryview) -> int:
        tries.append(file)
        if len(tries) == 2:
            raise OSError(28, "full")
        return write(file, data[:5])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreError, match="the disk is full"):
        journal.add([{"id": "b"}])
    monkeypatch.undo()
    journal.add([{"id": "c"}])
    assert ids(tmp_path) == ["a", "c"]


def test_nothing_of_a_deleted_job_stays_on_the_disk(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    jobs = [JobRecord(id=id, kind="parse", created=0.0, documents=(f"{id}.pdf",)) for id in "ab"]
    files.write(*jobs)
    files.write(jobs[0].ended("done", 1.0))
    files.delete(jobs[0])
    files.tidy()
    files.close()
    assert b"a.pdf" not in (tmp_path / "jobs" / JOURNAL).read_bytes()
    assert [record.id for record in JobFiles(tmp_path).read_all()] == ["b"]


def test_a_job_with_a_run_of_its_own_has_a_file_and_its_secret_goes_at_its_end(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    job = JobRecord(
        id="a",
        kind="parse",
        created=0.0,
        documents=("a.pdf",),
        has_own_run=True,
        options={"password": "x1y2"},
    )
    files.write(job)
    files.write(job.ended("done", 1.0))
    assert [path.name for path in (tmp_path / "jobs").iterdir()] == ["a.json"]
    assert b"x1y2" not in (tmp_path / "jobs" / "a.json").read_bytes()
