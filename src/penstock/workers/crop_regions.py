"""Decodes a page once and cuts each region that is read or kept."""

from __future__ import annotations

import math
from dataclasses import replace

from penstock.box import Pixels
from penstock.engines.chat.region_tasks import task_of
from penstock.engines.image.crop import as_jpeg, cut, is_blank, scaled, sendable, text_height
from penstock.engines.image.decode import decode
from penstock.page import Page
from penstock.processes.malloc import keep_pages
from penstock.region import Region
from penstock.stage import Worker
from penstock.stages.crop_regions import MAX_PIXELS, CropRegions
from penstock.workers.crop import crop_asset

SENT_QUALITY = 85  # JPEG; 75 as GLM-OCR's SDK sends rings around thin strokes, 95 is twice the bytes
MIN_SCALE = 0.4  # of the page's resolution: below, an estimate gone wrong would cost the text


class CropRegionsWorker(Worker[Page]):
    def __init__(self, stage: CropRegions) -> None:
        self._stage = stage
        if stage.needs.process:
            keep_pages()

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(page) for page in items]

    def _page(self, page: Page) -> Page:
        wanted = [r for r in page.regions if task_of(r.label, self._stage.margins) != "drop"]
        pixels = page.pixels
        if wanted and pixels is None:
            assert page.image is not None
            pixels = decode(page.image).pixels
        regions = [self._region(region, pixels) for region in wanted if pixels is not None]
        # numbered anew: what was left out leaves no hole in the reading order
        return replace(page, regions=tuple(replace(r, index=i) for i, r in enumerate(regions)))

    def _region(self, region: Region, pixels: Pixels) -> Region:
        piece = cut(pixels, region.box, region.polygon)
        if task_of(region.label, self._stage.margins) == "keep":
            return replace(region, crop=crop_asset(piece)) if self._stage.crops else region
        if is_blank(piece):
            return replace(region, content="", note="The region is blank; it was not sent.")
        return replace(region, request=sent_picture(piece, self._stage.text_height, self._stage.max_pixels))


def sent_picture(piece: Pixels, print_height: float, max_pixels: int = MAX_PIXELS) -> bytes:
    """Returns a region's picture as it is sent, its print about `print_height` high; 0 keeps its size."""
    return as_jpeg(sendable(scaled(piece, _scale(piece, print_height, max_pixels))), SENT_QUALITY)


def _scale(piece: Pixels, print_height: float, max_pixels: int) -> float:
    most = math.sqrt(max_pixels / (piece.shape[0] * piece.shape[1]))
    if not print_height:
        return min(1.0, most)
    height = text_height(piece)
    wanted = print_height / height if height else 1.0
    return min(1.0, most, max(MIN_SCALE, wanted))
