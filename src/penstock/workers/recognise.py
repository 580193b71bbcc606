"""Reads the regions of pages: words of the text layer first, then lines found on the picture.

One page's way: words of a trustworthy text layer go to their regions; where ink is left that no word
explains, lines are found and read; lines that no region holds become regions of their own. So
nothing is lost and nothing is said twice. Regions of all pages in flight share one pool of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from penstock.box import Box, area, shared_area
from penstock.documents.layout.corrections import (
    is_prose,
    swallows_words,
    unseen_table,
    without_mistakes,
    without_prose,
)
from penstock.documents.layout.paragraph_breaks import paragraphs
from penstock.documents.layout.paragraphs import join_lines
from penstock.documents.layout.ruled_tables import ruled_table
from penstock.documents.layout.text_columns import stacks
from penstock.documents.layout.text_layer import (
    adopt,
    assign,
    coverage,
    leftover,
    lines_from,
    region_of,
    trust,
    unsaid,
)
from penstock.documents.table_html import to_html
from penstock.engines.ocr.ppocr import LineBox, TextLine
from penstock.errors import Failure
from penstock.page import Page
from penstock.processes.part_pool import PartPool
from penstock.region import FORMULA_LABELS, PICTURE_LABELS, Line, Region, Word
from penstock.stage import Worker
from penstock.workers.builtin_readers import Readers
from penstock.workers.crop import with_crop

if TYPE_CHECKING:
    from penstock.stages.recognise import LayerUse, Recognise

CHUNK_LINES = 12  # lines one thread reads at a time: small enough to share a page between two cores
MIN_PICTURE_SHARE = 0.04  # of the page: smaller pictures are logos and icons, not worth a search for text
UNLINED = (
    PICTURE_LABELS | FORMULA_LABELS | {"table"}
)  # what stands beside these is no part of a line of theirs
# what may be several paragraphs, a list or lines set apart; titles and captions are one text
PARTED = frozenset({"text", "abstract", "footnote", "reference", "reference_content", "vision_footnote"})
MAX_DOTS = 8  # words of nothing but dots that a table may have without being full of leaders
FORMULA_NOTE = "No built-in model reads formulas; the crop is kept. A GPU recipe reads them."


class RecogniseWorker(Worker[Page]):
    """Thread-safe: `overlap` pages are read at once, their parts by `threads` threads."""

    def __init__(self, stage: Recognise) -> None:
        self._text_layer = stage.text_layer
        self._readers = Readers(stage.lang)
        self._pool = PartPool(stage.threads, stage.name, stage.deadline_s)

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(item) for item in items]

    def close(self) -> None:
        self._pool.close()
        self._readers.close()

    def _page(self, item: Page) -> Page:
        words = usable_words(item, self._text_layer)
        laid_out = [region for region in item.regions if not swallows_words(region, words, item)]
        given, loose = assign(words, [region.box for region in laid_out])
        given, loose = without_prose(laid_out, given, loose)
        given, loose = adopt(given, loose, [region.label not in UNLINED for region in laid_out])
        groups = leftover(loose)
        regions = [_around(region, own) for region, own in zip(laid_out, given, strict=True)]
        regions, given = regions + [region_of(group) for group in groups], given + groups
        found = self._find(item, regions, given, words)
        regions, given = without_mistakes(regions, given, [line.box for line in found], item)
        regions = [_cut_again(region, item) for region in regions]
        regions, chunks = share_out(regions, found)
        given += [[] for _ in range(len(regions) - len(given))]
        read = self._read(item, chunks)
        parts = [
            partial(self._finish, item, region, words_of, lines_of)
            for region, words_of, lines_of in zip(regions, given, read, strict=True)
        ]
        finished = self._pool.map(parts)
        done = [_landed(region, result) for region, result in zip(regions, finished, strict=True)]
        return replace(item, regions=tuple(region for region in done if region is not None))

    def _find(
        self, item: Page, regions: list[Region], given: list[list[Word]], words: Sequence[Word]
    ) -> list[LineBox]:
        """Lines of text on the picture that the layer does not have."""
        pixels = item.pixels
        if pixels is None or (self._text_layer == "always" and words):
            return []
        areas = unread_areas(item, regions, given, words)
        found = [self._pool.call(partial(self._readers.find, pixels, area)) for area in areas]
        return without_words([line for lines in found for line in lines], words)

    def _read(self, item: Page, chunks: list[list[LineBox]]) -> list[list[TextLine] | Failure]:
        """Each region's lines, read; the chunks of all regions side by side."""
        pixels = item.pixels
        if pixels is None or not any(chunks):
            return [[] for _ in chunks]
        lines = [line for chunk in chunks for line in chunk]
        script = self._pool.call(partial(self._readers.script, pixels, lines))
        parts: list[Callable[[], list[TextLine]]] = []
        owners: list[int] = []
        for owner, chunk in enumerate(chunks):
            for start in range(0, len(chunk), CHUNK_LINES):
                parts.append(partial(self._readers.read, pixels, chunk[start : start + CHUNK_LINES], script))
                owners.append(owner)
        return _gathered(self._pool.map(parts), owners, len(chunks))

    def _finish(
        self, item: Page, region: Region, words: list[Word], read: list[TextLine] | Failure
    ) -> Region | None:
        """The region with its content, or None where there is nothing to tell of it."""
        if isinstance(read, Failure):
            return replace(region, failure=read)
        if region.content is not None and not read:
            return region  # the rules read it from the layer already, tables by their rulings
        region = with_lines(region, words, read)
        if region.label == "table":
            words = without_leaders(words)
            drawn = None if read else _drawn_table(item, region, words)
            if drawn is not None or item.pixels is None:
                return drawn or with_content(region)
            return self._readers.table(item.pixels, region, words, read)
        return with_content(region)


