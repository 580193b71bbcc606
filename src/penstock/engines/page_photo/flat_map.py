"""The way from a flattened picture back to the photograph it was made from.

A grid of nodes says where on the photograph each place of the flat picture came from; between nodes it is
interpolated. The same grid makes the flat picture and brings boxes back, so that the two cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from penstock.box import Box

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock.box import Pixels

STEP = 16  # flat pixels between two nodes
BAND = 256  # rows that are filled at a time: a whole map of a large picture would be larger than the picture
OUTLINE = 8  # points on the long sides of a box's outline


def sampled(
    picture: NDArray[Any],
    places: NDArray[np.float32],
    how: int = cv2.INTER_LINEAR,
    outside: tuple[int, int, int] | None = None,
) -> NDArray[Any]:
    """The picture at places (rows, columns, 2). Beyond its edge its edge goes on, or is all `outside`."""
    x, y = np.ascontiguousarray(places[..., 0]), np.ascontiguousarray(places[..., 1])
    if outside is None:
        return np.asarray(cv2.remap(picture, x, y, how, borderMode=cv2.BORDER_REPLICATE))
    return np.asarray(cv2.remap(picture, x, y, how, borderMode=cv2.BORDER_CONSTANT, borderValue=outside))


@dataclass(frozen=True, slots=True, eq=False)
class FlatMap:
    """`nodes[j, i]` is the place (x, y) on the photograph of the flat pixel (STEP * i, STEP * j)."""

    nodes: NDArray[np.float32] = field(repr=False)
    width: int  # of the flat picture
    height: int
    photo_width: int
    photo_height: int

    @property
    def photo_size(self) -> tuple[int, int]:
        return self.photo_width, self.photo_height

    def flattened(self, photo: Pixels, outside: tuple[int, int, int]) -> Pixels:
        """The flat picture, band by band. What lies outside of the photo gets the colour `outside`."""
        flat = np.empty((self.height, self.width, 3), np.uint8)
        across = np.arange(self.width, dtype=np.float32) / STEP
        for top in range(0, self.height, BAND):
            down = np.arange(top, min(top + BAND, self.height), dtype=np.float32) / STEP
            nodes = np.stack(np.meshgrid(across, down), axis=-1).astype(np.float32)
            flat[top : top + len(down)] = sampled(photo, sampled(self.nodes, nodes), outside=outside)
        return flat

    def on_photo(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        """Places of the flat picture as places of the photograph, inside of it."""
        at = np.asarray(points, np.float32).reshape(-1, 1, 2) / STEP
        rows, columns = self.nodes.shape[:2]
        found = sampled(self.nodes, np.clip(at, 0, (columns - 1, rows - 1)).astype(np.float32))
        inside = np.clip(found.reshape(-1, 2), 0, (self.photo_width, self.photo_height))
        return [(float(x), float(y)) for x, y in inside]

    def outline(self, box: Box) -> tuple[tuple[float, float], ...]:
        """The outline on the photograph of a box of the flat picture, from its top left, clockwise."""
        x0, y0, x1, y1 = box
        wide = np.linspace(x0, x1, OUTLINE)
        top, bottom = [(float(x), y0) for x in wide], [(float(x), y1) for x in wide[::-1]]
        return tuple(self.on_photo([*top, *bottom]))

    def box(self, box: Box) -> Box:
        """The upright box on the photograph around what a box of the flat picture holds."""
        xs, ys = zip(*self.outline(box), strict=True)
        return (min(xs), min(ys), max(xs), max(ys))
