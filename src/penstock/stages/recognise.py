"""Reads every region with the embedded engines, or takes its text from the page's own layer.

One page's way: words of a trustworthy text layer go to their regions; where ink is left that no word
explains, lines are found and read; lines that no region holds become regions of their own. So
nothing is lost and nothing is said twice. Regions of all pages in flight share one pool of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from penstock.item import FORMULA_LABELS, PICTURE_LABELS, Box, Failure, Item, Line, Region, Word
from penstock.stage import Stage, tuning
from penstock.stages.parts import PartPool

if TYPE_CHECKING:
    from penstock.engines.ocr.ppocr import LineBox, TextLine

TextLayer = Literal["auto", "always", "never"]

CHUNK_LINES = 12  # lines one thread reads at a time: small enough to share a page between two cores
MIN_PICTURE_SHARE = 0.04  # of the page: smaller pictures are logos and icons, not worth a search for text
UNLINED = (
    PICTURE_LABELS | FORMULA_LABELS | {"table"}
)  # what stands beside these is no part of a line of theirs
# what may be several paragraphs, a list or lines set apart; titles and captions are one text
PARTED = frozenset({"text", "abstract", "footnote", "reference", "reference_content", "vision_footnote"})
FEW_DOTS = 8  # words of nothing but dots that a table may have without being full of leaders
FORMULA_NOTE = "No embedded model reads formulas; the crop is kept. A GPU recipe reads them."


@dataclass(frozen=True, kw_only=True)
class Recognise(Stage):
    """Text, tables and the words inside pictures. `lang` empty means: find out, page by page."""

    name: ClassVar[str] = "recognise"
    reads: ClassVar[tuple[str, ...]] = ("pixels", "layer", "regions", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    lang: tuple[str, ...] = ()
    text_layer: TextLayer = "auto"
    threads: int = tuning(1)

    def open(self) -> _Recogniser:
        return _Recogniser(self)


class _Recogniser:
    """Thread-safe: `overlap` pages are read at once, their parts by `threads` threads."""

    def __init__(self, stage: Recognise) -> None:
        from penstock.stages.embedded import Readers

        self._text_layer = stage.text_layer
        self._readers = Readers(stage.lang)
        self._pool = PartPool(stage.threads, stage.name, stage.deadline_s)

    def __call__(self, items: list[Item]) -> list[Item]:
        return [self._page(item) for item in items]

    def close(self) -> None:
        self._pool.close()
        self._readers.close()

    def _page(self, item: Item) -> Item:
        from penstock.documents.layout.corrections import swallows_words, without_mistakes, without_prose
        from penstock.documents.layout.text_layer import adopt, assign, leftover, region_of

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
        self, item: Item, regions: list[Region], given: list[list[Word]], words: Sequence[Word]
    ) -> list[LineBox]:
        """Lines of text on the picture that the layer does not have."""
        pixels = item.pixels
        if pixels is None or (self._text_layer == "always" and words):
            return []
        areas = unread_areas(item, regions, given, words)
        found = [self._pool.call(partial(self._readers.find, pixels, area)) for area in areas]
        return without_words([line for lines in found for line in lines], words)

    def _read(self, item: Item, chunks: list[list[LineBox]]) -> list[list[TextLine] | Failure]:
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
        self, item: Item, region: Region, words: list[Word], read: list[TextLine] | Failure
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


def _cut_again(region: Region, item: Item) -> Region:
    """The region with a crop of its own where it is a part of what the layout model saw."""
    from penstock.stages.crop import with_crop

    if region.crop is None or item.pixels is None or any(region.box == seen.box for seen in item.regions):
        return region
    return with_crop(region, item.pixels)


def _drawn_table(item: Item, region: Region, words: Sequence[Word]) -> Region | None:
    """A born-digital table by the lines drawn around its cells, which no model knows better."""
    from penstock.documents.layout.ruled_tables import ruled_table
    from penstock.documents.table_html import to_html

    if item.layer is None or not words:
        return None
    cells = ruled_table(region.box, words, item.layer.strokes)
    return replace(region, content=to_html(cells), reader="layer") if cells else None


def without_leaders(words: list[Word]) -> list[Word]:
    """The words of a table without the dots that lead from a row's name to its figures."""
    said = [word for word in words if word.text.strip(".·…")]
    return said if len(words) - len(said) > FEW_DOTS else words


def usable_words(item: Item, mode: TextLayer) -> tuple[Word, ...]:
    from penstock.documents.layout.text_layer import trust

    if item.layer is None or mode == "never":
        return ()
    return item.layer.words if mode == "always" or trust(item.layer).ok else ()


def unread_areas(
    item: Item, regions: Sequence[Region], given: Sequence[list[Word]], words: Sequence[Word]
) -> list[Box]:
    """Where to look for text the layer does not have: the whole page, some regions, or nowhere."""
    from penstock.documents.layout.text_layer import coverage

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


def _may_hide_text(region: Region, item: Item) -> bool:
    from penstock.documents.layout.lines import area

    if region.label in FORMULA_LABELS:
        return False
    if region.label in PICTURE_LABELS:
        return area(region.box) >= MIN_PICTURE_SHARE * item.width * item.height and _is_raster(region, item)
    return True


def _is_raster(region: Region, item: Item) -> bool:
    """Whether an embedded image lies under the region: drawn charts have their text in the layer."""
    from penstock.documents.layout.lines import area, shared_area

    pictures = item.layer.pictures if item.layer else ()
    return any(shared_area(region.box, picture) > 0.3 * area(region.box) for picture in pictures)


def _as_words(regions: Sequence[Region]) -> list[Word]:
    return [Word(text="", box=region.box) for region in regions]


def without_words(lines: Sequence[LineBox], words: Sequence[Word]) -> list[LineBox]:
    """The lines that do not lie on words of the layer."""
    from penstock.documents.layout.text_layer import unsaid

    left = unsaid([Line(text=str(number), box=line.box) for number, line in enumerate(lines)], words)
    return [lines[int(line.text)] for line in left]


def share_out(regions: list[Region], found: Sequence[LineBox]) -> tuple[list[Region], list[list[LineBox]]]:
    """Each line to one region; lines in none make regions of their own, columns of running text first."""
    from penstock.documents.layout.text_columns import stacks
    from penstock.documents.layout.text_layer import assign, leftover, region_of

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
    from penstock.documents.layout.corrections import unseen_table
    from penstock.documents.layout.text_layer import assign, region_of

    box = unseen_table([mark.box for mark in group])
    if box is None:
        return [(region_of(group), group)]
    [cells], rest = assign(group, [box])
    table = replace(region_of(cells), label="table")
    return [(table, cells), *([(region_of(rest), rest)] if rest else [])]


def with_lines(region: Region, words: Sequence[Word], read: Sequence[TextLine]) -> Region:
    """The layer's and the engines' lines together, with who read them and how surely."""
    from penstock.documents.layout.text_layer import lines_from

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
    from penstock.documents.layout.corrections import is_prose
    from penstock.documents.layout.paragraph_breaks import paragraphs
    from penstock.documents.layout.paragraphs import join_lines

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
