"""The regions of made-up pages, a stage that puts them in place, and a stage that crops them at one scale."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from penstock.box import Pixels
from penstock.page import Page
from penstock.region import Region
from penstock.stage import Stage, Worker
from penstock.stages.crop_regions import CropRegions
from penstock.workers.crop_regions import CropRegionsWorker

WIDTH, HEIGHT = 2480, 3508
REGIONS = 8


def boxes_of(number: int, width: int, height: int) -> list[tuple[float, float, float, float]]:
    """The regions of a page: one below the other, widths and heights as real pages have them."""
    dice = random.Random(number)
    heights = [dice.choice([60, 120, 240, 400, 700, 900]) * dice.uniform(0.8, 1.2) for _ in range(REGIONS)]
    shrink = min(1.0, (0.92 * HEIGHT) / sum(heights))
    boxes, top = [], 60.0
    for tall in heights:
        wide = dice.choice([900, 1500, 2000, 2000]) + dice.randrange(200)
        box = (200.0, top, 200.0 + wide, top + tall * shrink)
        top = box[3] + 8
        boxes.append(tuple(v * s for v, s in zip(box, (width / WIDTH, height / HEIGHT) * 2, strict=True)))
    return boxes  # type: ignore[return-value]


@dataclass(frozen=True, kw_only=True)
class KnownBoxes(Stage):
    """Gives a page the regions it was drawn with: a layout network with random weights finds none."""

    name: ClassVar[str] = "boxes"
    reads: ClassVar[tuple[str, ...]] = ("width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions",)

    def open(self) -> Worker[Page]:
        return KnownBoxesWorker()


class KnownBoxesWorker(Worker[Page]):
    def __call__(self, items: list[Page]) -> list[Page]:
        return [replace(item, regions=_regions(item)) for item in items]


def _regions(item: Page) -> tuple[Region, ...]:
    number = int(Path(item.uri).stem)
    found = boxes_of(number, item.width, item.height)
    return tuple(Region(label="text", index=n, box=box) for n, box in enumerate(found))


@dataclass(frozen=True, kw_only=True)
class ScaledCropRegions(CropRegions):
    """Crops at a fixed scale, so that both sides send the same pixels."""

    scale: float = 1.0

    def open(self) -> Worker[Page]:
        return ScaledCropRegionsWorker(self)


class ScaledCropRegionsWorker(CropRegionsWorker):
    def __init__(self, stage: ScaledCropRegions) -> None:
        super().__init__(stage)
        self._fixed_scale = stage.scale

    def _scale(self, piece: Pixels) -> float:
        return self._fixed_scale
