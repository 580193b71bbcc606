"""Pictures of pages, drawn in a process of their own when someone looks at them."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from penstock.exports.overlays import MAX_SIDE, draw
from penstock.exports.page_pictures import PageRenderer
from penstock.page import Page
from penstock.photo import Photo
from penstock.region import Region
from penstock.serve.answers.bounded_calls import BoundedCalls
from penstock.serve.errors import HttpRefusal
from penstock.store.out import Out

MAX_MAKERS = 3  # processes: one for the service's run, others for jobs with runs of their own
MAX_RECENT_BYTES = 16 << 20  # 80 pages, or all thumbnails of 1,000


class DrawnPages:
    """Draws pages in a process that starts with the first one. Keeps the latest pictures."""

    def __init__(self, out: Path) -> None:
        self.opened = ExitStack()
        self._out = out
        self._bounded = BoundedCalls()
        self._makers: OrderedDict[Path, PageRenderer] = OrderedDict()
        self._recent: OrderedDict[tuple[Path, str, int, bool, int], bytes] = OrderedDict()
        self.opened.callback(self._close, 0)

    async def __call__(
        self, item: Page | Photo, boxes: bool, side: int = MAX_SIDE, out: Path | None = None
    ) -> bytes:
        """Returns a JPEG whose longer side has at most so many pixels. `out` is that of a job's own run."""
        return await self._bounded(partial(self._kept, item, boxes, side, out or self._out))

    def _kept(self, item: Page | Photo, boxes: bool, side: int, out: Path) -> bytes:
        key = (out, item.id, item.attempt, boxes, side)
        jpeg = self._recent[key] = self._recent.get(key) or self._made(item, boxes, side, out)
        self._recent.move_to_end(key)
        while sum(map(len, self._recent.values())) > MAX_RECENT_BYTES and len(self._recent) > 1:
            self._recent.popitem(last=False)
        return jpeg

    def _made(self, item: Page | Photo, boxes: bool, side: int, out: Path) -> bytes:
        pixels = self._maker(out).picture(item)
        if isinstance(pixels, str):
            raise HttpRefusal(404, pixels)
        return draw(_boxes(item) if boxes else (), pixels, side)

    def _maker(self, out: Path) -> PageRenderer:
        if out not in self._makers:
            self._close(MAX_MAKERS - 1)
            self._makers[out] = PageRenderer(Out(out))
        self._makers.move_to_end(out)
        return self._makers[out]

    def _close(self, left: int) -> None:
        """Ends the processes that were used longest ago."""
        while len(self._makers) > left:
            _, maker = self._makers.popitem(last=False)
            maker.close()


def _boxes(item: Page | Photo) -> tuple[Region, ...]:
    """Returns what to draw boxes for: a page's regions, or a photo's objects as regions."""
    if isinstance(item, Page):
        return item.regions
    return tuple(Region(label=thing.label, box=thing.box, index=thing.index) for thing in item.objects)
