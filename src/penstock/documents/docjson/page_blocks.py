"""One page of a run as DocJSON blocks, before anything is known of its neighbours."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass

from penstock.box import Box
from penstock.documents.docjson.captions import link
from penstock.documents.docjson.categories import category_of, role_of, visual_category
from penstock.documents.docjson.model import (
    Attempt,
    BBox,
    Block,
    DocAsset,
    DocPage,
    PageStatus,
    Quality,
    Relation,
    Table,
)
from penstock.documents.docjson.table import read_table, words_of
from penstock.documents.grounding.grid import GRID, clamped
from penstock.documents.headings.numbers import numbering
from penstock.documents.layout.labels import CAPTION
from penstock.page import Page
from penstock.region import FORMULA_LABELS, HEADING_LABELS, MARGIN_LABELS, Region

BOX_ISSUES = frozenset({
    "unit_box", "pixel_box", "off_grid", "swapped_corners", "no_area", "partial_box", "no_box",
    "unclosed_det",
})  # fmt: skip
MAX_CAPTION = 200  # characters
_ONLY_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,3}){0,4}\.?")
_HASHES = re.compile(r"\s(#{1,6})$")


@dataclass(slots=True)
class PageBlocks:
    """A page, its blocks in reading order, and what links them."""

    page: DocPage
    blocks: list[Block]
    relations: list[Relation]
    assets: list[DocAsset]
    keys: dict[str, str]  # block id -> the key of its enrichment
    heights: dict[str, float]  # heading id -> height of its lines
    hashes: dict[str, int]  # heading id -> the model's own depth


def page_blocks(item: Page, doc_index: int, has_title: bool) -> PageBlocks:
    """Returns the page's blocks. `doc_index` is the first one's; `has_title`: a title was seen before."""
    regions = sorted(item.regions, key=lambda region: region.index)
    made = PageBlocks(_page(item, regions), [], [], [], {}, {}, {})
    for order, region in enumerate(regions):
        is_title = region.label == "doc_title" and not has_title
        has_title = has_title or is_title
        block = _block(region, item, order, doc_index + order, is_title)
        made.blocks.append(block)
        made.keys[block.id] = block_key(item.id, region)
        if region.label in HEADING_LABELS:
            made.heights[block.id] = _line_height(region)
            made.hashes[block.id] = _hashes(region)
        if region.crop_link:
            made.assets.append(_asset(block, region.crop_link))
    _number_headings(made.blocks)
    made.relations = link(made.blocks)
    _sort_visuals(made.blocks)
    return made


def block_key(page_id: str, region: Region) -> str:
    """Names a block's enrichment: another content is another key, so nothing stale is ever read."""
    said = f"{region.label}\0{region.content or ''}\0{region.crop_path or ''}"
    return f"{page_id}/{region.index:04d}/{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:12]}"


def _page(item: Page, regions: list[Region]) -> DocPage:
    failure = item.failure or item.shortfall
    status: PageStatus = "failed" if item.failure else "partial" if failure else "ok"
    attempts = [
        Attempt(n=number, **{**asdict(attempt), "issues": list(attempt.issues)})
        for number, attempt in enumerate(item.attempts, 1)
    ]
    sure = [region.confidence for region in regions if region.confidence is not None]
    return DocPage(
        page_no=item.part + 1,
        page_id=item.id,
        locator=str(item.locator),
        width_px=item.width,
        height_px=item.height,
        dpi=item.dpi,
        rotation=item.rotation,
        flattened=item.flattened,
        status=status,
        reason=f"{failure.message} {failure.advice}".strip() if failure else "",
        attempts=attempts,
        raw_output_path=item.raw_answer.path if item.raw_answer else "",
        quality=Quality(
            box_issues=sum(issue in BOX_ISSUES for issue in (attempts[-1].issues if attempts else ())),
            unlabelled_chars=sum(len(r.content or "") for r in regions if r.native_label == "unlabelled"),
            failed_blocks=sum(region.failure is not None for region in regions),
            mean_confidence=round(sum(sure) / len(sure), 4) if sure else None,
        ),
    )


