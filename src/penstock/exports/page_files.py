"""Files of pages as people read them: JSON lines and Markdown."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from penstock.addresses.locator import Locator
from penstock.documents.formats.markdown import document_markdown, page_markdown
from penstock.documents.pages.whole_document import WholeDocument, corrected_pages
from penstock.documents.text.escape import comment
from penstock.documents.text.minhash import NearTexts, signature
from penstock.engines.language import LanguageReader
from penstock.errors import MissingModel
from penstock.exports.page_rows import page_text, result_row
from penstock.exports.pages import Pages, output_names
from penstock.page import Page
from penstock.store.atomic_files import replacing

RESULTS: str = "ocr_results.jsonl"
TEXTS: str = "parsed_texts.jsonl"
MARKDOWN: str = "markdown"
CORPUS = "corpus.jsonl"
NEAR = 0.7  # of their runs of characters two documents share
log = logging.getLogger(__name__)
Pieces = Callable[[Iterable[Page], WholeDocument, str], Iterator[str]]


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
    """Writes a file a document, with a mark before each page."""

    def marked(items: Iterable[Page], whole: WholeDocument, root: str) -> Iterator[str]:
        return (page_piece(item, root, whole, pages.anchors) for item in items)

    return each_document(pages, MARKDOWN, marked)


def each_document(pages: Pages, folder: str, write: Pieces) -> list[Path]:
    """Writes the pieces of each document's Markdown into a file below `folder`."""
    names = output_names((entry.document for entry in pages.entries), ".md")
    paths = []
    for document, rows in pages.by_document():
        path = pages.out / folder / names[document]
        to_crops = "../" * len(names[document].parts)
        with replacing(path, pages.out) as file:
            for piece in write(rows, WholeDocument.of(rows), to_crops):
                file.write(piece.encode("utf-8", "replace"))
        paths.append(path)
    return paths


def page_piece(item: Page, root: str, whole: WholeDocument, anchors: bool = False) -> str:
    """Returns one page of a document's Markdown; a failed one says why it is missing.

    With `anchors` each region bears its locator.
    """
    if item.failure is not None:
        text = comment(f"failed in {item.failure.stage}: {item.failure.message}")
    else:
        page = whole.corrected(item)
        located = item.locator if anchors else None
        text = page_markdown(page.regions, root=root, levels=whole.levels(page), anchors=located)
    return document_markdown([(item.part + 1, text)]) + "\n"


def write_corpus(pages: Pages) -> list[Path]:
    """Writes a line a page. A document that is nearly an earlier one names it, with how much they share."""
    languages, near = _languages(), NearTexts(NEAR)
    with replacing(pages.out / CORPUS, pages.out) as file:
        for document, rows in pages.by_document():
            found = near.nearest(document, signature(page.markdown for page in rows))
            of_it = {"near": str(Locator(document=found[0])), "shared": round(found[1], 3)} if found else {}
            for page in corrected_pages(rows):
                row = {**_corpus_row(page, languages), **of_it}
                _write_line(file, row)
    return [pages.out / CORPUS]


def _languages() -> LanguageReader | None:
    try:
        return LanguageReader()
    except MissingModel as exc:
        log.warning("languages are left out: %s", exc)
        return None


def _corpus_row(page: Page, languages: LanguageReader | None) -> dict[str, Any]:
    language = languages(page.markdown) if languages is not None else None
    return {
        "id": page.id,
        "locator": str(page.locator),
        "document": page.document,
        "page": page.number,
        "text": page.markdown,
        "language": language.code if language is not None else None,
        "language_confidence": language.confidence if language is not None else None,
        "valid": page.failure is None,
    }
