"""Cuts every region of a page once from one decode, ready to be sent to a model server."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from penstock.item import Item, Region
from penstock.stage import Stage
from penstock.stages.crop import FOLDER, QUALITY
from penstock.stages.tasks import Furniture, task_of

if TYPE_CHECKING:
    from penstock.item import Pixels

SENT_QUALITY = 85  # JPEG; 75 as GLM-OCR's SDK sends rings around thin strokes, 95 is twice the bytes
SMALLEST_SCALE = 0.4  # of the page's resolution: below, an estimate gone wrong would cost the text
MAX_PIXELS = 4_816_896  # GLM-OCR's own preprocessor scales down to this


@dataclass(frozen=True, kw_only=True)
class Cut(Stage):
    """Gives regions that are read or kept their crop; regions nobody wants are left out.

    `text_height` scales a region down so that its print is about this high, which saves picture tokens;
    0 sends the page's own resolution. `decode` says whether pages come as encoded images or as pixels.
    """

    name: ClassVar[str] = "crop"
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    furniture: Furniture = "drop"
    text_height: float = 0.0
    max_pixels: int = MAX_PIXELS
    decode: bool = True

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("image" if self.decode else "pixels", "regions")

    def open(self) -> _Cutter:
        if self.needs.process:
            from penstock.processes.malloc import keep_pages

            keep_pages()
        return _Cutter(self)


class _Cutter:
    def __init__(self, stage: Cut) -> None:
        self._stage = stage

    def __call__(self, items: list[Item]) -> list[Item]:
        return [self._page(item) for item in items]

    def close(self) -> None:
        pass

    def _page(self, item: Item) -> Item:
        wanted = [r for r in item.regions if task_of(r.label, self._stage.furniture) != "drop"]
        pixels = item.pixels
        if wanted and pixels is None:
            from penstock.engines.image.decode import decode

            assert item.image is not None
            pixels = decode(item.image).pixels
        regions = [self._region(region, pixels) for region in wanted if pixels is not None]
        # numbered anew: what was left out leaves no hole in the reading order
        return replace(item, regions=tuple(replace(r, index=i) for i, r in enumerate(regions)))

    def _region(self, region: Region, pixels: Pixels) -> Region:
        from penstock.engines.image.crop import as_jpeg, cut, is_blank, scaled, sendable

        piece = cut(pixels, region.box, region.polygon)
        if task_of(region.label, self._stage.furniture) == "keep":
            crop = as_jpeg(piece, QUALITY)
            name = hashlib.sha256(crop).hexdigest()[:24]
            return replace(region, crop=crop, crop_path=f"{FOLDER}/{name}.jpg")
        if is_blank(piece):
            return replace(region, content="", note="The region is blank; it was not sent.")
        return replace(region, crop=as_jpeg(sendable(scaled(piece, self._scale(piece))), SENT_QUALITY))

    def _scale(self, piece: Pixels) -> float:
        from penstock.engines.image.crop import text_height

        most = math.sqrt(self._stage.max_pixels / (piece.shape[0] * piece.shape[1]))
        if not self._stage.text_height:
            return min(1.0, most)
        height = text_height(piece)
        wanted = self._stage.text_height / height if height else 1.0
        return min(1.0, most, max(SMALLEST_SCALE, wanted))
