"""Finds and outlines things in photos: one interface, several models.

Every segmenter takes a batch of RGB pictures and gives, for each, boxes with label, score and a mask of
the picture's own size. Which model is a word; weights and packages that are absent are a MissingModel
that says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from penstock.plugins import home_of, load

if TYPE_CHECKING:
    from penstock.box import Box, Pixels

Mask = NDArray[np.bool_]

# what is looked for without --labels: what movers move
LABELS = (
    "sofa", "armchair", "chair", "office chair", "stool", "table", "coffee table", "desk", "bed", "wardrobe",
    "bookcase", "cabinet", "dresser", "nightstand", "tv stand", "television", "refrigerator",
    "washing machine", "microwave", "piano", "lamp", "potted plant", "mirror", "bicycle", "box",
)  # fmt: skip

SEGMENTERS = {
    "saliency": "penstock.engines.segment.saliency:SaliencySegmenter",
    "nanodet": "penstock.engines.segment.nanodet:NanodetSegmenter",
    "grounded": "penstock.engines.segment.grounded:GroundedSegmenter",
    "rfdetr": "penstock.engines.segment.rfdetr:RfDetrSegmenter",
    "yoloe": "penstock.engines.segment.yoloe:YoloeSegmenter",
}

CLOSED = frozenset({"rfdetr", "nanodet"})  # these know their own labels and no others
# NanoDet's: COCO's classes by number; only what people move or what stands in rooms has a name here
CLASSES = {
    1: "bicycle", 13: "bench", 28: "suitcase", 56: "chair", 57: "couch", 58: "potted plant", 59: "bed",
    60: "dining table", 61: "toilet", 62: "tv", 68: "microwave", 69: "oven", 72: "refrigerator",
}  # fmt: skip
# a word of COCO stands for more kinds of the furniture table than the one it names
COARSE: dict[str, tuple[str, ...]] = {
    "chair": ("armchair", "office_chair", "bar_stool", "stool", "massage_chair"),
    "couch": ("corner_sofa", "sofa_bed", "armchair"),
    "dining table": ("desk", "coffee_table", "side_table"),
    "bed": ("bunk_bed", "mattress", "sofa_bed"),
    "oven": ("dishwasher", "washing_machine"),
}


@dataclass(frozen=True, slots=True, eq=False)
class FoundThing:
    """One thing in a picture. `mask` has the picture's height and width.

    `outlined` is False where the mask is only the box. `finder` is who found it, where that is not the
    segmenter that was asked.
    """

    label: str
    score: float
    box: Box
    mask: Mask
    outlined: bool = True
    finder: str = ""


@dataclass(frozen=True, slots=True)
class SegmenterOptions:
    """What a segmenter looks for, and the least score it keeps."""

    labels: tuple[str, ...] = LABELS
    min_score: float = 0.3
    model: str | None = None  # weights: a folder, a file or a hub name; the engine's own when None
    device: str = "auto"
    with_sam: bool = False  # MobileSAM outlines what colour and saliency cannot


class Segmenter(Protocol):
    def find(self, pictures: Sequence[Pixels]) -> list[list[FoundThing]]: ...

    def close(self) -> None: ...


def open_segmenter(name: str, wanted: SegmenterOptions) -> Segmenter:
    """The segmenter of this name, with its weights loaded."""
    segmenter: Segmenter = load(home_of("segmenters", SEGMENTERS, name, "segmenter"))(wanted)
    return segmenter
