"""Pictures and places on them: the types that engines, documents and photos share.

A box is (x0, y0, x1, y1) in pixels of its picture, origin at the top left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]  # (height, width, 3), RGB
else:
    Pixels = object  # numpy stays out of what only names the type: a quick --help, a spec

Box = tuple[float, float, float, float]


class WayBack(Protocol):
    """The way from a flattened picture back to the photograph of a page that it was made from."""

    @property
    def photo_size(self) -> tuple[int, int]:
        """Width and height of the photograph."""

    def box(self, box: Box) -> Box:
        """The upright box on the photograph around what a box of the flat picture holds."""

    def outline(self, box: Box) -> tuple[tuple[float, float], ...]:
        """The outline of that on the photograph."""


class HasBox(Protocol):
    """Anything with a place on a picture: a word, a line, a region."""

    @property
    def box(self) -> Box: ...


def area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def shared_area(one: Box, other: Box) -> float:
    """The area that two boxes have in common."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, across) * max(0.0, down)


def iou(one: Box, other: Box) -> float:
    """Intersection over union, 0 where the boxes do not meet."""
    shared = shared_area(one, other)
    return shared / (area(one) + area(other) - shared) if shared else 0.0


def moved(box: Box, right: float, down: float) -> Box:
    return (box[0] + right, box[1] + down, box[2] + right, box[3] + down)


def enclosing(boxes: Sequence[Box]) -> Box:
    """The smallest box around them all."""
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return (min(x0s), min(y0s), max(x1s), max(y1s))


def holds_middle(outer: Box, inner: Box) -> bool:
    """Whether the middle of one box lies in another."""
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]
