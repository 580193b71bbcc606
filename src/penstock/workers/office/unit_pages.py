"""Makes pages of what files say themselves: no picture, no layout, no OCR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.box import Box
from penstock.choices import Unprinted
from penstock.documents.formats.markdown import page_markdown
from penstock.documents.tables.html import to_html
from penstock.engines.image import decode
from penstock.engines.office.blocks import (
    HIDDEN_CELLS,
    HIDDEN_TEXT,
    SHOWN_CELLS,
    STORED,
    StructureBlock,
    StructureUnit,
)
from penstock.errors import BadInput
from penstock.page import Page
from penstock.region import PICTURE_LABELS, STRUCTURE, Asset, Link, Region, asset
from penstock.sources import formats

CROPS = "crops"
HIDDEN_UNITS = frozenset({"hidden_sheet", "hidden_slide"})
# marks of blocks
UNPRINTED = HIDDEN_UNITS | {
    "comment", "deleted", HIDDEN_TEXT, "speaker_notes", "hidden_rows", HIDDEN_CELLS, STORED
}  # fmt: skip
KEPT_AS_THEY_ARE = {"png": "png", "jpeg": "jpg"}
MAX_CROP_PIXELS = 50_000_000


def page_of_unit(page: Page, unit: StructureUnit, unprinted: Unprinted = "keep") -> Page:
    """Returns the page with its regions and its Markdown; later stages pass it by."""
    blocks = shown_blocks(unit.blocks, unprinted)
    # a file without pages gives no place: the region is somewhere in its unit
    whole = (0.0, 0.0, float(unit.width), float(unit.height))
    regions = tuple(region_of(block, index, block.box or whole) for index, block in enumerate(blocks))
    width, height = max(1, round(unit.width)), max(1, round(unit.height))
    return replace(
        page, width=width, height=height, regions=regions, markdown=page_markdown(regions), is_read=True
    )


def shown_blocks(blocks: Sequence[StructureBlock], unprinted: Unprinted) -> Sequence[StructureBlock]:
    """Returns the blocks: with "drop" those that are shown, with "all" also what cells store."""
    if unprinted != "drop":
        left_out = {SHOWN_CELLS} if unprinted == "all" else {SHOWN_CELLS, STORED}
        return [block for block in blocks if block.mark not in left_out]
    if any(block.mark in HIDDEN_UNITS for block in blocks):  # all of the sheet or slide
        return ()
    return [block for block in blocks if block.mark not in UNPRINTED]


def region_of(block: StructureBlock, index: int, box: Box) -> Region:
    """Returns a block as a region of a page."""
    crop, note = _crop(block)
    return Region(
        label=block.label,
        native_label=_native(block),
        box=box,
        index=index,
        content=_content(block),
        reader=STRUCTURE,
        links=tuple(Link(text=link.text, address=link.address) for link in block.links),
        crop=crop,
        note=note,
    )


def _native(block: StructureBlock) -> str:
    """Returns what the file calls it; behind a heading its level as hashes, as models write it."""
    if block.level:
        return f"{block.mark or 'heading'} {'#' * min(block.level, 6)}"
    return block.mark


def _content(block: StructureBlock) -> str | None:
    if not block.cells:
        return block.text or None
    return to_html(block.cells)


def _crop(block: StructureBlock) -> tuple[Asset | None, str]:
    """Returns a picture as a file, and why there is none."""
    data = block.picture
    if not data or block.label not in PICTURE_LABELS:
        return None, block.note
    kind = formats.sniff_picture(data[:32])
    try:
        if kind in KEPT_AS_THEY_ARE:
            decode.size(data, MAX_CROP_PIXELS)
            return asset(CROPS, data, KEPT_AS_THEY_ARE[kind]), block.note
        if kind is not None:
            encoded = decode.as_png(decode.decode(data, MAX_CROP_PIXELS))
            return asset(CROPS, encoded.data, "png"), block.note
    except BadInput as exc:
        return None, f"The picture cannot be read: {exc.message}"
    return None, "The picture is of a kind that is not shown."
