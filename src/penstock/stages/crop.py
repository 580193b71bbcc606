"""Cuts every region that has to stay a picture, once, from the page in memory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from penstock.item import FORMULA_LABELS, PICTURE_LABELS, Item, Region
from penstock.stage import Stage

if TYPE_CHECKING:
    from penstock.item import Pixels

QUALITY = 92  # JPEG: text in a chart stays sharp; 95 costs a third more bytes and shows nothing more
FOLDER = "crops"


@dataclass(frozen=True, kw_only=True)
class Crop(Stage):
    """Gives regions with one of `labels` an encoded crop, named by its content."""

    name: ClassVar[str] = "crop"
    reads: ClassVar[tuple[str, ...]] = ("pixels", "regions")
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    labels: tuple[str, ...] = tuple(sorted(PICTURE_LABELS | FORMULA_LABELS | {"table"}))

    def open(self) -> _Cropper:
        return _Cropper(frozenset(self.labels))


class _Cropper:
    def __init__(self, labels: frozenset[str]) -> None:
        self._labels = labels

    def __call__(self, items: list[Item]) -> list[Item]:
        return [self._page(item) for item in items]

    def close(self) -> None:
        pass

    def _page(self, item: Item) -> Item:
        if item.pixels is None:
            return item
        regions = tuple(
            with_crop(region, item.pixels) if region.label in self._labels else region
            for region in item.regions
        )
        return replace(item, regions=regions)


def with_crop(region: Region, pixels: Pixels) -> Region:
    from penstock.engines.image.crop import as_jpeg, cut

    crop = as_jpeg(cut(pixels, region.box, region.polygon), QUALITY)
    name = hashlib.sha256(crop).hexdigest()[:24]
    return replace(region, crop=crop, crop_path=f"{FOLDER}/{name}.jpg")
