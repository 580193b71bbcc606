"""Exports of whole documents, assembled from rows while they are read: DocJSON and its kin."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import quote

from penstock import __version__
from penstock.documents.docjson import file as docjson_file
from penstock.documents.docjson.assemble import Assembler
from penstock.documents.docjson.model import Producer
from penstock.documents.formats import docling, mineru
from penstock.documents.formats import html as html_page
from penstock.documents.pages.joined_pages import joined_markdown
from penstock.documents.pages.whole_document import corrected_pages
from penstock.engines.image.codec import encode_jpeg
from penstock.exports import enrichments
from penstock.exports.overlays import shrunk
from penstock.exports.page_files import each_document
from penstock.exports.page_pictures import page_pictures
from penstock.exports.pages import Pages, output_names
from penstock.page import Page
from penstock.store.atomic_files import replacing
from penstock.store.out import Out
from penstock.store.ownership import TMP

JOINED = "markdown_joined"
DOCJSON, DOCLING, CONTENT_LIST, HTML = "docjson", "docling", "content_list", "html"
CHUNKS: str = "chunks.jsonl"
PAGE_SIDE, PAGE_QUALITY = 1400, 80  # pixels and JPEG quality of a page in the HTML: readable, some 200 kB

log = logging.getLogger(__name__)
Write = Callable[[IO[bytes], Assembler, Iterable[Page], PurePosixPath], None]
WriteSpooled = Callable[[IO[bytes], Assembler, Iterable[Page], Path], None]  # with the folder of long lists


def write_joined(pages: Pages) -> list[Path]:
    """Writes Markdown without page marks: what goes on over pages is put together, as DocJSON does it."""
    return each_document(pages, JOINED, joined_markdown)


def write_docjson(pages: Pages) -> list[Path]:
    return _each_spooled(pages, DOCJSON, docjson_file.write)


def write_docling(pages: Pages) -> list[Path]:
    return _each_spooled(pages, DOCLING, docling.write)


def write_content_list(pages: Pages) -> list[Path]:
    def write(file: IO[bytes], assembler: Assembler, items: Iterable[Page], name: PurePosixPath) -> None:
        mineru.write(file, assembler, items, "../" * len(name.parts))

    return _each(pages, CONTENT_LIST, write)


def write_chunks(pages: Pages) -> list[Path]:
    """Writes one line a chunk, of all documents: what an index reads."""
    path = pages.out / CHUNKS
    with replacing(path, pages.out) as file:
        for document, assembler, items in _documents(pages):
            for chunk in assembler.chunks(items):
                row = {"document": document, **chunk.model_dump(mode="json")}
                file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    return [path]


def write_html(pages: Pages) -> list[Path]:
    """Writes one HTML page a document: an article, with the pictures of its pages on request."""
    names = output_names((entry.document for entry in pages.entries), "")
    paths = []
    for document, assembler, items in _documents(pages):
        folder = pages.out / HTML / names[document]
        to_out = "../" * (len(names[document].parts) + 1)
        path = folder / "index.html"
        with replacing(path, pages.out) as file:
            file.write(html_page.opening(document).encode("utf-8", "replace"))
            for item, picture in _shown(pages, items, folder):
                piece = assembler.page(item)
                crops = {asset.id: quote(to_out + asset.path) for asset in piece.assets}
                section = html_page.page_section(piece.page, piece.blocks, picture, crops)
                file.write(section.encode("utf-8", "replace"))
            file.write(html_page.CLOSING.encode())
        paths.append(path)
    return paths


def _shown(pages: Pages, items: Iterable[Page], folder: Path) -> Iterator[tuple[Page, str]]:
    for item, picture in page_pictures(pages.out, items, pages.password):
        if isinstance(picture, str):
            if item.failure is None:
                log.warning("no picture of %s page %d: %s", item.document, item.part + 1, picture)
            yield item, ""
            continue
        name = f"{item.part + 1:05d}.jpg"
        with replacing(folder / name, pages.out, sync=False) as file:
            file.write(encode_jpeg(shrunk(picture, PAGE_SIDE)[0], PAGE_QUALITY))
        yield item, name


def _each_spooled(pages: Pages, folder: str, write: WriteSpooled) -> list[Path]:
    def spooled(file: IO[bytes], assembler: Assembler, items: Iterable[Page], name: PurePosixPath) -> None:
        write(file, assembler, items, pages.out / TMP)

    return _each(pages, folder, spooled)


def _each(pages: Pages, folder: str, write: Write) -> list[Path]:
    names = output_names((entry.document for entry in pages.entries), ".json")
    paths = []
    for document, assembler, items in _documents(pages):
        path = pages.out / folder / names[document]
        with replacing(path, pages.out) as file:
            write(file, assembler, items, names[document])
        paths.append(path)
    return paths


def _documents(pages: Pages) -> Iterator[tuple[str, Assembler, Iterator[Page]]]:
    found = enrichments.lookup(pages.out)
    producer = producer_of(pages.out)
    for document, rows in pages.by_document():
        yield document, Assembler(document, found, producer), corrected_pages(rows)


def producer_of(out: Out) -> Producer:
    run = out.run()
    reading: dict[str, object] = next((row for row in run.get("plan", []) if "recogniser" in row), {})
    return Producer(
        version=__version__,
        recipe=str(run.get("recipe", "")),
        fingerprint=str(run.get("fingerprint", "")),
        model=str(reading.get("model") or reading.get("recogniser", "")),
        enrich_fingerprint=enrichments.fingerprint(out),
    )
