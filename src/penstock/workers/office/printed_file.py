"""A file's own blocks on its printed pages: the words of the file, in the boxes of the page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from penstock.box import holds_middle
from penstock.choices import Unprinted
from penstock.documents.formats.markdown import page_markdown
from penstock.documents.layout.relabel import relabelled
from penstock.documents.layout.rules import regions_by_rules
from penstock.engines.office.blocks import StructureBlock
from penstock.engines.office.open import open_structure
from penstock.engines.pdf.file import PdfFile
from penstock.page import Page
from penstock.region import NOWHERE, PICTURE_LABELS, CellPlace, Region, TableCell, TextLayer, Word
from penstock.sources import formats
from penstock.workers.office.placing import (
    FORMULA,
    PageLetters,
    TextPlace,
    box_of,
    places_of,
    texts_of,
    with_formula_words,
)
from penstock.workers.office.printed_words import printed_words
from penstock.workers.office.table_boxes import table_box
from penstock.workers.office.table_heads import head_of, words_of_head
from penstock.workers.office.unit_pages import region_of, shown_blocks

DPI = 72.0  # of the layers that are aligned: words have the same order at every size
MAX_SIDE = 20_000
NO_PLACE = "It has no place on the printed pages."


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block, or the part of one that stands on a page. Without words it has no place there."""

    block: StructureBlock
    words: tuple[int, ...] = ()
    cells: tuple[tuple[int, ...], ...] = ()  # the words of each cell
    picture: int = -1  # its place among the page's pictures
    head: tuple[TableCell, ...] = ()  # of a table that goes on: the rows that its page may show again


@dataclass(slots=True)
class PrintedFile:
    """What stands on each page. Close it, as a file."""

    pages: list[list[PlacedBlock]] = field(default_factory=list)

    def close(self) -> None:
        self.pages = []

    def page(self, page: Page, layer: TextLayer) -> Page:
        """Returns the page with its regions and its Markdown; later stages pass it by."""
        placed = self.pages[page.part] if page.part < len(self.pages) else []
        taken = {word for one in placed for word in one.words}
        placed = [with_formula(with_head(one, layer, taken), layer, taken) for one in placed]
        taken = {word for one in placed for word in one.words}
        regions = [_region(one, layer, page) for one in placed]
        left = tuple(word for number, word in enumerate(layer.words) if number not in taken)
        others = _others(left, regions, page)
        ordered = _in_order(regions, others)
        numbered = tuple(replace(region, index=index) for index, region in enumerate(ordered))
        return replace(page, regions=numbered, markdown=page_markdown(numbered), is_read=True)


def printed_file(pdf: str, source: str, unprinted: Unprinted = "keep") -> PrintedFile:
    """Finds the place of every block of the source on the pages of its PDF. Raises BadInput."""
    path = Path(source)
    with path.open("rb") as file:
        kind = formats.sniff(file.read(formats.HEAD_BYTES), path.suffix.lower()) or ""
    with PdfFile(pdf) as pages, closing(open_structure(source, kind)) as structure:
        units = (structure.unit(number).blocks for number in range(structure.num_units))
        return _matched(pages, [block for blocks in units for block in shown_blocks(blocks, unprinted)])


def _matched(pdf: PdfFile, blocks: list[StructureBlock]) -> PrintedFile:
    letters, pictures = PageLetters(), []
    for index in range(pdf.num_pages):
        layer = pdf.layer(index, pdf.size(index, dpi=DPI, max_side=MAX_SIDE))
        letters.add_page(layer)
        pictures.append(len(layer.pictures))
    texts = list(texts_of(blocks))
    found: list[dict[int, list[TextPlace]]] = [{} for _ in blocks]
    for (number, cell, _), parts in zip(texts, places_of([text for *_, text in texts], letters), strict=True):
        found[number][cell] = parts
    return PrintedFile(_on_pages(blocks, found, pictures))


def _on_pages(
    blocks: Sequence[StructureBlock], found: Sequence[dict[int, list[TextPlace]]], pictures: Sequence[int]
) -> list[list[PlacedBlock]]:
    """Returns what stands on each page, in the order of the file."""
    pages: list[list[PlacedBlock]] = [[] for _ in pictures]
    if not pages:
        return pages
    places = [list(_placed(block, parts)) for block, parts in zip(blocks, found, strict=True)]
    shown = _placed_pictures(blocks, places, pictures)
    last = 0
    for number, (block, parts) in enumerate(zip(blocks, places, strict=True)):
        if number in shown:
            last, picture = shown[number]
            pages[last].append(PlacedBlock(block, picture=picture))
        elif not parts:
            pages[last].append(PlacedBlock(replace(block, note=block.note or NO_PLACE)))
        for page, part in parts:
            pages[page].append(part)
            last = page
    return pages


def _placed(block: StructureBlock, parts: dict[int, list[TextPlace]]) -> Iterator[tuple[int, PlacedBlock]]:
    if block.cells:
        yield from _placed_table(block, parts)
        return
    for part in parts.get(-1, ()):
        text = block.text[part.start : part.end].strip()
        yield part.page, PlacedBlock(replace(block, text=text), part.words)


def _placed_table(
    block: StructureBlock, parts: dict[int, list[TextPlace]]
) -> Iterator[tuple[int, PlacedBlock]]:
    """Yields the table, cut where the pages are: of a page, the rows with words on it, and these words."""
    pages = sorted({part.page for each in parts.values() for part in each})
    rows = {page: _rows_on(block, parts, page) for page in pages}
    head, before = head_of(block.cells), 0
    for page in pages:
        first, last = rows[page]
        first = min(first, max(before, first)) if page != pages[0] else 0
        if page == pages[-1]:
            last = max(last, *(cell.row + cell.row_span for cell in block.cells))
        cells, words = _cells_on(block, parts, page, first, last)
        before = last
        all_words = tuple(word for each in words for word in each)
        yield page, PlacedBlock(replace(block, cells=cells), all_words, words, head=head if first else ())


