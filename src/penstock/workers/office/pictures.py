"""Pictures inside of files: kept or not, and their words read where that is asked for.

A picture goes from the process that decodes it to the readers as a picture of our own making.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.documents.formats.markdown import page_markdown
from penstock.engines.image import decode
from penstock.errors import BadInput
from penstock.page import Page
from penstock.region import PICTURE_LABELS, Region
from penstock.workers.office.unit_pages import MAX_CROP_PIXELS

MAX_READ_PIXELS = 200_000_000  # of all pictures of a page: 90 pages of A4 at 150 dpi
TOO_MANY = "It was not read: its page has too many pictures."


def with_pictures_to_read(page: Page) -> Page:
    """Returns the page with each picture that is kept encoded anew, for `with_read_pictures`."""
    regions, left = [], MAX_READ_PIXELS
    for region in page.regions:
        found, size = _to_read(region, left)
        regions.append(found)
        left -= size
    return replace(page, regions=tuple(regions))


def _to_read(region: Region, left: int) -> tuple[Region, int]:
    data = region.crop.data if region.crop is not None and region.label in PICTURE_LABELS else None
    if not data:
        return region, 0
    width, height, _ = decode.size(data, MAX_CROP_PIXELS)
    if width * height > left:
        return replace(region, note=region.note or TOO_MANY), 0
    try:
        encoded = decode.as_jpeg(decode.decode(data, MAX_CROP_PIXELS))
    except BadInput as exc:  # a picture that is damaged behind its head: the page is not lost for it
        return replace(region, note=f"The picture cannot be read: {exc.message}"), 0
    return replace(region, request=encoded.data), width * height


def with_read_pictures(page: Page, read: Callable[[Page], Page]) -> Page:
    """Returns the page with the words of its pictures. `read` reads a page that is one picture."""
    if all(region.request is None for region in page.regions):
        return page
    regions = tuple(_read(region, page, read) for region in page.regions)
    return replace(page, regions=regions, markdown=page_markdown(regions))


def _read(region: Region, page: Page, read: Callable[[Page], Page]) -> Region:
    if region.request is None:
        return region
    pixels = decode.decode(region.request).pixels
    height, width = pixels.shape[:2]
    whole = Region(label=region.label, box=(0.0, 0.0, float(width), float(height)))
    found = read(replace(page, width=width, height=height, pixels=pixels, layer=None, regions=(whole,)))
    region = replace(region, request=None)
    said = [one for one in found.regions if one.content]
    if not said:
        return region
    content = "\n".join(filter(None, [region.content, *(one.content for one in said)]))
    return replace(region, content=content, reader=said[0].reader, confidence=_confidence(said))


def _confidence(regions: list[Region]) -> float | None:
    """Returns how much of all their letters is likely right."""
    rated = [(one.confidence, len(one.content or "")) for one in regions if one.confidence is not None]
    letters = sum(count for _, count in rated)
    return sum(rate * count for rate, count in rated) / letters if letters else None


def without_pictures(page: Page) -> Page:
    """Returns the page without its crops."""
    regions = tuple(replace(region, crop=None) for region in page.regions)
    return replace(page, regions=regions, markdown=page_markdown(regions))
