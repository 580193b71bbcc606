"""Turns pages upright, and makes photographed ones flat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.choices import FlattenUse
from penstock.engines.ocr.effort import Effort
from penstock.stage import Stage


@dataclass(frozen=True, kw_only=True)
class Orient(Stage):
    """Rotates the pixels by 90, 180 or 270 degrees where the text says so.

    A photograph of a page is then flattened: its paper pulled square, its lines levelled, its shadows lifted.
    `flatten="auto"` looks whether a picture is one; "always" flattens whatever has lines of text.
    """

    name: ClassVar[str] = "orient"
    worker: ClassVar[str] = "penstock.workers.orient:OrientWorker"
    reads: ClassVar[tuple[str, ...]] = ("pixels", "layer")
    writes: ClassVar[tuple[str, ...]] = (
        "pixels",
        "rotation",
        "width",
        "height",
        "layer",
        "flattened",
        "way_back",
    )
    flatten: FlattenUse = "auto"
    effort: Effort = "best"  # as runs had it that name none
