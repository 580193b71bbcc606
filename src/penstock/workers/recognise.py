"""Reads the regions of pages: words of the text layer first, then lines found on the picture.

A page moves as one value through the steps of `documents/reading`; here are the engines that they need.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import islice
from typing import Protocol, TypeVar

from penstock.box import Box, Pixels
from penstock.documents.reading.page_reading import PageReading
from penstock.documents.reading.steps import read_page
from penstock.documents.tables.drawn import Drawings, drawings
from penstock.engines.ocr.reader import Script
from penstock.errors import Failure
from penstock.page import Page
from penstock.processes.part_pool import PartPool
from penstock.region import LineBox, Region, TableGrid, TextLine
from penstock.stage import Worker
from penstock.stages.recognise import Recognise
from penstock.workers.builtin_readers import Readers
from penstock.workers.crop import with_crop
from penstock.workers.office.pictures import with_read_pictures

CHUNK_LINES = 12  # lines one thread reads at a time: small enough to share a page between two cores
T = TypeVar("T")


class PageReaders(Protocol):
    """The engines that read pages, each call in the caller's own thread."""

    def find(self, pixels: Pixels, area: Box, as_page: bool) -> list[LineBox]: ...
    def script(self, pixels: Pixels, lines: Sequence[LineBox]) -> Script: ...
    def read(self, pixels: Pixels, lines: Sequence[LineBox], script: Script) -> list[TextLine]: ...
    def table(self, pixels: Pixels, box: Box) -> TableGrid: ...
    def formula(self, pixels: Pixels, box: Box) -> tuple[str, float] | None: ...
    def close(self) -> None: ...


class RecogniseWorker(Worker[Page]):
    """Thread-safe: `overlap` pages are read at once, their parts by `threads` threads."""

    def __init__(
        self, stage: Recognise, readers: PageReaders | None = None, without: Collection[str] = ()
    ) -> None:
        """Reads with the built-in readers or with others. `without` names corrections to leave out."""
        self._layer_use = stage.text_layer
        self._without = frozenset(without)
        self._readers = readers or Readers(stage.lang, stage.effort)
        self._pool = PartPool(stage.threads, stage.name, stage.deadline_s)
        self._engines = PooledEngines(self._readers, self._pool)

    def __call__(self, items: list[Page]) -> list[Page]:
        return [with_read_pictures(item, self._read) if item.is_read else self._read(item) for item in items]

    def _read(self, page: Page) -> Page:
        return read_page(PageReading(page, self._layer_use, without=self._without), self._engines)

    def close(self) -> None:
        self._pool.close()
        self._readers.close()


class PooledEngines:
    """The engines of the steps: the parts of all pages in flight share one pool of threads."""

    def __init__(self, readers: PageReaders, pool: PartPool) -> None:
        self._readers = readers
        self._pool = pool
        self.table = readers.table  # called by parts, which are in the pool already
        self.formula = readers.formula

    def find(self, pixels: Pixels, areas: Sequence[Box], as_page: bool) -> list[LineBox]:
        found = [self._pool.call(partial(self._readers.find, pixels, area, as_page)) for area in areas]
        return [line for lines in found for line in lines]

    def read_quickly(self, pixels: Pixels, lines: Sequence[LineBox]) -> list[TextLine]:
        return self._pool.call(partial(self._readers.read, pixels, lines, "other"))

    def read(
        self, pixels: Pixels, groups: Sequence[Sequence[LineBox]]
    ) -> list[tuple[TextLine, ...] | Failure]:
        lines = [line for group in groups for line in group]
        script = self._pool.call(partial(self._readers.script, pixels, lines))
        chunks = [_chunks(group) for group in groups]
        parts = [partial(self._readers.read, pixels, chunk, script) for own in chunks for chunk in own]
        results = iter(self._pool.map(parts))
        return [_joined(list(islice(results, len(own)))) for own in chunks]

    def drawings(self, pixels: Pixels, em: float) -> Drawings:
        return self._pool.call(partial(drawings, pixels, em))

    def side_by_side(self, parts: Sequence[Callable[[], T]]) -> list[T | Failure]:
        return self._pool.map(parts)

    def crop(self, pixels: Pixels, region: Region) -> Region:
        return with_crop(region, pixels)


def _chunks(lines: Sequence[LineBox]) -> list[Sequence[LineBox]]:
    return [lines[start : start + CHUNK_LINES] for start in range(0, len(lines), CHUNK_LINES)]


def _joined(results: Sequence[list[TextLine] | Failure]) -> tuple[TextLine, ...] | Failure:
    """The lines of all chunks, or the first failure of one."""
    read: list[TextLine] = []
    for result in results:
        if isinstance(result, Failure):
            return result
        read += result
    return tuple(read)
