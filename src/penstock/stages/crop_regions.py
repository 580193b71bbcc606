"""Cuts every region of a page once from one decode, for a model server to read or for the output to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.engines.chat.region_tasks import Margins
from penstock.stage import Stage

MAX_PIXELS = 4_816_896  # GLM-OCR's own preprocessor scales down to this


@dataclass(frozen=True, kw_only=True)
class CropRegions(Stage):
    """Gives regions to read their `request`, regions to keep their `crop`; leaves out what is not wanted.

    `text_height` scales a region down so that its print is about this high, which saves picture tokens;
    0 sends the page's own resolution. Without `crops` a picture keeps its place and no file. `decode` says
    whether pages come as encoded images or as pixels.
    """

    name: ClassVar[str] = "crop_regions"
    worker: ClassVar[str] = "penstock.workers.crop_regions:CropRegionsWorker"
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    margins: Margins = "drop"
    text_height: float = 0.0
    max_pixels: int = MAX_PIXELS
    crops: bool = True
    decode: bool = True

    @property
    def reads(self) -> tuple[str, ...]:
        return ("image" if self.decode else "pixels", "regions")
