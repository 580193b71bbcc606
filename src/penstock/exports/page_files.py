"""Files of pages as people read them: JSON lines, Markdown, overlays, searchable PDFs."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import IO, Any

from penstock.documents.escape import comment
from penstock.documents.formats.markdown import document_markdown, page_markdown
from penstock.documents.formats.searchable_pdf import PictureOfPage, write_searchable_pdf
from penstock.engines.image.codec import encode_jpeg
from penstock.exports.overlays import draw
from penstock.exports.page_pictures import page_pictures
from penstock.exports.page_rows import page_text, result_row
from penstock.exports.pages import Pages, output_names
from penstock.page import Page
from penstock.store.atomic_files import replacing

RESULTS, TEXTS, MARKDOWN = "ocr_results.jsonl", "parsed_texts.jsonl", "markdown"
OVERLAYS, SEARCHABLE = "overlays", "searchable"
PAGE_QUALITY = 80  # JPEG of whole pages in a searchable PDF: about 300 kB at 200 dpi
FALLBACK_DPI = 150.0  # for pictures that do not say; a phone's photo of A4 is near it

log = logging.getLogger(__name__)


def write_jsonl(pages: Pages) -> list[Path]:
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


def write_markdown(pages: Pages) -> list[Path]:
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


def page_piece(item: Page, root: str) -> str:
    """Returns one page of a document's Markdown; a failed one says why it is missing."""
    if item.failure is not None:
        text = comment(f"failed in {item.failure.stage}: {item.failure.message}")
    else:
        text = page_markdown(item.regions, root=root)
    return document_markdown([(item.part + 1, text)]) + "\n"


def write_overlays(pages: Pages) -> list[Path]:
    names = output_names((entry.document for entry in pages.entries), "")
    paths = []
    for item, picture in page_pictures(pages.out, pages.items(), pages.password):
        if isinstance(picture, str):
            log.warning("no overlay of %s page %d: %s", item.document, item.part + 1, picture)
            continue
        path = pages.out / OVERLAYS / names[item.document] / f"{item.part + 1:05d}.jpg"
        with replacing(path, pages.out, sync=False) as file:
            file.write(draw(item.regions, picture))
        paths.append(path)
    return paths


def write_searchable(pages: Pages) -> list[Path]:
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


def _pictures_of_pages(pages: Pages, items: Iterable[Page]) -> Iterator[PictureOfPage]:
    for item, picture in page_pictures(pages.out, items, pages.password):
        if isinstance(picture, str):
            log.warning("%s page %d is not in the PDF: %s", item.document, item.part + 1, picture)
            continue
        lines = tuple(line for region in item.regions for line in region.lines)
        jpeg = encode_jpeg(picture, PAGE_QUALITY)
        yield PictureOfPage(jpeg=jpeg, lines=lines, dpi=item.dpi or FALLBACK_DPI)
