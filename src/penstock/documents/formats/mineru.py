"""Writes a document as MinerU's `content_list.json`: a flat list of items in reading order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from penstock.documents.docjson.assemble import Assembler
from penstock.documents.docjson.model import Block
from penstock.documents.docjson.table import table_html
from penstock.documents.grounding.grid import GRID
from penstock.page import Page

MARGINS = {"header": "header", "footer": "footer", "number": "page_number", "aside_text": "aside_text"}


def write(file: IO[bytes], assembler: Assembler, items: Iterable[Page], root: str = "") -> None:
    """`root` leads from the file to the folder crops are named from."""
    first = True
    for item in items:
        page = assembler.page(item)
        crops = {asset.block_id: root + asset.path for asset in page.assets}
        for row in page_rows(page.blocks, crops):
            file.write(b"[\n" if first else b",\n")
            file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
            first = False
    file.write(b"[]\n" if first else b"\n]\n")


def page_rows(blocks: Iterable[Block], crops: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """`crops` are the pictures of blocks, by the block's id."""
    known = {block.id: block for block in blocks}
    told = {id for block in known.values() for id in (*block.caption_ids, *block.footnote_ids)}
    for block in known.values():
        if block.id not in told:
            yield _row(block, known, crops.get(block.id, "")) | {
                "bbox": _box(block),
                "page_idx": block.page_no - 1,
                "locator": block.locator,
                **({} if block.confidence is None else {"confidence": block.confidence}),
            }


def _row(block: Block, known: dict[str, Block], crop: str) -> dict[str, Any]:
    captions = [known[id].text for id in block.caption_ids]
    notes = [known[id].text for id in block.footnote_ids]
    if block.layer == "furniture":
        return {"type": MARGINS.get(block.label, "aside_text"), "text": block.text}
    if block.category == "table":
        body = table_html(block.table) if block.table else ""
        return {
            "type": "table",
            "img_path": crop,
            "table_caption": captions,
            "table_footnote": notes,
            "table_body": body,
        }
    if block.category in ("graph", "diagram", "complex_image"):
        return {"type": "image", "img_path": crop, "image_caption": captions, "image_footnote": notes}
    if block.role == "formula" and block.text_format == "latex":
        return {"type": "equation", "img_path": crop, "text": block.text, "text_format": "latex"}
    row: dict[str, Any] = {"type": "text", "text": block.text}
    if block.category in ("text_header", "text_section"):
        row["text_level"] = 1 if block.category == "text_header" else 1 + (block.level or 1)
    return row


def _box(block: Block) -> list[int]:
    """0..1000 of the page, as MinerU writes it."""
    return [min(1000, round(value * 1000 / GRID)) for value in block.bbox.norm999]
