"""A run small enough to be made a thousand times: five pages with a crop each, three rows to a shard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from penstock.driver import Run
from penstock.errors import EngineError
from penstock.executors.inline import Inline
from penstock.page import Page
from penstock.plan import Plan
from penstock.region import Region, asset
from penstock.stage import Stage, Worker
from penstock.store import ledger
from penstock.store.out import Out
from penstock.store.schema import PAGES

NUM_PAGES = 5
FAILS = 4
ROWS_A_SHARD = 3


@dataclass(frozen=True, kw_only=True)
class Draw(Stage):
    name: ClassVar[str] = "draw"
    writes: ClassVar[tuple[str, ...]] = ("regions", "markdown")

    def open(self) -> Worker[Page]:
        return DrawWorker()


class DrawWorker(Worker[Page]):
    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._drawn(page) for page in items]

    @staticmethod
    def _drawn(page: Page) -> Page:
        if page.part == FAILS:
            raise EngineError("This page fails.", "")
        crop = asset("crops", b"picture %d " % (page.part % 3) * 2000, "png")  # some pages share one
        region = Region(label="picture", box=(0, 0, 1, 1), content=f"words {page.part}", crop=crop)
        return replace(page, regions=(region,), markdown=f"page {page.part}")


def run(out: Path, committed: Callable[[int], None] = lambda _: None) -> None:
    """Runs the plan to its end. `committed` is told how many rows are safe, after each commit."""
    ledger.MAX_ROWS = ROWS_A_SHARD
    pages = [Page(id=f"a/{n:05d}", uri="a.pdf", document="a.pdf", part=n) for n in range(NUM_PAGES)]
    work = Run(Plan(Draw()), Inline(), out, PAGES)
    for count, _ in enumerate(work.items(pages), 1):
        if count % ROWS_A_SHARD == 0:
            committed(count)
    committed(NUM_PAGES)


def rows(out: Path) -> list[tuple[Any, ...]]:
    """Returns every page as readers see it, with the bytes of its crops."""
    return [
        (
            page.id,
            page.markdown,
            page.failure and page.failure.kind,
            [(r.content, r.crop and (out / r.crop.path).read_bytes()) for r in page.regions],
        )
        for page in Out(out).read_pages()
    ]
