"""What of a run can be found, as rows for its index: pages, their regions, the chunks of its documents.

Documents are put together while their pages are read: a region knows the section it stands in, a chunk may
run over a page break, and a table or picture brings what pass 2 found out, where it was run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from penstock.documents.docjson.assemble import AssembledPage, Assembler
from penstock.documents.docjson.model import Chunk
from penstock.documents.docjson.page_blocks import block_key
from penstock.documents.pages.whole_document import corrected_pages
from penstock.exports import enrichments
from penstock.exports.page_rows import page_text
from penstock.exports.pages import DocumentRows
from penstock.page import Page
from penstock.region import MARGIN_LABELS
from penstock.retrieval import vectors
from penstock.retrieval.embedded_by import embedded_by
from penstock.retrieval.to_embed import digest_of, page_entries, plain_text, to_embed
from penstock.store.out import Out

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEP = " > "  # between a section and what it holds


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionRow:
    """One region as it is found. `box` is on the 0..1000 grid of its page."""

    index: int
    label: str
    box: tuple[int, int, int, int]
    text: str
    section: str = ""
    crop: str | None = None
    vector: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """One chunk as it is found: the pages it stands on, and its place where it is all of one region."""

    id: str
    document: str
    pages: tuple[int, ...]  # from 1
    page_ids: tuple[str, ...]
    label: str
    text: str
    section: str = ""
    keywords: str = ""
    index: int | None = None
    box: tuple[int, ...] | None = None
    crop: str | None = None

    @property
    def digest(self) -> str:
        place = f"{self.label} {self.index} {self.box} {self.crop}"
        return digest_of([*self.page_ids, place, self.text, self.section, self.keywords])


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """One page as it is found, with its regions and the chunks that end on it."""

    id: str
    document: str
    page: int  # from 1
    text: str
    digest: str
    text_vector: NDArray[Any] | None = None
    image_vector: NDArray[Any] | None = None
    regions: tuple[RegionRow, ...] = ()
    chunks: tuple[ChunkRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Widths:
    """How many numbers each kind of vector has, 0 for none, and the fingerprint of what made them."""

    text: int = 0
    image: int = 0
    region: int = 0
    made_by: str = ""


def rows_of(out: Out) -> tuple[Widths, Iterator[PageRow]]:
    """Returns the pages of OUT with their vectors, which are checked against ocr_results.jsonl first."""
    out.need_rows()
    tables = {name: vectors.read(out, name) for name in (vectors.TEXTS, vectors.IMAGES, vectors.REGIONS)}
    width = {name: table.array.shape[1] if table else 0 for name, table in tables.items()}
    made_by = str(embedded_by(out.path).get("fingerprint", ""))
    widths = Widths(width[vectors.TEXTS], width[vectors.IMAGES], width[vectors.REGIONS], made_by)
    return widths, _rows(out, {name: _Vectors(table) for name, table in tables.items()})


class _Vectors:
    """Vectors by id; none where there is no table."""

    def __init__(self, table: vectors.VectorTable | None) -> None:
        self._array = table.array if table else None
        self._place = {id: row for row, id in enumerate(table.ids) if table.valid[row]} if table else {}

    def get(self, id: str) -> NDArray[Any] | None:
        place = self._place.get(id)
        return None if place is None or self._array is None else self._array[place]


def _rows(out: Out, found: dict[str, _Vectors]) -> Iterator[PageRow]:
    ledger, pass_2 = out.pages, enrichments.lookup(out)
    entries = (entry for entry in page_entries(out) if not entry.failed)
    for document, group in groupby(entries, key=lambda entry: entry.document):
        assembled = _IndexedDocument(Assembler(document, pass_2), found)
        yield from assembled.rows(corrected_pages(DocumentRows(list(group), ledger.item)))


_Place = tuple[int, int, str, tuple[int, ...], str | None]  # of a region: page, index, label, box, crop


@dataclass(slots=True)
class _IndexedDocument:
    """One document on its way into the index. Holds a page, and of the others what is where."""

    assembler: Assembler
    vectors: dict[str, _Vectors]
    _sections: dict[str, str] = field(default_factory=dict)
    _page_ids: dict[int, str] = field(default_factory=dict)
    _places: dict[str, _Place] = field(default_factory=dict)  # by block
    _left: dict[int, ChunkRow] = field(default_factory=dict)  # pages that no chunk has spoken for yet

    def rows(self, pages: Iterable[Page]) -> Iterator[PageRow]:
        last: PageRow | None = None
        for page in pages:
            if last is not None:
                yield last
            last = self._page(page, self.assembler.page(page))
        if last is not None:
            tail = list(map(self._chunk, self.assembler.finish().chunks))
            yield replace(last, chunks=(*last.chunks, *tail, *self._left.values()))

    def _page(self, page: Page, piece: AssembledPage) -> PageRow:
        for section in self.assembler.sections[len(self._sections) :]:
            self._sections[section.id] = STEP.join(section.path)
        self._page_ids[page.part + 1] = page.id
        regions = tuple(self._region_rows(page, piece))
        said = [enrichments.words(block.enrichment) for block in piece.blocks if block.enrichment]
        if regions:
            self._left[page.part + 1] = self._whole(page, regions)
        shown = [
            f"{r.index} {r.label} {r.box} {r.crop} {r.section} {r.vector is not None} {r.text}"
            for r in regions
        ]
        found = [self.vectors[name].get(page.id) for name in (vectors.TEXTS, vectors.IMAGES)]
        return PageRow(
            id=page.id,
            document=page.document,
            page=page.part + 1,
            text="\n".join([page_text(page), *said]),
            # a vector that failed at first may be there now
            digest=digest_of([to_embed(page).digest, *(str(vector is not None) for vector in found), *shown]),
            text_vector=found[0],
            image_vector=found[1],
            regions=regions,
            chunks=tuple(map(self._chunk, piece.chunks)),
        )

    def _region_rows(self, page: Page, piece: AssembledPage) -> Iterator[RegionRow]:
        by_key = {block_key(page.id, region): region for region in page.regions}
        for block in piece.blocks:
            region = by_key[piece.keys[block.id]]
            said = enrichments.words(block.enrichment) if block.enrichment else ""
            text = "\n".join(part for part in (plain_text(region.content or ""), said) if part)
            left, top, right, bottom = box = region.bbox_2d(page.width, page.height)
            place = (page.part + 1, region.index, region.label, tuple(box), region.crop_path)
            self._places[block.id] = place
            if region.label in MARGIN_LABELS or not (text.strip() or region.crop_path):
                continue
            yield RegionRow(
                index=region.index,
                label=region.label,
                box=(left, top, right, bottom),
                text=text,
                section=self._sections.get(block.section_id, ""),
                crop=region.crop_path,
                vector=self.vectors[vectors.REGIONS].get(f"{page.id}#{region.index}"),
            )

    def _whole(self, page: Page, regions: Sequence[RegionRow]) -> ChunkRow:
        """Returns a page of headings alone as a chunk: else other pages would outrank it among chunks."""
        return ChunkRow(
            id=f"{self.assembler.name}#p{page.part + 1:05d}",
            document=self.assembler.name,
            pages=(page.part + 1,),
            page_ids=(page.id,),
            label="text",
            text="\n".join(region.text for region in regions),
            section=regions[-1].section,
        )

    def _chunk(self, chunk: Chunk) -> ChunkRow:
        places = [self._places[id] for id in chunk.block_ids]
        pages = tuple(dict.fromkeys(page for page, *_ in places))
        for page in pages:
            self._left.pop(page, None)
        row = ChunkRow(
            id=f"{self.assembler.name}#{chunk.id}",
            document=self.assembler.name,
            pages=pages,
            page_ids=tuple(self._page_ids[page] for page in pages),
            label="text",
            text=chunk.text,
            section=STEP.join(chunk.section_path),
            keywords=" ".join(chunk.keywords),
        )
        if len(places) > 1:
            return row
        [(_, index, label, box, crop)] = places
        return replace(row, index=index, label=label, box=box, crop=crop)
