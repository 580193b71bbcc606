"""A cloud in the shape of an outline: the mask pumped up to the depth its class has.

Not a reconstruction: front and back are the same, and the thing faces the camera. It has the right
size and colours, opens in every viewer, and says `estimate: "prior"` wherever it goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from penstock.photos.gaussians import Gaussians, shell

if TYPE_CHECKING:
    from penstock.box import Pixels

NUM = 24_000  # Gaussians: 1.6 MB as PLY, and no gaps at a metre
ROUNDED = 0.12  # of the shorter side: how far from the outline the full depth is reached


def inflate(pixels: Pixels, mask: NDArray[np.bool_], width: float, depth: float, height: float) -> Gaussians:
    """Front and back of the outline, `width` x `depth` x `height` metres, standing on z = 0."""
    import cv2

    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    cut = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    photo = pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    tall, wide = cut.shape
    padded = np.pad(cut.astype(np.uint8), 1)
    inwards = cv2.distanceTransform(padded, cv2.DIST_L2, 5)[1:-1, 1:-1].astype(np.float32)
    deep = np.minimum(1.0, inwards / max(1.0, ROUNDED * min(tall, wide)))
    y, x, side = _places(cut, inwards)
    half = 0.5 * depth * np.sqrt(1 - (1 - deep[y, x]) ** 2)
    # points on the rim fill the sides between front and back
    offset = np.where(np.abs(side) < 1, side, np.sign(side)) * half
    position = np.stack(
        [((x + 0.5) / wide - 0.5) * width, offset, (1 - (y + 0.5) / tall) * height], axis=1
    ).astype(np.float32)
    colour = (photo[y, x] / 255).astype(np.float32)
    sigma = 0.6 * float(np.sqrt(2 * width * height * cut.mean() / NUM))
    return shell(position, sigma, colour)


def _places(
    cut: NDArray[np.bool_], inwards: NDArray[np.float32]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Pixels to stand on, and for each how far front (-1) to back (1) it is."""
    random = np.random.default_rng(0)
    inner_y, inner_x = np.nonzero(cut)
    rim_y, rim_x = np.nonzero(cut & (inwards <= 0.1 * max(1.0, float(inwards.max()))))
    inner = random.integers(0, len(inner_y), int(0.8 * NUM))
    rim = random.integers(0, len(rim_y), NUM - len(inner)) if len(rim_y) else inner[:0]
    side = np.concatenate([np.where(np.arange(len(inner)) % 2, -1.0, 1.0), random.uniform(-1, 1, len(rim))])
    return (
        np.concatenate([inner_y[inner], rim_y[rim]]),
        np.concatenate([inner_x[inner], rim_x[rim]]),
        side,
    )
