"""The files people read, written from the ledger at any time.

Exports follow source order. A failed page keeps its row, with `valid: false` and its reason, so that
rows match a dataset's indices. Every file is replaced whole: a reader never sees half of one.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from penstock.documents.escape import comment
from penstock.documents.formats.markdown import document_markdown, page_markdown
from penstock.errors import UsageError
from penstock.exports.pages import Pages, output_names
from penstock.item import PICTURE_LABELS, Item, Region
from penstock.store.atomic_files import clear_tmp, replacing
from penstock.store.ledger import Ledger
from penstock.store.source_order import in_source_order, read_order

if TYPE_CHECKING:
    from penstock.documents.formats.searchable_pdf import PictureOfPage

RESULTS, TEXTS, MARKDOWN = "ocr_results.jsonl", "parsed_texts.jsonl", "markdown"
OVERLAYS, SEARCHABLE = "overlays", "searchable"
PAGE_QUALITY = 80  # JPEG of whole pages in a searchable PDF: about 300 kB at 200 dpi
FALLBACK_DPI = 150.0  # for pictures that do not say; a phone's photo of A4 is near it

log = logging.getLogger(__name__)


def export(out: Path, formats: Iterable[str], password: str | None = None) -> list[Path]:
    """Writes `formats` (names of FORMATS) for all of OUT. Returns the paths written."""
    chosen = check_formats(formats)
    ledger = Ledger(out)
    entries = in_source_order(ledger.entries().values(), read_order(out))
    if not entries:
        raise UsageError(f"{out} holds no pages yet.", "Run: penstock parse INPUT -o OUT")
    pages = Pages(out, ledger, entries, password)
    written = [path for name in chosen for path in FORMATS[name](pages)]
    clear_tmp(out)
    return written


def check_formats(formats: Iterable[str]) -> list[str]:
    """The formats, each once. Raises UsageError for one we do not have: better before a run than after."""
    chosen = list(dict.fromkeys(formats))
    for name in chosen:
        if name not in FORMATS:
            raise UsageError(f"There is no export {name!r}.", f"Choose from: {', '.join(FORMATS)}.")
    return chosen


def result_row(item: Item) -> dict[str, Any]:
    """One line of ocr_results.jsonl."""
    row: dict[str, Any] = {
        "page_id": item.id,
        "page_idx": item.part,
        "regions": [_region_row(region, item) for region in item.regions],
        "markdown": item.markdown,
        "image_crops": [_crop_row(region, item) for region in item.regions if _is_picture_crop(region)],
        "document": item.document,
        "width": item.width,
        "height": item.height,
        "rotation": item.rotation,
        "valid": item.failure is None,
    }
    if item.failure is not None:
        row["failure"] = asdict(item.failure)
    return row


def page_text(item: Item) -> str:
    """What an embedder reads: the contents in reading order, without layout."""
    return "\n".join(region.content for region in item.regions if region.content)


def _region_row(region: Region, item: Item) -> dict[str, Any]:
    row: dict[str, Any] = {
        "index": region.index,
        "label": region.label,
        "bbox_2d": region.bbox_2d(item.width, item.height),
        "content": region.content,
        "native_label": region.native_label,
        "score": round(region.score, 4),
        "confidence": None if region.confidence is None else round(region.confidence, 4),
        "reader": region.reader,
    }
    if region.lines:
        row["lines"] = [
            {
                "text": line.text,
                "bbox": [round(value, 1) for value in line.box],
                "confidence": line.confidence,
            }
            for line in region.lines
        ]
    if region.crop_path:
        row["crop"] = region.crop_path
    if region.note:
        row["note"] = region.note
    if region.failure is not None:
        row["failure"] = asdict(region.failure)
    return row


def _is_picture_crop(region: Region) -> bool:
    return region.crop_path is not None and region.label in PICTURE_LABELS


def _crop_row(region: Region, item: Item) -> dict[str, Any]:
    return {
        "path": region.crop_path,
        "bbox": region.bbox_2d(item.width, item.height),
        "label": region.label,
    }


def _write_jsonl(pages: Pages) -> list[Path]:
    paths = [pages.out / RESULTS, pages.out / TEXTS]
    with ExitStack() as stack:
        results, texts = (stack.enter_context(replacing(path, pages.out)) for path in paths)
        for item in pages.items():
            _write_line(results, result_row(item))
            text = {"page_id": item.id, "page_idx": item.part, "text": page_text(item)}
            _write_line(texts, {**text, "valid": item.failure is None})
    return paths


def _write_line(file: IO[bytes], row: dict[str, Any]) -> None:
    file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _write_markdown(pages: Pages) -> list[Path]:
    names = output_names((entry.document for entry in pages.entries), ".md")
    paths = []
    for document, items in pages.by_document():
        path = pages.out / MARKDOWN / names[document]
        to_crops = "../" * len(names[document].parts)
        with replacing(path, pages.out) as file:
            for item in items:
                file.write(page_piece(item, to_crops).encode("utf-8", "replace"))
        paths.append(path)
    return paths


def page_piece(item: Item, root: str) -> str:
    """One page of a document's Markdown; a failed one says why it is missing."""
    if item.failure is not None:
        text = comment(f"failed in {item.failure.stage}: {item.failure.message}")
    else:
        text = page_markdown(item.regions, root=root)
    return document_markdown([(item.part + 1, text)]) + "\n"


