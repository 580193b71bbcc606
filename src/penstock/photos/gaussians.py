"""A cloud of 3D Gaussians: where each is, how large, how opaque, what colour.

Values are plain: metres (or the unit cube of a model), opacity 0..1, colour 0..1. Files store
logarithms and logits instead; `ply.py` turns one into the other. Clouds stand upright: z is up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from penstock.errors import BadInput

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Gaussians:
    """`num` Gaussians. `rotation` is w, x, y, z, of length one."""

    position: Floats  # (num, 3)
    sigma: Floats  # (num, 3)
    opacity: Floats  # (num,)
    colour: Floats  # (num, 3)
    rotation: Floats  # (num, 4)

    @property
    def num(self) -> int:
        return len(self.position)

    def scaled(self, factor: float) -> Gaussians:
        """The same cloud `factor` times as large. Raises BadInput if `factor` is not a positive number."""
        if not np.isfinite(factor) or factor <= 0:
            raise BadInput(f"A cloud cannot be scaled by {factor}.")
        return replace(
            self,
            position=(self.position * factor).astype(np.float32),
            sigma=(self.sigma * factor).astype(np.float32),
        )

    def turned(self, yaw: float) -> Gaussians:
        """The same cloud turned by `yaw` radians about the upright axis."""
        cos, sin = np.cos(yaw), np.sin(yaw)
        matrix = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]], np.float32)
        half = np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)], np.float32)
        return replace(self, position=self.position @ matrix.T, rotation=_product(half, self.rotation))

    def kept(self, which: NDArray[np.bool_]) -> Gaussians:
        return Gaussians(
            self.position[which],
            self.sigma[which],
            self.opacity[which],
            self.colour[which],
            self.rotation[which],
        )


def shell(position: Floats, sigma: float, colour: Floats | None = None, opacity: float = 0.9) -> Gaussians:
    """Equal, round Gaussians at these places: how every cloud of our own is made."""
    num = len(position)
    grey = np.full((num, 3), 0.6, np.float32)
    rotation = np.zeros((num, 4), np.float32)
    rotation[:, 0] = 1.0
    return Gaussians(
        np.ascontiguousarray(position, np.float32),
        np.full((num, 3), sigma, np.float32),
        np.full(num, opacity, np.float32),
        grey if colour is None else np.ascontiguousarray(colour, np.float32),
        rotation,
    )


def _product(one: Floats, many: Floats) -> Floats:
    """The quaternion `one` before each of `many`."""
    w, x, y, z = one
    a, b, c, d = many.T
    turned = np.stack(
        [
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b,
            w * d + x * c - y * b + z * a,
        ],
        axis=1,
    )
    return turned.astype(np.float32)
