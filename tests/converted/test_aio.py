"""The twins for event loops: the same pages, and a loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path

import pytest

import penstock
from penstock.errors import UsageError
from penstock.testing.fake_recipe import fake
from tests.passes.test_in_order import MEETINGS, meeting
from tests.support import made_pdf


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    path = tmp_path / "report.pdf"
    path.write_bytes(made_pdf.pdf([made_pdf.text(f"page {n}") for n in range(1, 5)]))
    return path


def test_a_document_is_whole_when_it_comes(pdf: Path) -> None:
    told: list[tuple[int, str]] = []

    def on_progress(progress: penstock.ParseProgress) -> None:
        told.append((progress.done, threading.current_thread().name))

    async def main() -> penstock.Document:
        return await penstock.aconvert(pdf, recipe=fake(), executor="inline", on_progress=on_progress)

    with asyncio.run(main()) as doc:
        assert doc.pages.are_all_read
        assert [page.number for page in doc.pages] == [1, 2, 3, 4]
    assert told == [(done, "MainThread") for done in range(1, 5)]


def test_the_loop_goes_on_while_pages_are_read(pdf: Path) -> None:
    """Page 1 ends only after the loop has done something else."""
    plan = meeting("aio", others=4)  # three pages can end before it; the loop is the fourth

    async def other() -> None:
        with MEETINGS["aio"].changed:
            MEETINGS["aio"].finished.add(99)
            MEETINGS["aio"].changed.notify_all()

    async def main() -> list[int]:
        task = asyncio.get_running_loop().create_task(other())
        pages = [page.number async for page in penstock.aparse(pdf, recipe=plan)]
        await task
        return pages

    assert asyncio.run(main()) == [1, 2, 3, 4]


def test_a_run_that_is_left_early_ends(pdf: Path) -> None:
    async def main() -> int:
        pages = penstock.aparse(pdf, recipe=meeting("aio-left", others=1))
        try:
            async for page in pages:
                return page.number
        finally:
            await pages.aclose()
        return 0

    assert asyncio.run(main()) == 1
    for thread in threading.enumerate():
        if thread.name.startswith(("aio", "feed", "meet-")):
            thread.join(60)
            assert not thread.is_alive()


def test_errors_come_through(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        asyncio.run(penstock.aconvert(tmp_path / "missing.pdf"))


@pytest.mark.parametrize("name", ["convert", "parse"])
def test_a_twin_takes_what_its_sister_takes(name: str) -> None:
    one, other = (inspect.signature(getattr(penstock, each)).parameters for each in (name, f"a{name}"))
    assert [(each.name, each.default) for each in one.values()] == [
        (each.name, each.default) for each in other.values()
    ]
