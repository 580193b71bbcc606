"""Corrects the labels of a layout model, once the text of the regions is known.

A small model takes page numbers for footers, captions, equation numbers and headings for text, and lines that
stand alone for headers. The wording or the place of a region decides.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import replace

from penstock.documents.headings.by_wording import is_heading_by_words, is_no_heading_by_words
from penstock.documents.layout.labels import CAPTION, MAX_CAPTION, NUMBER_EDGE, PAGE_NUMBER
from penstock.region import FORMULA_LABELS, HEADING_LABELS, MARGIN_LABELS, Region

FORMULA_NUMBER = re.compile(r"^[(（]\s*\d{1,3}(?:[.\-]\d{1,3})*[a-z]?\s*[)）]$")
TITLE_LEAD = 1.15  # a document's title is set at least this much larger than the next heading
RUNNING_EDGE = 0.16  # of the page's height: no header begins lower, no footer ends higher
RUNNING_TEXT = frozenset({"header", "footer", "aside_text"})
LARGE = 1.3  # times the body's type: running headers are not


def relabelled(regions: Sequence[Region], height: float) -> list[Region]:
    """The same regions in the same order, some with a better label."""
    return [replace(region, label=_label(region, regions, height)) for region in regions]


def _label(region: Region, regions: Sequence[Region], height: float) -> str:
    text = (region.content or "").strip()
    at_edge = region.box[3] < NUMBER_EDGE * height or region.box[1] > (1 - NUMBER_EDGE) * height
    if region.label in {"header", "footer", "text"} and at_edge and PAGE_NUMBER.match(text):
        return "number"
    if _is_in_the_page(region, height):
        return _of_text(replace(region, label="text"), text, regions, height)
    if region.label == "paragraph_title":
        return _of_heading(text)
    if region.label == "header" and is_heading_by_words(region, regions, height):
        return "paragraph_title"
    return region.label if region.label != "text" else _of_text(region, text, regions, height)


def _of_text(region: Region, text: str, regions: Sequence[Region], height: float) -> str:
    if FORMULA_NUMBER.match(text) and any(_beside(region, other) for other in regions):
        return "formula_number"
    if CAPTION.match(text) and len(text) <= MAX_CAPTION:
        return "figure_title"
    return "paragraph_title" if is_heading_by_words(region, regions, height) else "text"


def _of_heading(text: str) -> str:
    if CAPTION.match(text) and len(text) <= MAX_CAPTION:
        return "figure_title"
    return "text" if FORMULA_NUMBER.match(text) or is_no_heading_by_words(text) else "paragraph_title"


def _is_in_the_page(region: Region, height: float) -> bool:
    """Whether the model took a line inside the page for a running header or footer."""
    if region.label == "header":
        return region.box[1] > RUNNING_EDGE * height
    return region.label == "footer" and region.box[3] < (1 - RUNNING_EDGE) * height


def _beside(number: Region, other: Region) -> bool:
    """Whether `other` is a formula on the row of `number`."""
    shared = min(number.box[3], other.box[3]) - max(number.box[1], other.box[1])
    return other.label in FORMULA_LABELS and shared > 0.5 * (number.box[3] - number.box[1])


def with_only_text(regions: Sequence[Region], part: int) -> tuple[Region, ...]:
    """The regions, those in the margins as text where the page would otherwise say nothing.

    Beside pictures this holds for a document's first page only: later ones have true running titles.
    """
    body = [region for region in regions if region.label not in MARGIN_LABELS]
    if any(_says(region) for region in body) or (body and part > 0):
        return tuple(regions)
    texts = RUNNING_TEXT if part > 0 or any(map(_is_running_text, regions)) else {*RUNNING_TEXT, "number"}
    return tuple(
        replace(region, label="text") if region.label in texts and _says(region) else region
        for region in regions
    )


def _is_running_text(region: Region) -> bool:
    return region.label in RUNNING_TEXT and _says(region)


def _says(region: Region) -> bool:
    return bool((region.content or "").strip())


def with_title(regions: Sequence[Region], height: float) -> list[Region]:
    """The regions of a first page, with its largest heading as the document's title if it is above the text.

    The model may take a title at the very top for a running header, which the Markdown leaves out.
    """
    regions = _without_large_headers(regions)
    headings = [region for region in regions if region.label in HEADING_LABELS]
    if not headings or any(region.label == "doc_title" for region in headings):
        return list(regions)
    best = max(headings, key=_line_height)
    first_text = min((region.box[1] for region in regions if region.label == "text"), default=height)
    others = [_line_height(heading) for heading in headings if heading is not best]
    if best.box[1] > first_text or (others and _line_height(best) < TITLE_LEAD * max(others)):
        return list(regions)
    return [replace(region, label="doc_title") if region is best else region for region in regions]


def _without_large_headers(regions: Sequence[Region]) -> list[Region]:
    """Makes titles of headers in large type. By the layer only: boxes of lines read by OCR are too rough."""
    sizes = [
        line.box[3] - line.box[1] for region in regions if region.label == "text" for line in region.lines
    ]
    body = statistics.median(sizes) if sizes else 0.0
    return [
        replace(region, label="doc_title") if _is_large_header(region, body) else region for region in regions
    ]


def _is_large_header(region: Region, body: float) -> bool:
    if region.label != "header" or region.reader != "layer" or not body:
        return False
    level = all(line.box[2] - line.box[0] > line.box[3] - line.box[1] for line in region.lines)
    return level and len((region.content or "").split()) > 1 and _line_height(region) >= LARGE * body


def _line_height(region: Region) -> float:
    if not region.lines:
        return region.box[3] - region.box[1]
    return max(line.box[3] - line.box[1] for line in region.lines)
