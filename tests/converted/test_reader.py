"""A Reader stays open between documents, is shared by threads, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import warnings
from collections.abc import Iterator
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import psutil
import pytest

import penstock
from penstock.errors import BadInput, OpenError, UsageError
from penstock.page import Page
from penstock.plan import Plan
from penstock.stage import Stage, Worker
from penstock.stages.load import Load
from penstock.testing.fake_recipe import fake
from penstock.testing.fake_stages import FakeLayout, FakeRecognise
from tests.support import made_pdf

OPENED: list[str] = []


@dataclass(frozen=True, kw_only=True)
class Noted(Stage):
    """Notes each opening of its worker. Waits at a page that `gates` names until its gate is open."""

    name: ClassVar[str] = "noted"
    writes: ClassVar[tuple[str, ...]] = ("markdown",)
    key: str

    def open(self) -> _Noter:
        OPENED.append(self.key)
        return _Noter(self.key)


@dataclass
class Gate:
    """Holds pages of a document until it is opened; says when the first has come."""

    document: str

    def __post_init__(self) -> None:
        self.open, self.reached = threading.Event(), threading.Event()


GATES: dict[str, Gate] = {}


class _Noter(Worker[Page]):
    def __init__(self, key: str) -> None:
        self._key = key

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(page) for page in items]

    def _page(self, page: Page) -> Page:
        gate = GATES.get(self._key)
        if gate is not None and page.document == gate.document:
            gate.reached.set()
            assert gate.open.wait(60)
        if page.document == "weights.pdf":
            raise OpenError("The weights are gone.")
        return replace(page, markdown=f"{page.document} {page.part}", width=10, height=10)


def noted(key: str, **more: int) -> Plan:
    return Plan(Noted(key=key, **more), name="noted")


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    yield Make(tmp_path)
    GATES.clear()
    OPENED.clear()


@dataclass
class Make:
    """Makes PDFs of some pages."""

    folder: Path

    def __call__(self, name: str, pages: int = 1) -> Path:
        path = self.folder / name
        path.write_bytes(made_pdf.pdf([made_pdf.text(f"{name} {n}") for n in range(pages)]))
        return path


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Every test must end with the threads and processes that it began with."""
    with warnings.catch_warnings(action="ignore"):  # what tests of other files left in cycles is not ours
        gc.collect()
    threads, children = set(threading.enumerate()), set(psutil.Process().children(recursive=True))
    yield
    gc.collect()
    for thread in set(threading.enumerate()) - threads:
        if thread.name.startswith("aio"):  # it ends by itself
            thread.join(60)
    assert set(threading.enumerate()) - threads == set()
    assert set(psutil.Process().children(recursive=True)) - children == set()


def markdown(doc: penstock.Document) -> list[str]:
    return [page.markdown for page in doc.pages]


@pytest.mark.parametrize("executor", ["local", "inline"])
def test_workers_open_once_for_all_documents(make: Make, executor: str) -> None:
    with penstock.Reader(noted("once"), executor=executor) as reader:
        for name in ("a.pdf", "b.pdf"):
            with reader.convert(make(name, 2)) as doc:
                assert markdown(doc) == [f"{name} 0", f"{name} 1"]
    assert OPENED == ["once"]


def test_processes_stay_between_documents_and_end_with_the_reader(make: Make) -> None:
    with penstock.Reader(fake()) as reader:
        assert len(reader.convert(make("a.pdf")).pages) == 1
        at_work = set(psutil.Process().children())
        assert at_work
        assert len(reader.convert(make("b.pdf")).pages) == 1
        assert at_work <= set(psutil.Process().children())


def test_a_killed_process_is_replaced(make: Make) -> None:
    with penstock.Reader(fake()) as reader:
        assert reader.convert(make("a.pdf")).failures == []
        for child in psutil.Process().children():
            os.kill(child.pid, signal.SIGKILL)
        doc = reader.convert(make("b.pdf", 3))
        assert doc.failures == []
        assert len(doc.pages) == 3


def test_a_page_that_kills_its_process_fails_alone(make: Make) -> None:
    with penstock.Reader(fake(kills=(1,))) as reader:
        [(number, failure)] = reader.convert(make("a.pdf", 3)).failures
        assert (number, failure.kind) == (2, "WorkerDied")
        assert reader.convert(make("b.pdf")).failures == []


def test_threads_share_a_reader_and_each_gets_its_own_pages(make: Make) -> None:
    paths = [make(f"{n}.pdf", 5) for n in range(4)] * 2  # the same file twice at once, too
    with penstock.Reader(noted("shared")) as reader, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda path: markdown(reader.convert(path)), paths))
    assert found == [[f"{path.name} {n}" for n in range(5)] for path in paths]
    assert OPENED == ["shared"]


def test_the_same_file_is_two_documents_with_the_ids_of_their_own(make: Make) -> None:
    path = make("a.pdf")
    with penstock.Reader(noted("ids"), executor="inline") as reader:
        one, other = reader.convert(path), reader.convert(path)
        alone = penstock.convert(path, recipe=noted("ids"), executor="inline")
        assert one.pages[0].id == other.pages[0].id == alone.pages[0].id
        [listed] = penstock.parse(path, recipe=noted("ids"), executor="inline")
        assert listed.id == one.pages[0].id


def test_documents_take_turns_so_a_long_one_keeps_no_other_waiting(make: Make) -> None:
    """The long one is put first, and all its pages that may be ahead: the short one still comes before."""
    with penstock.Reader(noted("turns"), executor="inline") as reader:
        long, short = reader.convert(make("long.pdf", 40)), reader.convert(make("short.pdf"))
        assert long.pages[0].number == 1
        assert markdown(short) == ["short.pdf 0"]
        assert long.pages.num_read == 1
        assert len(long.pages) == 40


