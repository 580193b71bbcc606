"""Pages whose regions are known, and the stages that put them in place and cut them at one scale.

A module of its own: stages that run in processes are imported there by name.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from penstock.stages.cut import Cut

from penstock.page import Page
from penstock.region import Region
from penstock.stage import Stage

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
    """Puts the boxes that were drawn where random weights found none."""

    name: ClassVar[str] = "boxes"
    reads: ClassVar[tuple[str, ...]] = ("width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions",)

    def open(self) -> _Boxes:
        return _Boxes()


class _Boxes:
    def __call__(self, items: list[Page]) -> list[Page]:
        return [replace(item, regions=_regions(item)) for item in items]

    def close(self) -> None:
        pass


def _regions(item: Page) -> tuple[Region, ...]:
    number = int(Path(item.uri).stem)
    found = boxes_of(number, item.width, item.height)
    return tuple(Region(label="text", index=n, box=box) for n, box in enumerate(found))


@dataclass(frozen=True, kw_only=True)
class ScaledCut(Cut):
    """Cut at a fixed scale, so that both sides send the same pixels."""

    scale: float = 1.0

    def open(self) -> Any:
        worker = super().open()
        worker._scale = lambda piece: self.scale  # type: ignore[method-assign]
        return worker