def _write_overlays(pages: Pages) -> list[Path]:
    from penstock.exports.overlays import draw
    from penstock.exports.page_pictures import page_pictures

    names = output_names((entry.document for entry in pages.entries), "")
    paths = []
    for item, picture in page_pictures(pages.out, pages.items(), pages.password):
        if isinstance(picture, str):
            log.warning("no overlay of %s page %d: %s", item.document, item.part + 1, picture)
            continue
        path = pages.out / OVERLAYS / names[item.document] / f"{item.part + 1:05d}.jpg"
        with replacing(path, pages.out, sync=False) as file:
            file.write(draw(item, picture))
        paths.append(path)
    return paths


def _write_searchable(pages: Pages) -> list[Path]:
    from penstock.documents.formats.searchable_pdf import write_searchable_pdf

    names = output_names((entry.document for entry in pages.entries), ".pdf")
    paths = []
    for document, items in pages.by_document():
        pictures = _pictures_of_pages(pages, items)
        first = next(pictures, None)
        if first is None:  # a PDF without a page is none
            continue
        path = pages.out / SEARCHABLE / names[document]
        with replacing(path, pages.out) as file:
            write_searchable_pdf(file, chain([first], pictures))
        paths.append(path)
    return paths


def _pictures_of_pages(pages: Pages, items: Iterable[Item]) -> Iterator[PictureOfPage]:
    import cv2

    from penstock.documents.formats.searchable_pdf import PictureOfPage
    from penstock.exports.page_pictures import page_pictures

    for item, picture in page_pictures(pages.out, items, pages.password):
        if isinstance(picture, str):
            log.warning("%s page %d is not in the PDF: %s", item.document, item.part + 1, picture)
            continue
        jpeg = cv2.imencode(".jpg", picture[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, PAGE_QUALITY])[1]
        lines = tuple(line for region in item.regions for line in region.lines)
        yield PictureOfPage(jpeg=jpeg.tobytes(), lines=lines, dpi=item.dpi or FALLBACK_DPI)


def _assembled(writer: str) -> Callable[[Pages], list[Path]]:
    """An export of whole documents; its module is opened when it is asked for."""

    def write(pages: Pages) -> list[Path]:
        from penstock.exports import documents as document_exports

        written: list[Path] = getattr(document_exports, writer)(pages)
        return written

    return write


def _things(writer: str) -> Callable[[Pages], list[Path]]:
    """An export of photos' objects, whose code is loaded when it is asked for."""

    def write(pages: Pages) -> list[Path]:
        from penstock.exports import photos as objects_export

        paths: list[Path] = getattr(objects_export, writer)(pages.out, pages.items())
        return paths

    return write


def _write_glm(pages: Pages) -> list[Path]:
    from penstock.exports.glm import write_glm

    return write_glm(pages)


FORMATS: dict[str, Callable[[Pages], list[Path]]] = {
    "md": _write_markdown,
    "jsonl": _write_jsonl,
    "overlays": _write_overlays,
    "searchable-pdf": _write_searchable,
    "docjson": _assembled("write_docjson"),
    "docling": _assembled("write_docling"),
    "content_list": _assembled("write_content_list"),
    "html": _assembled("write_html"),
    "chunks": _assembled("write_chunks"),
    "glm": _write_glm,
    "objects": _things("write_objects"),
    "report": _things("write_report"),
    "splat": _things("write_splats"),
    "turntable": _things("write_turntables"),
}
