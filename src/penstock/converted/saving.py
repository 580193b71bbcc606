"""Writes a converted document where people keep it: Markdown, and its crops in a folder next to it."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path, PurePosixPath

from penstock.converted.pages import DocumentPages, crops_of
from penstock.documents.formats.markdown import document_markdown, relink
from penstock.documents.pages.whole_document import WholeDocument
from penstock.documents.text.escape import comment
from penstock.page import Page
from penstock.store.atomic_files import store_errors


def page_piece(page: Page, root: str | None, whole: WholeDocument) -> str:
    """Returns one page of a document's Markdown. A failed one says why it is missing."""
    if page.failure is not None:
        text = comment(f"failed in {page.failure.stage}: {page.failure.message}")
    else:
        text = relink(whole.markdown(page), crops_of(page), root)
    return document_markdown([(page.number, text)])


def save_pages(pages: DocumentPages, crops: Path, folder: Path, name: PurePosixPath) -> Path:
    """Writes `folder/name` and the crops it links to below `folder`. `crops` is where they are now.

    The Markdown appears when it is whole, and after its crops.
    """
    path = folder / name
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    root = "../" * (len(name.parts) - 1)
    whole = WholeDocument.of(pages)
    with store_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part.open("xb").close()  # nobody's file or link is written through, and what is deleted is ours
        try:
            with part.open("w", encoding="utf-8", errors="replace") as file:
                for page in pages.linked():
                    for crop in crops_of(page):
                        _copy(crops / crop, folder / crop)
                    file.write(page_piece(page, root, whole))
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    return path


def _copy(source: Path, target: Path) -> None:
    if not target.exists():  # named by content
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
