"""A page as programs read it: a line of ocr_results.jsonl, and the text an embedder reads."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from penstock.item import PictureItem
from penstock.page import Page
from penstock.region import PICTURE_LABELS, FormField, Region, Signals, on_grid

SIGNALS = tuple(field.name for field in fields(Signals))


def result_row(page: Page) -> dict[str, Any]:
    """Returns one line of ocr_results.jsonl."""
    row = {
        "page_id": page.id,
        "page_idx": page.part,
        "regions": [_region_row(region, page) for region in page.regions],
        "markdown": page.markdown,
        "image_crops": [_crop_row(region, page) for region in page.regions if _is_picture_crop(region)],
    }
    notes = {"flattened": page.flattened, "layer_fault": page.layer_fault, "layout": page.layout}
    choice = {"choice": asdict(page.choice)} if page.choice else {}
    form = {"form": [_form_row(field, page) for field in page.form]} if page.form else {}
    known = {name: text for name, text in notes.items() if text}
    return {**row, **form, **picture_row(page), **known, **choice}


def _form_row(field: FormField, page: Page) -> dict[str, Any]:
    box = on_grid(field.box, page.width, page.height)
    return {"name": field.name, "label": field.label, "text": field.text, "bbox_2d": box}


def picture_row(item: PictureItem) -> dict[str, Any]:
    """Returns what a row says of any page or photo: which it is, its size, and whether it could be read."""
    row = {
        "page_id": item.id,
        "page_idx": item.part,
        "locator": str(item.locator),
        "document": item.document,
        "width": item.width,
        "height": item.height,
        "rotation": item.rotation,
        "valid": item.failure is None,
    }
    return row if item.failure is None else {**row, "failure": asdict(item.failure)}


def page_text(item: Page) -> str:
    """Returns what an embedder reads: the contents in reading order, without layout."""
    return "\n".join(region.content for region in item.regions if region.content)


def _region_row(region: Region, item: Page) -> dict[str, Any]:
    home = str(item.locator.at_region(region.index))
    row: dict[str, Any] = {
        "index": region.index,
        "locator": home,
        "label": region.label,
        "bbox_2d": region.bbox_2d(item.width, item.height),
        "content": region.content,
        "native_label": region.native_label,
        "score": round(region.score, 4),
        "confidence": _rounded(region.confidence),
        "reader": region.reader,
    }
    if region.signals is not None:
        row["signals"] = signals_row(region.signals)
    if region.lines:
        row["lines"] = [
            {
                "locator": f"{home}/l{number}",
                "text": line.text,
                "bbox": [round(value, 1) for value in line.box],
                "confidence": _rounded(line.confidence),
                **({"words": [round(sure, 4) for sure in line.words]} if line.words else {}),
                **({"other": line.other} if line.other else {}),
            }
            for number, line in enumerate(region.lines)
        ]
    if region.cells:
        row["cells"] = [
            {
                "locator": f"{home}/c{cell.row}.{cell.column}",
                "row": cell.row,
                "column": cell.column,
                "bbox": [round(value, 1) for value in cell.box],
                "confidence": _rounded(cell.confidence),
                **({"other": cell.other} if cell.other else {}),
            }
            for cell in region.cells
        ]
    if item.flattened:  # on a photograph a region is no upright rectangle
        row["polygon"] = [[round(x, 1), round(y, 1)] for x, y in region.polygon]
    if region.crop_link:
        row["crop"] = region.crop_link
    if region.links:
        row["links"] = [{"text": link.text, "address": link.address} for link in region.links]
    if region.note:
        row["note"] = region.note
    if region.failure is not None:
        row["failure"] = asdict(region.failure)
    return row


def signals_row(signals: Signals) -> dict[str, Any]:
    """Returns the signals that there are."""
    found = {name: getattr(signals, name) for name in SIGNALS}
    return {
        name: _rounded(value) if isinstance(value, float) else value
        for name, value in found.items()
        if value not in (None, "", ())
    }


def _rounded(sure: float | None) -> float | None:
    return None if sure is None else round(sure, 4)


def _is_picture_crop(region: Region) -> bool:
    return region.crop_path is not None and region.label in PICTURE_LABELS


def _crop_row(region: Region, item: Page) -> dict[str, Any]:
    return {
        "path": region.crop_link,
        "bbox": region.bbox_2d(item.width, item.height),
        "label": region.label,
    }
