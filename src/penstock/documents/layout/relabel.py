"""Corrects a layout model's labels by what the regions turned out to say.

A small model calls page numbers footers, captions text, equation numbers text and lines set apart
headers. The words decide, or where they stand.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import replace

from penstock.documents.layout.labels import CAPTION, LONGEST_CAPTION, NUMBER_EDGE, PAGE_NUMBER
from penstock.region import FORMULA_LABELS, Region

FORMULA_NUMBER = re.compile(r"^[(（]\s*\d{1,3}(?:[.\-]\d{1,3})*[a-z]?\s*[)）]$")
TITLE_LEAD = 1.15  # a document's title is set at least this much larger than the next heading
RUNNING_EDGE = 0.16  # of the page's height: no header begins lower, no footer ends higher
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
        return "text"
    if region.label != "text":
        return region.label
    if FORMULA_NUMBER.match(text) and any(_beside(region, other) for other in regions):
        return "formula_number"
    if CAPTION.match(text) and len(text) <= LONGEST_CAPTION:
        return "figure_title"
    return region.label


def _is_in_the_page(region: Region, height: float) -> bool:
    """Whether a line set apart was taken for a running header or footer."""
    if region.label == "header":
        return region.box[1] > RUNNING_EDGE * height
    return region.label == "footer" and region.box[3] < (1 - RUNNING_EDGE) * height


def _beside(number: Region, other: Region) -> bool:
    """Whether `other` is a formula on the row of `number`."""
    shared = min(number.box[3], other.box[3]) - max(number.box[1], other.box[1])
    return other.label in FORMULA_LABELS and shared > 0.5 * (number.box[3] - number.box[1])


def titled(regions: Sequence[Region], height: float) -> list[Region]:
    """A first page's regions, its largest heading made the document's title if it stands above the text.

    A title at the very top may be taken for a running header, and would be left out of the Markdown.
    """
    regions = _without_large_headers(regions)
    headings = [region for region in regions if region.label in {"paragraph_title", "doc_title"}]
    if not headings or any(region.label == "doc_title" for region in headings):
        return list(regions)
    best = max(headings, key=_line_height)
    first_text = min((region.box[1] for region in regions if region.label == "text"), default=height)
    others = [_line_height(heading) for heading in headings if heading is not best]
    if best.box[1] > first_text or (others and _line_height(best) < TITLE_LEAD * max(others)):
        return list(regions)
    return [replace(region, label="doc_title") if region is best else region for region in regions]


def _without_large_headers(regions: Sequence[Region]) -> list[Region]:
    """Headers in large type as titles. By the layer only: boxes around read lines are too rough for it."""
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
