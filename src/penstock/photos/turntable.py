"""A cloud turning once around itself, as a GIF: a picture for people, not a renderer."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from penstock.photos.gaussians import Gaussians

FRAMES, SIDE, FRAME_MS = 24, 320, 80
TILT = np.deg2rad(15.0)  # looked at a little from above
BACK = 245
MIN_OPACITY = 0.3


def turntable(cloud: Gaussians) -> bytes:
    """FRAMES views, farthest points drawn first."""
    from PIL import Image

    points = cloud.position - (cloud.position.min(axis=0) + cloud.position.max(axis=0)) / 2
    reach = float(np.linalg.norm(points, axis=1).max()) or 1.0
    solid = cloud.opacity > MIN_OPACITY
    colour = np.clip(cloud.colour[solid] * 255, 0, 255).astype(np.uint8)
    views = [
        _view(points[solid] / reach, colour, yaw) for yaw in np.linspace(0, 2 * np.pi, FRAMES, endpoint=False)
    ]
    frames = [Image.fromarray(view) for view in views]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=FRAME_MS, loop=0)
    return out.getvalue()


def _view(points: NDArray[np.float32], colour: NDArray[np.uint8], yaw: float) -> NDArray[np.uint8]:
    across = points[:, 0] * np.cos(yaw) - points[:, 1] * np.sin(yaw)
    away = points[:, 0] * np.sin(yaw) + points[:, 1] * np.cos(yaw)
    up = points[:, 2] * np.cos(TILT) + away * np.sin(TILT)
    order = np.argsort(-(away * np.cos(TILT) - points[:, 2] * np.sin(TILT)))
    x = (SIDE / 2 + 0.46 * SIDE * across).astype(int)[order]
    y = (SIDE / 2 - 0.46 * SIDE * up).astype(int)[order]
    frame = np.full((SIDE, SIDE, 3), BACK, np.uint8)
    for right in range(3):  # a point is three pixels wide: no gaps at this size
        for down in range(3):
            frame[np.clip(y + down, 0, SIDE - 1), np.clip(x + right, 0, SIDE - 1)] = colour[order]
    return frame
