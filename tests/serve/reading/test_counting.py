"""A file that takes long to count holds up none that does not."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from penstock.errors import DeadlinePassed, Failure, UsageError
from penstock.serve.reading import counting
from penstock.serve.reading.counting import NotCounted, UploadCounter
from penstock.serve.reading.progress import ReadingProgress
from penstock.sources.files import Candidate
from penstock.sources.inputs import FoundFile
from penstock.sources.probe import PROBE_DEADLINE_S, Counts, FileCounter, PageCounter
from penstock.sources.probe_questions import PartCount
from tests.support.made_pdf import pdf


class FakeCounter:
    """Counts one page of each file; of those named so, after as long as it has, or when `released`."""

    def __init__(self, deadline_s: float, released: threading.Event) -> None:
        self._is_patient = deadline_s == PROBE_DEADLINE_S
        self._released = released
        self._is_closed = threading.Event()

    def counts(self, files: Sequence[Candidate]) -> Counts:
        names = [file.found.path.name for file in files]
        if any(name.startswith("slow") for name in names) and not self._is_patient:
            raise DeadlinePassed("It took longer than 3 s.")
        if any(name.startswith("slow") for name in names):
            while not self._released.wait(0.01):
                if self._is_closed.is_set():
                    raise UsageError("The listing is closed.")
        if any(name.endswith("never.html") for name in names):
            raise DeadlinePassed("It took longer than 60 s.")
        return {file.found.path: PartCount(1, 1) for file in files}

    def close(self) -> None:
        self._is_closed.set()


class Listing:
    """The uploads that a counter was asked about, and those that came back."""

    def __init__(self, folder: Path) -> None:
        self.released = threading.Event()
        self.progress = ReadingProgress()
        self.progress.start([])
        self._folder = folder
        self._back: queue.SimpleQueue[Path] = queue.SimpleQueue()

    def opened(self) -> UploadCounter:
        def counter(deadline_s: float, in_slices: bool) -> FileCounter:
            return FakeCounter(deadline_s, self.released)

        return UploadCounter(self.progress, self._back.put, counter)

    def sent(self, name: str, owner: str = "") -> Candidate:
        path = self._folder / name.partition(".")[0] / name
        self.progress.promise(path, owner)
        return Candidate(FoundFile(path, name, named=True), "", kind="html")

    def back(self) -> str:
        """The next upload that comes back; waits for it."""
        return self._back.get(timeout=30).name


@pytest.fixture
def listing(tmp_path: Path) -> Iterator[Listing]:
    yield Listing(tmp_path)


def test_files_beside_a_slow_one_are_counted_while_it_is(listing: Listing) -> None:
    with listing.opened() as counter:
        slow, quick = listing.sent("slow.html"), listing.sent("quick.html")
        with pytest.raises(NotCounted) as left:
            counter.counts([slow, quick])
        assert left.value.documents == {"slow/slow.html", "quick/quick.html"}
        assert listing.back() == "quick.html"
        assert counter.counts([quick]) == {quick.found.path: PartCount(1, 1)}
        later = listing.sent("later.html")
        assert counter.counts([later]) == {
            later.found.path: PartCount(1, 1)
        }  # at once: the slow one still waits
        listing.released.set()
        assert listing.back() == "slow.html"
        assert counter.counts([slow]) == {slow.found.path: PartCount(1, 1)}


def test_what_is_never_counted_fails_alone(listing: Listing) -> None:
    listing.released.set()
    with listing.opened() as counter:
        never = listing.sent("slow-never.html")
        with pytest.raises(NotCounted):
            counter.counts([never])
        assert listing.back() == "slow-never.html"
        [found] = counter.counts([never]).values()
        assert isinstance(found, Failure)
        assert "longer than 60 s" in found.message


def test_the_next_slow_file_is_counted_when_the_one_before_is_read(
    listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "LOOK_S", 0.01)
    listing.released.set()
    with listing.opened() as counter:
        with pytest.raises(NotCounted):
            counter.counts([listing.sent("slow1.html"), listing.sent("slow2.html")])
        first = listing.back()
        with pytest.raises(queue.Empty):
            listing._back.get(timeout=0.2)
        listing.progress.cancel(f"{first.partition('.')[0]}/{first}")
        assert {first, listing.back()} == {"slow1.html", "slow2.html"}


def test_one_senders_files_wait_for_no_crowd_of_anothers(listing: Listing) -> None:
    with listing.opened() as counter:
        crowd = [listing.sent(f"a{number}.html", "a") for number in range(20)]
        with pytest.raises(NotCounted):
            counter.counts([*crowd, listing.sent("b.html", "b"), listing.sent("slow.html", "a")])
        assert "b.html" in [listing.back() for _ in range(3)]


def test_it_ends_while_a_file_is_counted(listing: Listing) -> None:
    with listing.opened() as counter, pytest.raises(NotCounted):
        counter.counts([listing.sent("slow.html")])


def test_a_counter_that_is_closed_answers_its_question(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(["a"]))
    file = Candidate(FoundFile(tmp_path / "a.pdf", "a.pdf", named=True), "", kind="pdf")
    with PageCounter() as counter:
        assert counter.counts([file]) == {tmp_path / "a.pdf": PartCount(1, 1)}
    with pytest.raises(UsageError, match="closed"):
        counter.counts([file])
