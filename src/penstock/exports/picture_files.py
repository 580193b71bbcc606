"""Files that show pages as pictures: overlays with boxes, searchable PDFs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from penstock.documents.formats.searchable_pdf import PictureOfPage, write_searchable_pdf
from penstock.engines.image.codec import encode_jpeg
from penstock.exports.overlays import draw
from penstock.exports.page_pictures import page_pictures
from penstock.exports.pages import Pages, output_names
from penstock.page import Page
from penstock.store.atomic_files import replacing

OVERLAYS, SEARCHABLE = "overlays", "searchable"
PAGE_QUALITY = 80  # JPEG of whole pages in a searchable PDF: about 300 kB at 200 dpi
FALLBACK_DPI = 150.0  # for pictures that do not say; a phone's photo of A4 is near it

log = logging.getLogger(__name__)


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
