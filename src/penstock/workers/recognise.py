"""Reads the regions of pages: words of the text layer first, then lines found on the picture.

The way of one page: the words of a trustworthy text layer go to their regions. Where the picture shows
ink that no word explains, lines are found. Pictures and tables that turn out to be running text are
dropped. The lines go to their regions and are read. Words and lines that no region holds become regions
of their own. So nothing is lost and nothing is read twice.
The regions of all pages in flight share one pool of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from penstock.box import HasBox
from penstock.documents.formulas import layer_formula
from penstock.documents.formulas.among_text import AMONG_TEXT, with_formulas
from penstock.documents.reading.content import with_content, with_drawn_cells, with_lines, without_leaders
from penstock.documents.reading.draft import (
    AnyLine,
    Draft,
    give_lines,
    give_words,
    unread_areas,
    with_drawn_tables,
    without_mistakes,
)
from penstock.documents.tables.drawn import Drawings, drawings
from penstock.documents.tables.headed import headed_tables
from penstock.documents.tables.pictured import cut_at_cells, line_height, pictured_tables
from penstock.documents.text.hidden_layer import FAULT, is_scan, says_other, words_to_compare
from penstock.documents.text.text_layer import lines_not_in_layer, trust
from penstock.errors import Failure
from penstock.page import Page
from penstock.processes.part_pool import PartPool
from penstock.region import FORMULA_LABELS, LineBox, Region, TextLine, Word
from penstock.stage import Worker
from penstock.stages.recognise import LayerUse, Recognise
from penstock.workers.builtin_readers import Readers
from penstock.workers.crop import with_crop

CHUNK_LINES = 12  # lines one thread reads at a time: small enough to share a page between two cores


class RecogniseWorker(Worker[Page]):
    """Thread-safe: `overlap` pages are read at once, their parts by `threads` threads."""

    def __init__(self, stage: Recognise) -> None:
        self._text_layer = stage.text_layer
        self._readers = Readers(stage.lang, stage.effort)
        self._pool = PartPool(stage.threads, stage.name, stage.deadline_s)

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(item) for item in items]

    def close(self) -> None:
        self._pool.close()
        self._readers.close()

    def _page(self, page: Page) -> Page:
        words, fault = self._words(page)
        drafts = give_words(page, words)
        found = self._find(page, drafts, words)
        drawn = self._drawings(page, found)
        tables = pictured_tables(drawn.grids, found)
        tables += headed_tables(drawn.rules, found, tables)
        found = cut_at_cells(found, tables, LineBox)
        drafts = with_drawn_tables(without_mistakes(drafts, found, page), found, drawn.rules, tables)
        drafts = [_with_own_crop(draft, page) for draft in drafts]
        read = with_formulas(self._read(page, give_lines(drafts, found)))
        read = [_with_own_crop(draft, page) for draft in read]
        return replace(page, regions=self._finished(page, read), layer_fault=fault)

    def _words(self, page: Page) -> tuple[tuple[Word, ...], str]:
        """The words of the page's text layer, and why there are none although it has one."""
        words = usable_words(page, self._text_layer)
        if page.layer is None or self._text_layer != "auto" or not page.layer.words:
            return words, ""
        if not words:
            return (), f"The text layer was not used: {trust(page.layer).reason}."
        if page.pixels is None or not is_scan(page.layer, page.width, page.height):
            return words, ""
        some = words_to_compare(words)
        lines = [LineBox(word.box) for word in some]
        read = self._pool.call(partial(self._readers.read, page.pixels, lines, "other")) if some else []
        return ((), FAULT) if says_other(some, read) else (words, "")

    def _find(self, page: Page, drafts: Sequence[Draft[HasBox]], words: Sequence[Word]) -> list[LineBox]:
        """Lines of text on the picture that the layer does not have."""
        pixels = page.pixels
        if pixels is None or (self._text_layer == "always" and words):
            return []
        areas = unread_areas(drafts, words, page, pixels)
        found = [self._pool.call(partial(self._readers.find, pixels, area)) for area in areas]
        return lines_not_in_layer([line for lines in found for line in lines], words)

    def _drawings(self, page: Page, found: Sequence[LineBox]) -> Drawings:
        """The lines drawn on the picture; those of a page that the layer has all of are in the layer too."""
        if page.pixels is None or not found:
            return Drawings()
        return self._pool.call(partial(drawings, page.pixels, line_height(found)))

    def _read(self, page: Page, drafts: Sequence[Draft[LineBox]]) -> list[Draft[TextLine]]:
        """The drafts with their lines read, the lines of all drafts side by side."""
        pixels, lines = page.pixels, [line for draft in drafts for line in draft.lines]
        if pixels is None or not lines:
            return [Draft(draft.region, draft.words, (), draft.grid) for draft in drafts]
        script = self._pool.call(partial(self._readers.script, pixels, lines))
        chunks = [_chunks(draft) for draft in drafts]
        parts = [partial(self._readers.read, pixels, chunk, script) for own in chunks for chunk in own]
        results = iter(self._pool.map(parts))
        return [
            _with_read(draft, list(islice(results, len(own))))
            for draft, own in zip(drafts, chunks, strict=True)
        ]

    def _finished(self, page: Page, drafts: Sequence[Draft[TextLine]]) -> tuple[Region, ...]:
        """The regions of all drafts with their content, side by side; a region that fails fails alone."""
        results = self._pool.map([partial(self._finish, page, draft) for draft in drafts])
        regions = [_landed(draft, result) for draft, result in zip(drafts, results, strict=True)]
        return tuple(region for region in regions if region is not None)

    def _finish(self, page: Page, draft: Draft[TextLine]) -> Region | None:
        """The region with its content, or None for a text region without text."""
        region, words, read = draft.region, draft.words, draft.lines
        if region.failure is not None:
            return region
        if region.content is not None and not read:
            return region  # the rules read it from the layer already, tables by their rulings
        region = with_lines(region, words, read)
        if region.label == "table":
            return self._table(page, replace(draft, region=region))
        return self._formula(page, with_content(region), words)

    def _formula(self, page: Page, region: Region | None, words: Sequence[Word]) -> Region | None:
        """The region; a formula with its LaTeX, by the layer's signs or by the network if it has weights."""
        if region is None or region.label not in FORMULA_LABELS:
            return region
        strokes = page.layer.strokes if page.layer else ()
        latex = layer_formula(words, strokes, region.box)
        if latex:
            return replace(region, content=latex, reader="layer", note="")
        if page.pixels is None:
            return region
        read = self._readers.formula(page.pixels, region)
        is_text = read.content is None and region.native_label == AMONG_TEXT
        return with_content(replace(region, label="text", note="")) if is_text else read

    def _table(self, page: Page, draft: Draft[TextLine]) -> Region | None:
        region, words, read = draft.region, without_leaders(draft.words), draft.lines
        strokes = page.layer.strokes if page.layer else ()
        drawn = None if read else with_drawn_cells(region, words, strokes)
        if drawn is not None or page.pixels is None:
            return drawn or with_content(region)
        return self._readers.table(page.pixels, region, words, read, draft.grid)


