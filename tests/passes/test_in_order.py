"""Pages come in the order of their listing, whichever is finished first, and few of them wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import pytest

import penstock
from penstock.errors import UsageError
from penstock.executors.local import Local
from penstock.page import Page
from penstock.passes.in_order import MACHINES, MIN_AHEAD, PageOrder, PageStream, ParseProgress, max_ahead
from penstock.plan import Plan
from penstock.stage import Batch, Stage, Worker
from penstock.testing.fake_recipe import fake
from tests.support import made_pdf
from tests.support.waiting import wait_until

MINUTE = 60.0  # longer than anything here takes


def listed(count: int) -> Iterator[Page]:
    return (Page(id=f"doc/{n:05d}", uri="doc.pdf", document="doc.pdf", part=n) for n in range(count))


@dataclass
class Meeting:
    """Makes page n wait for page n + 1, for every other n; or page 0 for `others` other pages."""

    others: int = 0
    finished: set[int] = field(default_factory=set)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def __call__(self, part: int) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self._may_end(part), MINUTE)
            self.finished.add(part)
            self.changed.notify_all()

    def _may_end(self, part: int) -> bool:
        if self.others:
            return part != 0 or len(self.finished) >= self.others
        return part % 2 == 1 or part + 1 in self.finished


MEETINGS: dict[str, Meeting] = {}


@dataclass(frozen=True, kw_only=True)
class Meet(Stage):
    """Ends pages in the order of a `Meeting`, on as many threads as it has."""

    name: ClassVar[str] = "meet"
    writes: ClassVar[tuple[str, ...]] = ("markdown",)
    meeting: str = ""

    def open(self) -> _Meeter:
        return _Meeter(MEETINGS[self.meeting])


class _Meeter(Worker[Page]):
    def __init__(self, meeting: Meeting) -> None:
        self._meeting = meeting

    def __call__(self, items: list[Page]) -> list[Page]:
        for page in items:
            self._meeting(page.part)
        return [replace(page, markdown=f"page {page.number}") for page in items]


def meeting(name: str, others: int = 0) -> Plan:
    MEETINGS[name] = Meeting(others)
    return Plan(Meet(meeting=name, overlap=4))


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    """54 pages, each with its number."""
    path = tmp_path / "long.pdf"
    path.write_bytes(made_pdf.pdf([made_pdf.text(f"page {n}") for n in range(1, 55)]))
    return path


def test_pages_come_in_source_order_from_threads_that_end_them_in_another(pdf: Path) -> None:
    pages = list(penstock.parse(pdf, recipe=meeting("parse")))
    assert [page.number for page in pages] == list(range(1, 55))
    assert pages[53].markdown == "page 54"


def test_completion_order_is_there_on_request(pdf: Path) -> None:
    """Page 1 waits for ten others, of which threads have given back all but three."""
    plan = meeting("other", others=10)
    numbers = [page.number for page in penstock.parse(pdf, recipe=plan, order="completion")]
    assert sorted(numbers) == list(range(1, 55))
    assert numbers.index(1) >= 7
    with pytest.raises(UsageError, match="no order 'random'"):
        penstock.parse(pdf, order="random")  # type: ignore[arg-type]


def test_one_slow_page_lets_only_so_many_others_wait() -> None:
    ahead, delivered = 8, 0
    distances: list[int] = []

    def pages() -> Iterator[Page]:
        for page in listed(60):
            distances.append(page.part - delivered)
            yield page

    turns = PageOrder("source", max_ahead=ahead)
    # page 0 ends when all others that may set out have ended
    stream = Local().stream(meeting("slow", others=ahead - 1), turns.noted(pages()))
    for page in turns.delivered(stream):  # type: ignore[arg-type]
        assert page.part == delivered
        delivered += 1
    assert delivered == 60
    assert max(distances) <= ahead


def test_what_an_earlier_run_left_comes_in_its_place_and_says_so(pdf: Path, tmp_path: Path) -> None:
    out, plan = tmp_path / "out", meeting("resumed", others=1)
    first = list(penstock.parse(pdf, out=out, recipe=plan, pages="2,4-5"))
    assert [page.resumed for page in first] == [False] * 3
    again = list(penstock.parse(pdf, out=out, recipe=plan, pages="1-6"))
    assert [(page.number, page.resumed) for page in again] == [
        (1, False), (2, True), (3, False), (4, True), (5, True), (6, False),
    ]  # fmt: skip
    assert again[1] == first[0]
    loose = list(penstock.parse(pdf, out=out, recipe=plan, pages="1-7", order="completion"))
    assert sorted(page.number for page in loose if page.resumed) == list(range(1, 7))
    assert [page.number for page in loose if not page.resumed] == [7]


def test_a_run_with_nothing_left_to_do_yields_more_pages_than_may_wait(
    pdf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages that are there already take no room: else the feed would wait for a page that never comes."""
    monkeypatch.setattr("penstock.passes.in_order.MIN_AHEAD", 1)
    out = tmp_path / "out"
    plan = Plan(*meeting("done", others=1))
    assert max_ahead(plan, Local()) == 16
    for resumed in (False, True):
        pages = list(penstock.parse(pdf, out=out, recipe=plan))
        assert [(page.number, page.resumed) for page in pages] == [(n, resumed) for n in range(1, 55)]


def test_progress_counts_and_knows_the_total_when_all_are_listed(pdf: Path, tmp_path: Path) -> None:
    told: list[ParseProgress] = []
    options = {"out": tmp_path / "out", "executor": "inline"}
    for _ in penstock.parse(pdf, recipe=fake(fails=(1,)), pages="1-3", on_progress=told.append, **options):
        pass
    assert [(each.done, each.failed, each.resumed) for each in told] == [(1, 0, 0), (2, 1, 0), (3, 1, 0)]
    for _ in penstock.parse(pdf, recipe=fake(fails=(1,)), pages="1-3", on_progress=told.append, **options):
        pass
    assert told[-1] == ParseProgress(done=3, total=3, failed=1, resumed=3)


def test_a_run_that_is_left_early_ends_its_feed() -> None:
    before = set(threading.enumerate())  # another test may have left one on purpose
    turns = PageOrder("source", max_ahead=4)
    pages = turns.delivered(Local().stream(meeting("left", others=1), turns.noted(listed(1000))))  # type: ignore[arg-type]
    assert next(pages).part == 0
    pages.close()
    wait_until(lambda: not set(threading.enumerate()) - before)


def test_equal_ids_keep_their_places() -> None:
    """A dataset's own ids may repeat."""
    rows = [Page(id=id, uri="rows", document="rows", part=n) for n, id in enumerate("aba")]
    turns = PageOrder("source", max_ahead=8)

    def stream() -> PageStream:
        pages = list(turns.noted(iter(rows)))
        yield from (pages[1], pages[0], pages[2])

    assert [page.part for page in turns.delivered(stream())] == [0, 1, 2]


def test_what_may_wait_follows_what_a_plan_has_in_flight() -> None:
    assert max_ahead(Plan(Meet()), Local()) == MIN_AHEAD
    assert max_ahead(Plan(Meet(overlap=160, batch=Batch(max_items=2))), Local()) == 1280
    assert max_ahead(Plan(Meet()), _Cluster()) == MIN_AHEAD * MACHINES


class _Cluster(Local):
    on_this_machine = False
