"""Finds the things in a photo and outlines them: boxes with label, score and mask.

Boxes that a user gave are taken instead of a model's, photo by photo: those of the plan, and those that
a photo brings as its objects. Masks are cleaned, overlaps settled, and things that the frame cuts are marked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.item import Item
from penstock.photo import Photo
from penstock.photos.furniture import without_password
from penstock.photos.user_boxes import GivenBox
from penstock.stage import Batch, Stage, Supervision, tuning


@dataclass(frozen=True, kw_only=True)
class Detect(Stage):
    """Gives photos their objects. `labels` empty means: what movers move.

    Models read English: other words go through the furniture table, and things keep the label asked for.
    """

    name: ClassVar[str] = "detect"
    worker: ClassVar[str] = "penstock.workers.detect:DetectWorker"
    item: ClassVar[type[Item]] = Photo
    reads: ClassVar[tuple[str, ...]] = ("pixels", "objects")
    writes: ClassVar[tuple[str, ...]] = ("objects",)
    engine: str = "saliency"
    labels: tuple[str, ...] = ()
    min_score: float = 0.3
    model: str | None = None
    outlines: str = "colour"  # or "mobile-sam", for boxes in which colour finds no outline
    boxes: tuple[GivenBox, ...] = ()
    furniture: str | None = None
    batch: Batch = tuning(Batch(max_items=4))
    # torch on a GPU hoards memory; a fresh process does not
    supervision: Supervision = tuning(Supervision(max_growth_mb=8000.0))

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "furniture": without_password(self.furniture)}
