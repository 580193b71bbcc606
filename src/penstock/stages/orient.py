"""Turns pages upright."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.page import Page
from penstock.stage import Stage, Worker


@dataclass(frozen=True, kw_only=True)
class Orient(Stage):
    """Rotates the pixels by 90, 180 or 270 degrees where the text says so."""

    name: ClassVar[str] = "orient"
    reads: ClassVar[tuple[str, ...]] = ("pixels", "layer")
    writes: ClassVar[tuple[str, ...]] = ("pixels", "rotation", "width", "height", "layer")

    def open(self) -> Worker[Page]:
        from penstock.workers.orient import OrientWorker

        return OrientWorker()
