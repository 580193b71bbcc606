"""What is on the disk counts as settled, and nothing before."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from penstock.driver import Run
from penstock.serve.reading.progress import ReadingProgress
from penstock.serve.reading.service import Service
from penstock.store.ledger import ITEMS_DIR
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf
from tests.support.waiting import HANGS_S, wait_until

DOCUMENT = Path("0123/report.pdf")
NAME = str(DOCUMENT)


def read(progress: ReadingProgress) -> None:
    progress.promise(DOCUMENT)
    progress.count(NAME, pages=1, left=1)
    progress.finish_page(NAME, lambda: None)


def test_rows_that_are_being_committed_are_not_settled_yet() -> None:
    progress = ReadingProgress()
    read(progress)
    assert progress.take_uncommitted(is_time=True)
    # the other thread of the run looks while the disk is busy
    assert not progress.take_uncommitted(is_time=True)
    assert not progress.settled.is_set()
    progress.note_commit()
    assert progress.settled.is_set()


def test_pages_that_end_during_a_commit_wait_for_the_next() -> None:
    progress = ReadingProgress()
    read(progress)
    assert progress.take_uncommitted(is_time=True)
    read(progress)
    assert progress.take_uncommitted(is_time=True)
    progress.note_commit()
    assert not progress.settled.is_set()
    progress.note_commit()
    assert progress.settled.is_set()


def test_a_run_that_begins_owes_no_commit_of_a_broken_one() -> None:
    progress = ReadingProgress()
    read(progress)
    assert progress.take_uncommitted(is_time=True)
    progress.start([])
    assert not progress.take_uncommitted(is_time=True)
    assert progress.settled.is_set()


def test_a_page_is_shown_when_it_waits_no_more() -> None:
    progress = ReadingProgress()
    progress.promise(DOCUMENT)
    progress.count(NAME, pages=1, left=1)
    seen: list[int] = []
    observer = threading.Thread(target=lambda: seen.append(progress.waiting))
    progress.finish_page(NAME, observer.start)
    observer.join(HANGS_S)
    assert seen == [0]


def test_a_slow_disk_settles_nothing_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked, commit = threading.Event(), Run.commit

    def slow(run: Run[object]) -> None:
        looked.wait(HANGS_S)
        commit(run)

    monkeypatch.setattr(Run, "commit", slow)
    looks: list[bool] = []
    take = ReadingProgress.take_uncommitted

    def look(progress: ReadingProgress, is_time: bool) -> bool:
        looks.append(take(progress, is_time))
        return looks[-1]

    monkeypatch.setattr(ReadingProgress, "take_uncommitted", look)
    sent, out = tmp_path / "sent", tmp_path / "out"
    sent.write_bytes(pdf(["a"]))
    with Service(out, fake()) as service:
        service.accept(sent, "a.pdf", "0123")
        wait_until(lambda: True in looks and not looks[-1])  # the listing looked while the commit waits
        assert not service.settled.is_set()
        looked.set()
        assert service.settled.wait(HANGS_S)
        assert list((out / ITEMS_DIR).glob("*.parquet"))