def test_a_document_that_is_closed_early_takes_its_pages_back(make: Make) -> None:
    GATES["early"] = gate = Gate("long.pdf")
    with penstock.Reader(noted("early")) as reader:
        doc = reader.convert(make("long.pdf", 200))
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(lambda: doc.pages[0].number)
            assert gate.reached.wait(60)
            gate.open.set()
            assert first.result() == 1
        doc.close()
        assert markdown(reader.convert(make("b.pdf"))) == ["b.pdf 0"]


def test_a_file_that_cannot_be_opened_costs_no_other_one(make: Make, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing")
    with penstock.Reader(fake(), executor="inline") as reader:
        with pytest.raises(BadInput, match=r"broken\.pdf"):
            reader.convert(tmp_path / "broken.pdf")
        with pytest.raises(UsageError, match="does not exist"):
            reader.convert(tmp_path / "missing.pdf")
        assert len(reader.convert(make("a.pdf")).pages) == 1


@pytest.mark.parametrize("executor", ["local", "inline"])
def test_an_error_that_ends_the_run_is_raised_and_the_next_document_gets_a_new_one(
    make: Make, executor: str
) -> None:
    with penstock.Reader(noted("ends"), executor=executor) as reader:
        broken = reader.convert(make("weights.pdf"))
        for _ in range(2):
            with pytest.raises(OpenError, match="The weights are gone"):
                len(broken.pages)
        assert markdown(reader.convert(make("a.pdf"))) == ["a.pdf 0"]
    assert OPENED == ["ends"] * 2


def test_a_closed_reader_says_so_and_what_was_read_stays(make: Make) -> None:
    with penstock.Reader(noted("closed"), executor="inline") as reader:
        read, unread, half = (reader.convert(make(f"{n}.pdf", 2)) for n in range(3))
        assert len(read.pages) == 2
        assert half.pages[0].number == 1
    reader.close()
    assert markdown(read) == ["0.pdf 0", "0.pdf 1"]
    assert half.pages[0].number == 1
    for call in (lambda: reader.convert(make("d.pdf")), lambda: len(half.pages), lambda: len(unread.pages)):
        with pytest.raises(UsageError, match=r"The Reader is closed\. Read what you need before"):
            call()


def test_closing_ends_the_wait_of_another_thread(make: Make) -> None:
    GATES["wait"] = gate = Gate("a.pdf")
    reader = penstock.Reader(noted("wait"))
    with ThreadPoolExecutor(2) as pool:
        waits = [pool.submit(lambda doc: len(doc.pages), reader.convert(make("a.pdf", 2))) for _ in range(2)]
        assert gate.reached.wait(60)
        closing = threading.Thread(target=reader.close)
        closing.start()
        futures.wait(waits, 60, futures.FIRST_COMPLETED)  # one that waits for another, which pulls
        gate.open.set()
        for wait in waits:
            with pytest.raises(UsageError, match="The Reader is closed"):
                wait.result(60)
        closing.join(60)


def test_a_reader_that_is_forgotten_leaves_nothing(make: Make) -> None:
    reader = penstock.Reader(fake())
    assert len(reader.convert(make("a.pdf")).pages) == 1
    del reader


def test_a_reader_that_reads_nothing_starts_nothing() -> None:
    before = set(threading.enumerate())
    with penstock.Reader(fake()):
        assert set(threading.enumerate()) == before


def test_a_file_that_has_changed_is_read_anew(make: Make, tmp_path: Path) -> None:
    plan = Plan(Load(dpi=36, workers=1), FakeLayout(), FakeRecognise(), name="plain")
    with penstock.Reader(plan) as reader:
        first = reader.convert(make("a.pdf", 1)).pages[0]
        path = tmp_path / "a.pdf"
        path.write_bytes(made_pdf.pdf([made_pdf.text("x")], "/MediaBox [0 0 100 300]"))
        second = reader.convert(path).pages[0]
    assert (first.width, first.height, second.width, second.height) == (100, 50, 50, 150)


def test_several_documents_and_progress(make: Make) -> None:
    told: list[tuple[int, int | None]] = []
    with penstock.Reader(noted("many"), executor="inline") as reader:
        sources = [make("a.pdf", 2), make("b.pdf")]
        documents = reader.convert(
            sources, on_progress=lambda progress: told.append((progress.done, progress.total))
        )
        assert [doc.name for doc in documents] == ["a.pdf", "b.pdf"]
        assert told == [(1, 3), (2, 3), (3, 3)]
        assert markdown(reader.convert(sources[0], pages="2")) == ["a.pdf 1"]


def test_in_an_event_loop_documents_are_read_side_by_side(make: Make) -> None:
    """The first waits until the second was read."""
    GATES["loop"] = gate = Gate("a.pdf")

    async def main() -> list[list[str]]:
        async with penstock.Reader(noted("loop", workers=2)) as reader:

            async def second() -> penstock.Document:
                doc = await reader.aconvert(make("b.pdf"))
                gate.open.set()
                return doc

            first = asyncio.create_task(reader.aconvert(make("a.pdf")))
            documents = [await second(), await first]
            assert all(doc.pages.are_all_read for doc in documents)
            assert [doc.name for doc in await reader.aconvert([make("c.pdf")])] == ["c.pdf"]
            return [markdown(doc) for doc in documents]

    assert asyncio.run(main()) == [["b.pdf 0"], ["a.pdf 0"]]


def test_a_wrong_recipe_option_or_executor_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="no recipe"):
        penstock.Reader("dokuments")
    with pytest.raises(UsageError, match="no executor"):
        penstock.Reader(executor="cloud")
    with pytest.raises(UsageError, match="frobnicate"):
        penstock.Reader(frobnicate=1)  # type: ignore[call-arg]
