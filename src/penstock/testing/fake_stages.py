"""Stages without weights that obey the real contract, for making faults happen.

Deterministic: the same item always gives the same result. Named ids fail, kill their process or hang;
everything else is as patient as `seconds` says.
"""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from penstock.errors import EngineError
from penstock.page import Page
from penstock.region import Region
from penstock.stage import Stage, Worker, tuning


@dataclass(frozen=True, kw_only=True)
class FakeLayout(Stage):
    """Finds a title and a paragraph on every page, whatever is on it."""

    name: ClassVar[str] = "fake_layout"
    reads: ClassVar[tuple[str, ...]] = ("width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions",)

    def open(self) -> _FakeWorker:
        return _FakeWorker(_two_regions)


@dataclass(frozen=True, kw_only=True)
class FakeRecognise(Stage):
    """Reads every region as words made from the item's id.

    `fails`, `kills`, `hangs`: parts (page numbers) that raise, end their process, never come back.
    """

    name: ClassVar[str] = "fake_recognise"
    reads: ClassVar[tuple[str, ...]] = ("regions",)
    writes: ClassVar[tuple[str, ...]] = ("regions", "markdown")
    fails: tuple[int, ...] = field(default=())
    kills: tuple[int, ...] = field(default=())
    hangs: tuple[int, ...] = field(default=())
    seconds: float = tuning(0.0)

    def open(self) -> _FakeWorker:
        return _FakeWorker(self._read)

    def _read(self, page: Page) -> Page:
        if page.part in self.fails:
            raise EngineError(f"{page.id} was asked to fail.", "Take it out of `fails`.")
        if page.part in self.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        if page.part in self.hangs:
            time.sleep(3600)
        time.sleep(self.seconds)
        regions = tuple(
            replace(region, content=_words(page.id, region.index), reader="fake") for region in page.regions
        )
        return replace(page, regions=regions, markdown="\n\n".join(str(r.content) for r in regions))


class _FakeWorker(Worker[Page]):
    def __init__(self, one: Callable[[Page], Page]) -> None:
        self._one = one

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._one(page) for page in items]


def _two_regions(page: Page) -> Page:
    width, height = float(page.width or 100), float(page.height or 100)
    title = Region(index=0, label="paragraph_title", box=(0.0, 0.0, width, height / 10))
    text = Region(index=1, label="text", box=(0.0, height / 10, width, height))
    return replace(page, regions=(title, text))


def _words(id: str, index: int) -> str:
    return f"{id} {hashlib.sha256(f'{id}/{index}'.encode()).hexdigest()[:12]}"