def usable_words(page: Page, use: LayerUse) -> tuple[Word, ...]:
    """The words of the page's text layer, or none where the layer may not be used."""
    if page.layer is None or use == "never":
        return ()
    return page.layer.words if use == "always" or trust(page.layer).ok else ()


def _chunks(draft: Draft[LineBox]) -> list[tuple[LineBox, ...]]:
    return [draft.lines[start : start + CHUNK_LINES] for start in range(0, len(draft.lines), CHUNK_LINES)]


def _with_read(draft: Draft[LineBox], results: Sequence[list[TextLine] | Failure]) -> Draft[TextLine]:
    """The draft with its lines as they were read, or with the first failure of a chunk."""
    read: list[TextLine] = []
    for result in results:
        if isinstance(result, Failure):
            return Draft(replace(draft.region, failure=result), draft.words)
        read += result
    return Draft(draft.region, draft.words, tuple(read), draft.grid)


def _with_own_crop(draft: Draft[AnyLine], page: Page) -> Draft[AnyLine]:
    """The draft with a crop of its own where its region is a part of what the layout model saw."""
    region = draft.region
    if region.crop is None or page.pixels is None or any(region.box == seen.box for seen in page.regions):
        return draft
    return replace(draft, region=with_crop(region, page.pixels))


def _landed(draft: Draft[TextLine], result: Region | Failure | None) -> Region | None:
    return replace(draft.region, failure=result) if isinstance(result, Failure) else result
