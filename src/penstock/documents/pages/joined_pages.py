"""A document as one Markdown text without page marks: what a page break cut in two is whole again.

Paragraphs and tables are put together by the rules of DocJSON (docjson/page_breaks.py). Pages are written
as they come; only those that an open paragraph or table goes through are held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from penstock.documents.docjson.assemble import AssembledPage, Assembler
from penstock.documents.docjson.model import Join
from penstock.documents.docjson.page_breaks import is_continuation
from penstock.documents.docjson.table import table_html
from penstock.documents.formats.markdown import page_markdown, relink
from penstock.documents.pages.whole_document import WholeDocument
from penstock.documents.text.escape import comment
from penstock.page import Page
from penstock.region import Region


def joined_markdown(pages: Iterable[Page], whole: WholeDocument, root: str | None = "") -> Iterator[str]:
    """Yields the Markdown of one page after the other, each with a blank line behind it.

    A failed page is a comment at its place, and nothing is joined over it. `root` is that of `page_markdown`;
    with None there is nothing to link to, and pictures are words in brackets.

        "".join(joined_markdown(pages, WholeDocument.of(pages)))
    """
    assembler = Assembler("")
    held: list[_HeldPage] = []
    is_open = False  # whether a paragraph or table of the held pages goes on to the last of them
    for page in pages:
        corrected = whole.corrected(page)
        piece = assembler.page(corrected)
        held.append(_HeldPage.of(corrected, piece, whole.levels(corrected)))
        _put_together(held, piece.joins)
        if piece.joins:
            is_open = False
        elif any(relation.type == "continues" for relation in piece.relations):
            is_open = True
        if not is_open:
            yield from _written(held[:-1], root)
            del held[:-1]
    _put_together(held, assembler.finish().joins)
    yield from _written(held, root)


@dataclass(slots=True)
class _HeldPage:
    """A page that is not written yet: one of its regions may go on over the next page."""

    page: Page
    levels: Mapping[int, int]
    regions: dict[str, Region]  # by the block made of each
    captions: dict[str, list[str]]  # blocks that say "continued" of a block

    @classmethod
    def of(cls, page: Page, piece: AssembledPage, levels: Mapping[int, int]) -> _HeldPage:
        in_order = sorted(page.regions, key=lambda region: region.index)
        regions = {block.id: region for block, region in zip(piece.blocks, in_order, strict=True)}
        captions = {
            block.id: [id for id in block.caption_ids if is_continuation(regions[id].content or "")]
            for block in piece.blocks
        }
        return cls(page, levels, regions, captions)

    def drop(self, block: str) -> None:
        """Takes away a block that stands on an earlier page now, with the caption that says so."""
        for id in (block, *self.captions.get(block, ())):
            self.regions.pop(id, None)

    def markdown(self, root: str | None) -> str:
        failure = self.page.failure
        if failure is not None:
            return comment(f"page {self.page.number} failed in {failure.stage}: {failure.message}")
        regions = list(self.regions.values())
        text = page_markdown(regions, root=root or "", levels=self.levels)
        crops = (region.crop_link for region in regions if region.crop_link)
        return relink(text, crops, None) if root is None else text


def _written(held: Iterable[_HeldPage], root: str | None) -> Iterator[str]:
    texts = (page.markdown(root) for page in held)
    return (f"{text}\n\n" for text in texts if text)


def _put_together(held: Iterable[_HeldPage], joins: Iterable[Join]) -> None:
    """Gives the whole to the region that a join begins with, and takes away the others."""
    for join in joins:
        first, *others = join.block_ids
        for page in held:
            if first in page.regions:
                whole = join.text if join.table is None else table_html(join.table)
                page.regions[first] = replace(page.regions[first], content=whole)
            for block in others:
                page.drop(block)
