"""Cuts the pictures to keep out of pages in memory."""

from __future__ import annotations

from dataclasses import replace

from penstock.box import Pixels
from penstock.engines.image.crop import as_jpeg, cut
from penstock.page import Page
from penstock.region import Asset, Region, asset
from penstock.stage import Worker
from penstock.stages.crop import Crop

QUALITY = 92  # JPEG: text in a chart stays sharp; 95 costs a third more bytes and shows nothing more
FOLDER = "crops"


class CropWorker(Worker[Page]):
    def __init__(self, stage: Crop) -> None:
        self._labels = frozenset(stage.labels)

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(page) for page in items]

    def _page(self, page: Page) -> Page:
        if page.pixels is None:
            return page
        regions = tuple(
            with_crop(region, page.pixels) if region.label in self._labels else region
            for region in page.regions
        )
        return replace(page, regions=regions)


def with_crop(region: Region, pixels: Pixels) -> Region:
    """The region with the picture of it that is kept."""
    return replace(region, crop=crop_asset(cut(pixels, region.box, region.polygon)))


def crop_asset(piece: Pixels) -> Asset:
    return asset(FOLDER, as_jpeg(piece, QUALITY), "jpg")
