"""Finds the lines of text on the picture that the layer does not have, and has them read."""

from __future__ import annotations

from dataclasses import replace

from penstock.box import Box, Pixels, area, shared_area
from penstock.documents.reading.page_reading import Draft, Engines, PageReading
from penstock.documents.text.text_layer import COVERED, coverage, lines_not_in_layer, unexplained
from penstock.errors import Failure
from penstock.region import FORMULA_LABELS, PICTURE_LABELS, TextLine

MIN_RASTER_SHARE = 0.04  # of the page: smaller pictures are logos and icons, not worth a search for text
AROUND = 64.0  # pixels around unexplained ink: two lines of print, which the detector weighs together
RASTER = 0.3  # of a region that an image of the PDF takes: drawn charts have their text in the layer


def with_lines(reading: PageReading, engines: Engines) -> PageReading:
    """Adds the lines that stand where no word of the layer explains the ink."""
    pixels = reading.page.pixels
    if pixels is None or (reading.layer_use == "always" and reading.words):
        return reading
    areas, as_page = unread_areas(reading, pixels)
    found = engines.find(pixels, areas, as_page)
    return replace(reading, lines=tuple(lines_not_in_layer(found, reading.words)))


def unread_areas(reading: PageReading, pixels: Pixels) -> tuple[list[Box], bool]:
    """Returns where to look for text: on the page, where it is not explained, or in regions of it.

    And whether it is the page that is looked at, which is done less finely.
    """
    whole = (0.0, 0.0, float(reading.page.width), float(reading.page.height))
    if not reading.words:
        return [whole], True
    unread = [draft.region for draft in reading.drafts if _hides_text(draft, reading, pixels)]
    regions = [draft.region for draft in reading.drafts]
    outside = coverage([*reading.words, *regions], pixels, whole, reading.strokes)
    # a page that is a picture in parts may have lines that the layout model saw no region for
    if any(region.label not in PICTURE_LABELS for region in unread) or outside < COVERED:
        rest = unexplained(reading.words, pixels, reading.strokes)
        return ([_grown(rest, whole)] if rest else []), True
    return [region.box for region in unread], False


def _grown(box: Box, page: Box) -> Box:
    """The box with the whole of the lines that begin in it."""
    x0, y0, x1, y1 = box
    return (
        max(page[0], x0 - AROUND),
        max(page[1], y0 - AROUND),
        min(page[2], x1 + AROUND),
        min(page[3], y1 + AROUND),
    )


def _hides_text(draft: Draft, reading: PageReading, pixels: Pixels) -> bool:
    region, page = draft.region, reading.page
    if region.label in FORMULA_LABELS:
        return False
    if region.label in PICTURE_LABELS:
        is_small = area(region.box) < MIN_RASTER_SHARE * page.width * page.height
        shared = (shared_area(region.box, picture) for picture in reading.pictures)
        if is_small or not any(part > RASTER * area(region.box) for part in shared):
            return False
    return coverage(draft.words, pixels, region.box, reading.strokes) < COVERED


def with_text(reading: PageReading, engines: Engines) -> PageReading:
    """Adds what the lines say. A draft whose lines cannot be read fails alone."""
    pixels, groups = reading.page.pixels, [draft.lines for draft in reading.drafts]
    if pixels is not None and any(groups):
        results = zip(reading.drafts, engines.read(pixels, groups), strict=True)
        return replace(reading, drafts=tuple(_with_read(draft, read) for draft, read in results))
    return reading


def _with_read(draft: Draft, read: tuple[TextLine, ...] | Failure) -> Draft:
    if isinstance(read, Failure):
        return Draft(replace(draft.region, failure=read), draft.words)
    return replace(draft, read=read)