def _around(region: Region, words: Sequence[Word]) -> Region:
    """The region, as wide as its lines: a layout model cuts its boxes close."""
    if region.label in UNLINED or not words:
        return region
    x0, y0, x1, y1 = region.box
    left, right = min(word.box[0] for word in words), max(word.box[2] for word in words)
    return replace(region, box=(min(x0, left), y0, max(x1, right), y1))


def _cut_again(region: Region, item: Page) -> Region:
    """The region with a crop of its own where it is a part of what the layout model saw."""
    if region.crop is None or item.pixels is None or any(region.box == seen.box for seen in item.regions):
        return region
    return with_crop(region, item.pixels)


def _drawn_table(item: Page, region: Region, words: Sequence[Word]) -> Region | None:
    """A born-digital table by the lines drawn around its cells, which no model knows better."""
    if item.layer is None or not words:
        return None
    cells = ruled_table(region.box, words, item.layer.strokes)
    return replace(region, content=to_html(cells), reader="layer") if cells else None


def without_leaders(words: list[Word]) -> list[Word]:
    """The words of a table without the dots that lead from a row's name to its figures."""
    said = [word for word in words if word.text.strip(".·…")]
    return said if len(words) - len(said) > MAX_DOTS else words


def usable_words(item: Page, mode: LayerUse) -> tuple[Word, ...]:
    if item.layer is None or mode == "never":
        return ()
    return item.layer.words if mode == "always" or trust(item.layer).ok else ()


def unread_areas(
    item: Page, regions: Sequence[Region], given: Sequence[list[Word]], words: Sequence[Word]
) -> list[Box]:
    """Where to look for text the layer does not have: the whole page, some regions, or nowhere."""
    pixels = item.pixels
    assert pixels is not None
    page = (0.0, 0.0, float(item.width), float(item.height))
    if not words:
        return [page]
    strokes = item.layer.strokes if item.layer else ()
    unread = [
        region
        for region, own in zip(regions, given, strict=True)
        if _may_hide_text(region, item) and not coverage(own, pixels, region.box, strokes).ok
    ]
    outside = coverage([*words, *_as_words(regions)], pixels, page, strokes)
    # a page that is a picture in parts may have lines that the layout model saw no region for
    if any(region.label not in PICTURE_LABELS for region in unread) or not outside.ok:
        return [page]
    return [region.box for region in unread]


def _may_hide_text(region: Region, item: Page) -> bool:
    if region.label in FORMULA_LABELS:
        return False
    if region.label in PICTURE_LABELS:
        return area(region.box) >= MIN_PICTURE_SHARE * item.width * item.height and _is_raster(region, item)
    return True


