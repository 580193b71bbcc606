"""Cuts every region that has to stay a picture out of the page, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.region import FORMULA_LABELS, PICTURE_LABELS
from penstock.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Crop(Stage):
    """Gives regions with one of `labels` an encoded crop, named by its content."""

    name: ClassVar[str] = "crop"
    worker: ClassVar[str] = "penstock.workers.crop:CropWorker"
    reads: ClassVar[tuple[str, ...]] = ("pixels", "regions")
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    labels: tuple[str, ...] = tuple(sorted(PICTURE_LABELS | FORMULA_LABELS | {"table"}))