def _rows_on(block: StructureBlock, parts: dict[int, list[TextPlace]], page: int) -> tuple[int, int]:
    rows = [
        block.cells[cell].row
        for cell, each in parts.items()
        for part in each
        if cell >= 0 and part.page == page
    ]
    return min(rows), max(rows) + 1


def _cells_on(
    block: StructureBlock, parts: dict[int, list[TextPlace]], page: int, first: int, last: int
) -> tuple[tuple[TableCell, ...], tuple[tuple[int, ...], ...]]:
    """Returns the cells of the rows from `first` to `last`, with what they say on the page."""
    cells: list[TableCell] = []
    words: list[tuple[int, ...]] = []
    for number, cell in enumerate(block.cells):
        top, bottom = max(cell.row, first), min(cell.row + cell.row_span, last)
        if top >= bottom:
            continue
        here = [part for part in parts.get(number, ()) if part.page == page]
        lost = not parts.get(number) and cell.row >= first  # no place anywhere: it stands with its row
        text = cell.text if lost else "".join(cell.text[part.start : part.end] for part in here).strip()
        inner = cell.inner if text == cell.text else ()  # a part of it is lines
        cells.append(cell._replace(row=top - first, row_span=bottom - top, text=text, inner=inner))
        words.append(tuple(word for part in here for word in part.words))
    return tuple(cells), tuple(words)


def with_formula(placed: PlacedBlock, layer: TextLayer, taken: Collection[int]) -> PlacedBlock:
    """Returns a block with a formula with the letters that its page sets above and below the line."""
    text = placed.block.text
    if not placed.words or printed_words(text, placed.block.label == FORMULA) == text:
        return placed
    return replace(placed, words=with_formula_words(placed.words, layer, taken))


def with_head(placed: PlacedBlock, layer: TextLayer, taken: Collection[int]) -> PlacedBlock:
    """Returns a table that goes on with its heading rows, where its page shows them again."""
    if not placed.head or not placed.words:
        return placed
    below = min(layer.words[word].box[1] for word in placed.words)
    claimed = words_of_head(placed.head, layer.words, below, taken)
    if claimed is None:
        return placed
    high = max(cell.row + cell.row_span for cell in placed.head)
    moved = tuple(cell._replace(row=cell.row + high) for cell in placed.block.cells)
    block = replace(placed.block, cells=(*placed.head, *moved))
    words = tuple(word for each in claimed for word in each)
    return replace(placed, block=block, words=(*words, *placed.words), cells=(*claimed, *placed.cells))


def _placed_pictures(
    blocks: Sequence[StructureBlock],
    places: Sequence[Sequence[tuple[int, PlacedBlock]]],
    pictures: Sequence[int],
) -> dict[int, tuple[int, int]]:
    """Returns the page and the picture on it for pictures of the file: in order, between the words around."""
    ends: list[int] = []  # the page of the first words after each block
    after = len(pictures) - 1
    for parts in reversed(places):
        ends.append(after)
        after = min([after, *(page for page, _ in parts)])
    ends.reverse()
    shown: dict[int, tuple[int, int]] = {}
    used = [0] * len(pictures)
    before = 0
    for number, (block, parts) in enumerate(zip(blocks, places, strict=True)):
        if block.picture and block.label in PICTURE_LABELS and not parts:
            page = next((p for p in range(before, ends[number] + 1) if used[p] < pictures[p]), None)
            if page is not None:
                shown[number] = (page, used[page])
                used[page] += 1
                before = page
        before = max([before, *(page for page, _ in parts)])
    return shown


def _region(placed: PlacedBlock, layer: TextLayer, page: Page) -> Region:
    whole = (0.0, 0.0, float(page.width), float(page.height))
    region = region_of(placed.block, 0, whole)
    if placed.picture >= 0:
        at = layer.pictures[placed.picture : placed.picture + 1]
        return replace(region, box=at[0] if at else whole)
    if not placed.words:
        return region
    cells = tuple(
        CellPlace(cell.row, cell.column, box_of(layer.words, words) if words else NOWHERE)
        for cell, words in zip(placed.block.cells, placed.cells, strict=True)
        if words
    )
    if not placed.block.cells:
        return replace(region, box=box_of(layer.words, placed.words))
    return replace(region, box=table_box(placed.block.cells, placed.cells, layer), cells=cells)


def _others(words: tuple[Word, ...], regions: Sequence[Region], page: Page) -> list[Region]:
    """Returns what only the page says: running titles, page numbers, numbers of lists and fields."""
    boxes = [region.box for region in regions if not region.note]
    free = tuple(word for word in words if not any(holds_middle(box, word.box) for box in boxes))
    found = regions_by_rules(TextLayer(words=free), page.width, page.height) if free else []
    return list(relabelled(tuple(found), page.height))


def _in_order(regions: Sequence[Region], others: Sequence[Region]) -> list[Region]:
    """Returns the file's own order, each of the others before the first region that begins below it."""
    ordered = list(regions)
    for other in others:
        below = (
            place
            for place, region in enumerate(ordered)
            if region.note != NO_PLACE and region.box[1] >= other.box[3] - 1
        )
        ordered.insert(next(below, len(ordered)), other)
    return ordered