def _is_raster(region: Region, item: Page) -> bool:
    """Whether a picture inside the PDF lies under the region: drawn charts have their text in the layer."""
    pictures = item.layer.pictures if item.layer else ()
    return any(shared_area(region.box, picture) > 0.3 * area(region.box) for picture in pictures)


def _as_words(regions: Sequence[Region]) -> list[Word]:
    return [Word(text="", box=region.box) for region in regions]


def without_words(lines: Sequence[LineBox], words: Sequence[Word]) -> list[LineBox]:
    """The lines that do not lie on words of the layer."""
    left = unsaid([Line(text=str(number), box=line.box) for number, line in enumerate(lines)], words)
    return [lines[int(line.text)] for line in left]


def share_out(regions: list[Region], found: Sequence[LineBox]) -> tuple[list[Region], list[list[LineBox]]]:
    """Each line to one region; lines in none make regions of their own, columns of running text first."""
    marks = [Word(text=str(number), box=line.box) for number, line in enumerate(found)]
    given, loose = assign(marks, [region.box for region in regions])
    columns = [[loose[place] for place in stack] for stack in stacks([mark.box for mark in loose])]
    stacked = {mark.text for column in columns for mark in column}
    extras = [(region_of(column), column) for column in columns]
    for group in leftover([mark for mark in loose if mark.text not in stacked]):
        extras += _with_table(group)
    chunks = [[found[int(mark.text)] for mark in group] for group in (*given, *(own for _, own in extras))]
    return regions + [region for region, _ in extras], chunks


def _with_table(group: list[Word]) -> list[tuple[Region, list[Word]]]:
    """A region for lines that have none, or a table and what stands around it."""
    box = unseen_table([mark.box for mark in group])
    if box is None:
        return [(region_of(group), group)]
    [cells], rest = assign(group, [box])
    table = replace(region_of(cells), label="table")
    return [(table, cells), *([(region_of(rest), rest)] if rest else [])]


def with_lines(region: Region, words: Sequence[Word], read: Sequence[TextLine]) -> Region:
    """The layer's and the engines' lines together, with who read them and how surely."""
    from_layer = [replace(line, confidence=1.0) for line in lines_from(words)]
    from_ocr = [Line(text=t.text, box=t.box, confidence=t.confidence) for t in read if t.text.strip()]
    if from_layer and from_ocr:
        lines = sorted(from_layer + from_ocr, key=lambda line: (line.box[1] + line.box[3], line.box[0]))
    else:
        lines = from_layer + from_ocr
    readers = dict.fromkeys((["layer"] if from_layer else []) + [t.reader for t in read if t.text.strip()])
    return replace(region, lines=tuple(lines), reader="+".join(readers), confidence=_confidence(lines))


def with_content(region: Region) -> Region | None:
    """Lines become content by label. Text regions that say nothing are left out."""
    if region.label in PICTURE_LABELS:
        text = "\n".join(line.text for line in region.lines)
        return replace(region, content=text or None)
    if region.label in FORMULA_LABELS and not is_prose(region.lines):
        return replace(region, content=None, note=FORMULA_NOTE)
    if not region.lines:
        return None
    label = "text" if region.label in FORMULA_LABELS else region.label
    if label == "content":  # a table of contents is its lines
        return replace(region, content="\n".join(line.text for line in region.lines))
    parts = paragraphs(region.lines) if label in PARTED else [region.lines]
    return replace(region, label=label, content="\n".join(join_lines(part) for part in parts))


def _gathered(
    results: Sequence[list[TextLine] | Failure], owners: Sequence[int], count: int
) -> list[list[TextLine] | Failure]:
    gathered: list[list[TextLine] | Failure] = [[] for _ in range(count)]
    for owner, result in zip(owners, results, strict=True):
        so_far = gathered[owner]
        if isinstance(result, Failure) or isinstance(so_far, Failure):
            gathered[owner] = so_far if isinstance(so_far, Failure) else result
        else:
            so_far.extend(result)
    return gathered


def _landed(region: Region, result: Region | Failure | None) -> Region | None:
    return replace(region, failure=result) if isinstance(result, Failure) else result


def _confidence(lines: Sequence[Line]) -> float | None:
    """The mean over characters."""
    total = sum(len(line.text) for line in lines)
    if not total:
        return None
    return sum((line.confidence or 0.0) * len(line.text) for line in lines) / total
