"""Shapes whose size is known, as Gaussians on their surface: what the volume code is tested with.

`noise` is in voxels of a 64-grid, as a reconstruction scatters; `floaters` is the share of strays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock.photos.gaussians import Floats, Gaussians, shell

Box3 = tuple[float, float, float, float, float, float]  # x0, y0, z0, x1, y1, z1

TABLE: tuple[Box3, ...] = (
    (0, 0, 0.70, 1.4, 0.8, 0.74),
    *((x, y, 0.0, x + 0.06, y + 0.06, 0.70) for x in (0.0, 1.34) for y in (0.0, 0.74)),
)
SHELF: tuple[Box3, ...] = (
    (0, 0, 0, 0.03, 0.3, 1.8),
    (0.77, 0, 0, 0.8, 0.3, 1.8),
    *((0.03, 0.0, z, 0.77, 0.3, z + 0.03) for z in (0.0, 0.45, 0.9, 1.35, 1.77)),
)
L_SOFA: tuple[Box3, ...] = ((0, 0, 0, 2.4, 0.95, 0.85), (0, 0.95, 0, 0.95, 1.8, 0.85))


def boxes(parts: Sequence[Box3], num: int, seed: int = 0) -> Floats:
    """Points spread evenly over the outsides of boxes."""
    random = np.random.default_rng(seed)
    low, high = np.array([p[:3] for p in parts]), np.array([p[3:] for p in parts])
    size = high - low
    areas = np.stack([size[:, 1] * size[:, 2], size[:, 0] * size[:, 2], size[:, 0] * size[:, 1]], axis=1)
    share = (areas / areas.sum()).ravel()
    picked = random.choice(len(share), num, p=share)
    part, axis = np.divmod(picked, 3)
    points = low[part] + random.random((num, 3)) * size[part]
    side = random.integers(0, 2, num)
    points[np.arange(num), axis] = np.where(side, high[part, axis], low[part, axis])
    return np.asarray(points, np.float32)


def sphere(radius: float, num: int, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    ways = random.normal(size=(num, 3))
    return np.asarray(radius * ways / np.linalg.norm(ways, axis=1, keepdims=True), np.float32)


def cylinder(radius: float, height: float, num: int, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    cap = random.random(num) < radius / (radius + height)
    angle = random.random(num) * 2 * np.pi
    far = np.where(cap, np.sqrt(random.random(num)), 1.0) * radius
    z = np.where(cap, random.integers(0, 2, num) * height, random.random(num) * height)
    return np.stack([far * np.cos(angle), far * np.sin(angle), z], axis=1).astype(np.float32)


def cloud(points: Floats, noise: float = 0.3, floaters: float = 0.0, seed: int = 1) -> Gaussians:
    """Points as a reconstruction would give them."""
    random = np.random.default_rng(seed)
    voxel = float(np.ptp(points, axis=0).max()) / 64
    rough = points + random.normal(scale=noise * voxel, size=points.shape)
    num = int(floaters * len(points))
    middle, reach = rough.mean(axis=0), np.ptp(rough, axis=0).max()
    strays = middle + random.uniform(-1.0, 1.0, (num, 3)) * reach
    return shell(np.concatenate([rough, strays]).astype(np.float32), 0.5 * voxel)
