"""What a mask says of a thing: its ends in the photo, and which of them are the thing's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from penstock.box import Box
from penstock.photos.masks import Mask, box_of

TOUCH = 4  # pixels between two masks that touch: outlines are that far off
END = 0.12  # of a mask's side: what lies that near to an end makes the end
HIDDEN_END = 0.3  # of an end that touches a nearer thing: the thing goes on behind it
STRIP = 20  # the foot is looked for in this part of the width, at either side


@dataclass(frozen=True, slots=True)
class Outline:
    """A mask's box, how low its left and right ends reach, and which sides are not its own ends.

    `open_sides` are those the frame cuts or a nearer thing hides: it goes on there, by an unknown length.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    foot_left: float | None  # the lowest pixel of its leftmost twentieth; None where that says nothing
    foot_right: float | None
    open_sides: frozenset[str] = frozenset()  # of "left", "top", "right", "bottom"

    @property
    def wide(self) -> float:
        return self.x1 - self.x0

    @property
    def tall(self) -> float:
        return self.y1 - self.y0


def outline_of(mask: Mask, cut: frozenset[str], nearer: Mask | None = None, is_box: bool = False) -> Outline:
    """Raises ValueError for an empty mask. `nearer`: pixels of things that stand before it.

    Of a mask that is only a box the feet say nothing.
    """
    box = box_of(mask)
    if box is None:
        raise ValueError("an empty mask has no outline")
    hidden = _hidden(mask, nearer, box) if nearer is not None else frozenset()
    sides = cut | hidden
    feet = (None, None) if is_box or "bottom" in sides else _feet(mask, box)
    left, right = (
        None if side in sides else foot for side, foot in zip(("left", "right"), feet, strict=True)
    )
    return Outline(*box, left, right, frozenset(sides))


def occluders(masks: Sequence[Mask]) -> list[Mask | None]:
    """Returns for each mask the pixels of those that reach lower and so are nearer; None where none does."""
    lowest = [box[3] if (box := box_of(mask)) else 0.0 for mask in masks]
    found: list[Mask | None] = []
    for number, foot in enumerate(lowest):
        nearer = [
            mask for other, mask in enumerate(masks) if other != number and lowest[other] > foot + TOUCH
        ]
        found.append(np.logical_or.reduce(nearer) if nearer else None)
    return found


def _feet(mask: Mask, box: Box) -> tuple[float, float]:
    x0, y0, x1, y1 = (int(v) for v in box)
    strip = max(1, (x1 - x0) // STRIP)
    parts = (mask[y0:y1, x0 : x0 + strip], mask[y0:y1, x1 - strip : x1])
    left, right = (float(y0 + np.flatnonzero(part.any(axis=1))[-1] + 1) for part in parts)
    return left, right


def _hidden(mask: Mask, nearer: Mask, box: Box) -> frozenset[str]:
    """The sides at which a nearer thing ends this one."""
    kernel = np.ones((2 * TOUCH + 1, 2 * TOUCH + 1), np.uint8)
    touched = mask & (cv2.dilate(nearer.astype(np.uint8), kernel) > 0)
    if not touched.any():
        return frozenset()
    x0, y0, x1, y1 = (int(v) for v in box)
    inside, touch = mask[y0:y1, x0:x1], touched[y0:y1, x0:x1]
    turned = {"top": 0, "left": 3, "bottom": 2, "right": 1}  # quarter turns that bring the side up
    return frozenset(side for side, by in turned.items() if _ends(np.rot90(inside, by), np.rot90(touch, by)))


def _ends(mask: Mask, touched: Mask) -> bool:
    """Whether the mask's top end, and not only one of its sides, lies at what it touches."""
    top = mask.argmax(axis=0)
    columns = mask.any(axis=0) & (top <= END * len(mask))
    places = np.flatnonzero(columns)
    return bool(touched[top[places], places].mean() > HIDDEN_END) if len(places) else False
