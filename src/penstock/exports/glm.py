"""The GLM-OCR SDK's files: OUT/glm/<stem>/{stem.json, stem.md, imgs/*.jpg}, a folder for each document."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from penstock.documents.formats.glm import PICTURES, WrittenPage, blocks_of, page_blocks, written
from penstock.engines.image.codec import decode_rgb, encode_jpeg
from penstock.exports.pages import Pages, output_names
from penstock.page import Page
from penstock.store.atomic_files import replacing
from penstock.store.out import Out
from penstock.store.ownership import remove

FOLDER = "glm"
JPEG_QUALITY = 95  # the SDK's

log = logging.getLogger(__name__)


def write_glm(pages: Pages) -> list[Path]:
    names = output_names((entry.document for entry in pages.entries), "")
    margins = _margins_were_read(pages.out)
    paths = []
    for document, items in pages.by_document():
        folder = pages.out / FOLDER / names[document]
        paths += _write_document(pages.out, folder, _pages(items, margins))
    return paths


def json_pages(pages: Iterable[list[dict[str, Any]]]) -> Iterator[str]:
    """Yields the list of pages as indented JSON, piece by piece: equal to dumping the whole with indent 2."""
    opening = "["
    for rows in pages:
        dumped = json.dumps(rows, ensure_ascii=False, indent=2).replace("\n", "\n  ")
        yield f"{opening}\n  {dumped}"
        opening = ","
    yield "[]" if opening == "[" else "\n]"


def _margins_were_read(out: Out) -> bool:
    """Returns whether the run was asked to read headers and footers.

    Other runs may hold them too; this format then leaves them out, as the SDK does.
    """
    return any(stage.get("margins") == "read" for stage in out.run().get("plan", []))


def _pages(items: Iterable[Page], margins: bool) -> Iterator[WrittenPage]:
    """Yields every page. A failed one is empty and keeps its place, as in the SDK's list."""
    return written(
        page_blocks(blocks_of(item.regions, item.width, item.height, margins=margins))
        if item.failure is None
        else []
        for item in items
    )


def _write_document(out: Out, folder: Path, pages: Iterable[WrittenPage]) -> list[Path]:
    path, markdown = folder / f"{folder.name}.json", folder / f"{folder.name}.md"
    pictures: list[Path] = []
    with replacing(path, out) as rows_file, replacing(markdown, out) as markdown_file:

        def rows() -> Iterator[list[dict[str, Any]]]:
            for number, page in enumerate(pages):
                markdown_file.write(("\n\n" * (number > 0) + page.markdown).encode("utf-8", "replace"))
                pictures.extend(_write_pictures(out, folder / PICTURES, page.pictures))
                yield page.rows

        for piece in json_pages(rows()):
            rows_file.write(piece.encode("utf-8", "replace"))
    _remove_older(out, folder / PICTURES, pictures)
    return [path, markdown, *pictures]


def _write_pictures(out: Out, folder: Path, pictures: Mapping[str, str]) -> Iterator[Path]:
    for name, crop_path in pictures.items():
        crop = out / crop_path
        if not crop.is_file():
            log.warning("%s is not in %s: the crop %s is gone", name, folder, crop)
            continue
        with replacing(folder / name, out, sync=False) as file:
            file.write(_jpeg(crop.read_bytes()))
        yield folder / name


def _jpeg(crop: bytes) -> bytes:
    if crop.startswith(b"\xff\xd8"):
        return crop
    pixels = decode_rgb(crop)
    assert pixels is not None  # the store wrote it
    return encode_jpeg(pixels, JPEG_QUALITY)


def _remove_older(out: Out, folder: Path, kept: Iterable[Path]) -> None:
    """Removes pictures of an earlier export that this one does not have."""
    for path in set(folder.glob("cropped_page*_idx*.jpg")) - set(kept):
        remove(out, path)
