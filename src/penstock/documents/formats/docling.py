"""Writes a document as docling JSON, which `docling-core` loads as a DoclingDocument.

Made by hand from the published format, so that no one needs docling to write it. Boxes are in pixels of
the page's picture with the origin at its top left; captions are children of what they describe.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from penstock.documents.docjson.assemble import AssembledPage, Assembler
from penstock.documents.docjson.model import Block, Cell, DocPage, Pixels
from penstock.documents.docjson.spool import Spool, spools
from penstock.documents.docjson.table import made_of
from penstock.page import Page

VERSION = "1.5.0"  # of the format: later readers take it, and nothing we write is newer
_LISTS = ("texts", "pictures", "tables")
_ROLES = {
    "caption": "caption",
    "footnote": "footnote",
    "formula": "formula",
    "reference": "reference",
}


def write(file: IO[bytes], assembler: Assembler, items: Iterable[Page], folder: Path | None = None) -> None:
    """Writes the document of `items` while they stream by. Long lists wait in `folder`."""
    with spools(_LISTS, folder) as lists:
        writer = _DoclingWriter(lists)
        for item in items:
            writer.add(assembler.page(item))
        assembler.finish()
        writer.lay_out(file, assembler)


class _DoclingWriter:
    def __init__(self, spools: dict[str, Spool]) -> None:
        self._spools = spools
        self._counts = dict.fromkeys(_LISTS, 0)
        self._body: list[dict[str, str]] = []
        self._pages: dict[str, Any] = {}

    def add(self, piece: AssembledPage) -> None:
        page = piece.page
        self._pages[str(page.page_no)] = {
            "size": {"width": float(page.width_px), "height": float(page.height_px)},
            "page_no": page.page_no,
        }
        refs = self._refs(piece.blocks)
        owners = {
            id: refs[block.id] for block in piece.blocks for id in (*block.caption_ids, *block.footnote_ids)
        }
        for block in piece.blocks:
            parent = owners.get(block.id, "#/body")
            row = self._row(block, page, refs, parent)
            line = json.dumps(row, ensure_ascii=False).encode("utf-8", "replace")
            self._spools[refs[block.id].split("/")[1]].add([line])
            if parent == "#/body":
                self._body.append({"$ref": refs[block.id]})

    def lay_out(self, file: IO[bytes], assembler: Assembler) -> None:
        head = assembler.head()
        origin = {
            "mimetype": head.origin.mimetype if "*" not in head.origin.mimetype else "image/png",
            "binary_hash": zlib.crc32(head.doc_id.encode()),
            "filename": head.name.rpartition("/")[2] or head.name,
        }
        start: dict[str, Any] = {
            "schema_name": "DoclingDocument",
            "version": VERSION,
            "name": head.name,
            "origin": origin if origin["mimetype"] else None,
            "furniture": _root("furniture", []),
            "body": _root("body", self._body),
            "groups": [],
            "key_value_items": [],
            "form_items": [],
            "pages": self._pages,
        }
        text = json.dumps(start, ensure_ascii=False).encode("utf-8", "replace")
        file.write(text[:-1])
        for name, spool in self._spools.items():
            file.write(f',\n"{name}":[\n'.encode())
            spool.pour(file)
            file.write(b"]")
        file.write(b"}\n")

    def _refs(self, blocks: Iterable[Block]) -> dict[str, str]:
        refs = {}
        for block in blocks:
            name = _list_of(block)
            refs[block.id] = f"#/{name}/{self._counts[name]}"
            self._counts[name] += 1
        return refs

    def _row(self, block: Block, page: DocPage, refs: dict[str, str], parent: str) -> dict[str, Any]:
        captions = [{"$ref": refs[id]} for id in block.caption_ids]
        notes = [{"$ref": refs[id]} for id in block.footnote_ids]
        row: dict[str, Any] = {
            "self_ref": refs[block.id],
            "parent": {"$ref": parent},
            "children": captions + notes,
            "content_layer": block.layer,
            "label": _label(block),
            "prov": [_prov(block, page)],
        }
        if block.category == "text_section":
            row["level"] = max(1, block.level or 1)
        if _list_of(block) == "texts":
            return row | {"orig": block.text, "text": block.text}
        row |= {"captions": captions, "footnotes": notes, "references": []}
        return row | ({"data": _table(block)} if block.category == "table" else {"annotations": _said(block)})


def _root(name: str, children: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "self_ref": f"#/{name}",
        "children": children,
        "content_layer": name,
        "name": "_root_",
        "label": "unspecified",
    }


def _list_of(block: Block) -> str:
    if block.category == "table":
        return "tables"
    return "pictures" if block.category in ("graph", "diagram", "complex_image") else "texts"


def _label(block: Block) -> str:
    if block.category == "table":
        return "table"
    if _list_of(block) == "pictures":
        return "picture"
    if block.layer == "furniture":
        return "page_header" if block.label == "header" else "page_footer"
    if block.category == "text_header":
        return "title"
    if block.category == "text_section":
        return "section_header"
    return _ROLES.get(block.role, "text")


def _prov(block: Block, page: DocPage) -> dict[str, Any]:
    place = {"page_no": page.page_no, "bbox": _box(block.bbox.px), "charspan": [0, len(block.text)]}
    return place | _known(block.locator, block.confidence)


def _known(locator: str, confidence: float | None) -> dict[str, Any]:
    """What docling has no name for: it passes by what it does not know in a place and in a cell."""
    found = {"locator": locator} if locator else {}
    return found if confidence is None else {**found, "confidence": confidence}


def _box(box: Pixels) -> dict[str, Any]:
    left, top, right, bottom = box
    return {"l": left, "t": top, "r": right, "b": bottom, "coord_origin": "TOPLEFT"}


def _table(block: Block) -> dict[str, Any]:
    table = block.table
    if table is None:
        return {"table_cells": [], "num_rows": 0, "num_cols": 0}
    if not table.cells:  # not one plain table: its words in one cell
        table = made_of([Cell(r=0, c=0, text=block.text)])
    cells = [
        {
            **({"bbox": _box(cell.bbox.px)} if cell.bbox else {}),
            "row_span": cell.rs,
            "col_span": cell.cs,
            "start_row_offset_idx": cell.r,
            "end_row_offset_idx": cell.r + cell.rs,
            "start_col_offset_idx": cell.c,
            "end_col_offset_idx": cell.c + cell.cs,
            "text": cell.text,
            "column_header": cell.is_header,
            "row_header": False,
            "row_section": False,
            **_known(cell.locator, cell.confidence),
        }
        for cell in table.cells
    ]
    return {"table_cells": cells, "num_rows": table.num_rows, "num_cols": table.num_cols}


def _said(block: Block) -> list[dict[str, str]]:
    """Summaries of pass 2 as docling's description annotations."""
    enrichment = block.enrichment
    if enrichment is None:
        return []
    summaries = [text for text in (enrichment.summary.ko, enrichment.summary.en) if text]
    return [
        {"kind": "description", "text": text, "provenance": f"penstock {enrichment.method}"}
        for text in summaries
    ]
