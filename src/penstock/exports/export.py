"""The files people read, written from the ledger at any time.

Exports follow source order. A failed page keeps its row, with `valid: false` and its reason, so that
rows match a dataset's indices. Every file is replaced whole: a reader never sees half of one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from penstock.errors import UsageError
from penstock.exports.crop_names import CropsByPage, check_crop_names
from penstock.exports.pages import Pages
from penstock.plugins import load, with_installed
from penstock.store.atomic_files import clear_tmp
from penstock.store.out import Out
from penstock.store.remote import bring_files

log = logging.getLogger(__name__)
CROP_NAMES = "crop_names"  # in run.json: what its exports were asked for
# a name and the function that writes it: from `Pages`, or from OUT and its photos. Opened when asked for.
PAGE_FORMATS = {
    "md": "penstock.exports.page_files:write_markdown",
    "md-joined": "penstock.exports.documents:write_joined",
    "jsonl": "penstock.exports.page_files:write_jsonl",
    "overlays": "penstock.exports.picture_files:write_overlays",
    "searchable-pdf": "penstock.exports.picture_files:write_searchable",
    "docjson": "penstock.exports.documents:write_docjson",
    "docling": "penstock.exports.documents:write_docling",
    "content_list": "penstock.exports.documents:write_content_list",
    "html": "penstock.exports.documents:write_html",
    "chunks": "penstock.exports.documents:write_chunks",
    "glm": "penstock.exports.glm:write_glm",
    "corpus": "penstock.exports.page_files:write_corpus",
}
# they name crops and read none: on a store, crops stay there
FROM_ROWS = frozenset(PAGE_FORMATS) - {"glm"}
PHOTO_FORMATS = {
    "objects": "penstock.exports.photos:write_objects",
    "report": "penstock.exports.photos:write_report",
    "splat": "penstock.exports.photos:write_splats",
    "turntable": "penstock.exports.photos:write_turntables",
}


def export(
    folder: str | Path,
    names: Iterable[str],
    password: str | None = None,
    crop_names: str | None = None,
    anchors: bool = False,
) -> list[Path]:
    """Writes files of all of OUT, each name one of `formats()`. Returns the paths written.

    `crop_names` is "content" or "page"; None is what the run was asked for. With `anchors`, Markdown has an
    empty element with its locator before each region.
    """
    chosen = check_formats(names)
    out = Out(folder)
    out.need_rows()
    entries = out.entries()
    named = check_crop_names(crop_names or out.run().get(CROP_NAMES) or "content")
    if named == "page" or not FROM_ROWS.issuperset(chosen):
        bring_files(out.path)
    crops = CropsByPage(out, (entry.id for entry in entries)) if named == "page" else None
    pages = Pages(out, entries, password, crops.named if crops else None, anchors)
    written: list[Path] = []
    for name in chosen:
        if name in PHOTO_FORMATS:
            made = load(PHOTO_FORMATS[name])(out, out.read_photos())
        else:
            made = load(page_formats()[name])(pages)
        log.info("exported %s: %d files", name, len(made), extra={"export": name, "files": len(made)})
        written += made
    if crops is not None and any(name not in PHOTO_FORMATS for name in chosen):
        crops.finish()
    clear_tmp(out)
    return written


def page_formats() -> dict[str, str]:
    """Returns the writers of pages, ours and those of other installed packages."""
    ours = with_installed("exports", PAGE_FORMATS)
    return {name: home for name, home in ours.items() if name not in PHOTO_FORMATS}


def formats() -> tuple[str, ...]:
    """Returns every name that `export` takes."""
    return (*page_formats(), *PHOTO_FORMATS)


def check_formats(names: Iterable[str]) -> list[str]:
    """Returns the formats, each once. Raises UsageError for an unknown one, before a run begins."""
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in PAGE_FORMATS and name not in formats():
            raise UsageError(f"There is no export {name!r}.", f"Choose from: {', '.join(formats())}.")
    return chosen