def _block(region: Region, item: Page, order: int, doc_index: int, is_title: bool) -> Block:
    text = (region.content or "").strip()
    role = role_of(region.label)
    if role in ("", "reference") and _is_caption(region.label, text):
        role = "caption"
    table = _table(region, text, item) if region.label == "table" and text else None
    return Block(
        id=f"p{item.part + 1:04d}-b{order:04d}",
        locator=str(item.locator.at_region(region.index)),
        doc_index=doc_index,
        page_no=item.part + 1,
        order=order,
        category=category_of(region.label, is_title),
        role=role,
        native_label=region.native_label.partition(" ")[0] or region.label,
        label=region.label,
        layer="furniture" if region.label in MARGIN_LABELS else "body",
        bbox=_bbox(region.box, item),
        text=text if table is None else words_of(table),
        text_format="latex" if region.label in FORMULA_LABELS and text else "plain",
        confidence=None if region.confidence is None else round(region.confidence, 4),
        reader=region.reader,
        issues=[part for part in (region.note, region.failure.message if region.failure else "") if part],
        asset_id=_asset_id(region.crop_path) if region.crop_path else "",
        table=table,
    )


def _is_caption(label: str, text: str) -> bool:
    """Returns whether words that were labelled as text are a caption by their number."""
    return (
        label in ("text", "reference_content", "reference")
        and len(text) <= MAX_CAPTION
        and CAPTION.match(text) is not None
        and not text.endswith("다.")
    )


def _table(region: Region, text: str, item: Page) -> Table:
    table = read_table(text)
    places = {(place.row, place.column): place for place in region.cells}
    home = str(item.locator.at_region(region.index))
    for cell in table.cells:
        cell.locator = f"{home}/c{cell.r}.{cell.c}"
        if (place := places.get((cell.r, cell.c))) is not None:
            cell.bbox = _bbox(place.box, item)
            cell.confidence = None if place.confidence is None else round(place.confidence, 4)
    return table


def _bbox(box: Box, item: Page) -> BBox:
    x0, y0, x1, y1 = box
    across, down = GRID / (item.width or 1), GRID / (item.height or 1)
    norm = (clamped(x0 * across), clamped(y0 * down), clamped(x1 * across), clamped(y1 * down))
    return BBox(norm999=norm, px=(round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1)))


def _asset_id(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _asset(block: Block, link: str) -> DocAsset:
    return DocAsset(id=block.asset_id, block_id=block.id, path=link, sha256_24=block.asset_id)


def _line_height(region: Region) -> float:
    if region.lines:
        return max(line.box[3] - line.box[1] for line in region.lines)
    return region.box[3] - region.box[1] if len(region.content or "") < 40 else 0.0


def _hashes(region: Region) -> int:
    """Returns a heading's depth by the model; a grounded recipe keeps it behind the native label."""
    found = _HASHES.search(region.native_label)
    return len(found[1]) if found else 0


def _number_headings(blocks: list[Block]) -> None:
    """Takes a heading's number from its text, or from a lone number on its row."""
    for place, block in enumerate(blocks):
        if block.category not in ("text_header", "text_section"):
            continue
        before = blocks[place - 1] if place else None
        if before is not None and _ONLY_NUMBER.fullmatch(before.text) and _one_row(before, block):
            block.text = f"{before.text} {block.text}"
            block.issues.append(f"number taken from {before.id}")
        block.numbering = numbering(block.text)[0]


def _one_row(left: Block, right: Block) -> bool:
    a, b = left.bbox.norm999, right.bbox.norm999
    return a[2] <= b[0] and min(a[3], b[3]) - max(a[1], b[1]) > 0.5 * (b[3] - b[1])


def _sort_visuals(blocks: list[Block]) -> None:
    texts = {block.id: block.text for block in blocks}
    for block in blocks:
        if block.category == "complex_image" and block.layer == "body":
            captions = [texts[caption] for caption in block.caption_ids]
            block.category, block.category_source = visual_category(captions, block.text)
