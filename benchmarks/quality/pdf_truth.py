"""Pages of PDFs as pictures, and what their text layers say of them: the truth of the Korean sets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import cv2
import pypdfium2 as pdfium

DPI = 200  # pages of PDFs as pictures: what a desk scanner gives
NUMBERS = re.compile(r"\d+|\b[ivx]+\b|[\W_]+")
LIST_MARK = re.compile(r"(?m)^\s*[•✓-]\s+")


def pages_as_pictures(pdf: Path, folder: Path, count: int) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    document = pdfium.PdfDocument(pdf)
    paths: list[Path] = []
    for number in range(min(count, len(document))):
        path = folder / f"{pdf.stem}-{number:03d}.png"
        if not path.is_file():
            picture = document[number].render(scale=DPI / 72).to_numpy()[:, :, :3]
            cv2.imwrite(str(path), picture)
        paths.append(path)
    return paths


def layer_text(pdf: Path) -> list[str]:
    document = pdfium.PdfDocument(pdf)
    return [document[n].get_textpage().get_text_range().replace("￾", "") for n in range(len(document))]


def placed_text(pdf: Path) -> list[str]:
    """The lines of each page's layer from top to bottom: a file may hold framed text last."""
    document = pdfium.PdfDocument(pdf)
    return ["\n".join(_placed_lines(document[n].get_textpage())) for n in range(len(document))]


def _placed_lines(layer: pdfium.PdfTextPage) -> list[str]:
    found: list[tuple[float, float, str]] = []
    at = 0
    for line in layer.get_text_range().splitlines(keepends=True):
        boxes = [layer.get_charbox(at + i) for i, char in enumerate(line) if not char.isspace()]
        at += len(line)
        if boxes:
            found.append((-median(b + t for _, b, _, t in boxes), min(box[0] for box in boxes), line.strip()))
    return [line for _, _, line in sorted(found)]


def without_furniture(texts: Sequence[str]) -> list[str]:
    """The pages without running heads and list marks: Markdown leaves the first out and writes the others.

    A running head is one of the first two lines or the last, which more than half of the pages have but for
    its numbers; its first place may be the title.
    """
    pages = [text.splitlines() for text in texts]
    count = Counter(_head(line) for page in pages for line in _edges(page))
    heads = {head for head, pages_with in count.items() if 2 * pages_with > len(pages)}
    seen: set[str] = set()
    kept: list[str] = []
    for page in pages:
        old = seen & heads
        kept.append("\n".join(_without(page, old)))
        seen |= {_head(line) for line in _edges(page)}
    return [LIST_MARK.sub("", text) for text in kept]


def _edges(page: Sequence[str]) -> list[str]:
    """The lines of a page that may run along all of them."""
    return [*page[:2], *page[2:][-1:]]


def _without(page: Sequence[str], heads: set[str]) -> list[str]:
    inner = range(2, len(page) - 1)
    return [line for place, line in enumerate(page) if place in inner or _head(line) not in heads]


def _head(line: str) -> str:
    return NUMBERS.sub("", line)
