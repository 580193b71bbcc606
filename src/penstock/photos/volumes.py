"""How large a thing is, from the Gaussians on its surface.

The box is the 1 % trimmed extent of the cleaned cloud in its own upright frame; a box searched over
yaw checks it. Gaussians are a shell, so what is inside is voted for by rays along the axes: a voxel
with surface on at least five of its six sides is inside (an open underside costs one side). Sums of
ellipsoids, alpha shapes and boxes in the camera's frame are off by two to thirty times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.errors import BadInput
from penstock.photos.gaussians import Floats, Gaussians

TRIM = 0.01  # of the points at each end of an axis
YAW_TRIM = 0.005
MIN_POINTS = 32  # fewer make no surface
MIN_OPACITY = 0.5
FLOATER = 4.0  # times the median distance to a neighbour
NEIGHBOURS = 4
VOXELS = 64  # along the longest side, SAM-3D's own grid
AGREE = 0.10  # the two boxes may differ by this
VOTES = 5
CLEAN_SAMPLE = 10_000  # points neighbours are sought among: 0.1 s for 100,000 Gaussians instead of 0.5 s
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Volume:
    """Metres and cubic metres. `agrees` is False where the two boxes differ: look at it."""

    width: float
    depth: float
    height: float
    bbox_cbm: float
    yaw_bbox_cbm: float
    hull_cbm: float
    occupied_cbm: float
    agrees: bool

    @property
    def fill_ratio(self) -> float:
        """How much of the box is solid."""
        return min(1.0, self.occupied_cbm / self.bbox_cbm) if self.bbox_cbm > 0 else 0.0


def measure(cloud: Gaussians) -> Volume:
    """Raises BadInput for a cloud that is empty, not finite, or has no extent."""
    points = clean(cloud)
    low, high = trimmed(points, TRIM)
    size = high - low
    if not np.all(size > 0):
        raise BadInput("the cloud is flat: it has no volume.")
    width, depth, height = (float(side) for side in size)
    bbox = width * depth * height
    yaw_bbox = _yaw_box(points)
    inside = points[np.all((points >= low - 0.02 * size) & (points <= high + 0.02 * size), axis=1)]
    return Volume(
        width=width,
        depth=depth,
        height=height,
        bbox_cbm=bbox,
        yaw_bbox_cbm=yaw_bbox,
        hull_cbm=_hull(inside),
        occupied_cbm=min(bbox, _occupied(inside)),
        agrees=abs(yaw_bbox - bbox) <= AGREE * bbox,
    )


def clean(cloud: Gaussians) -> Floats:
    """Positions of the Gaussians that are opaque and have neighbours."""
    if cloud.num == 0:
        raise BadInput("the cloud is empty.")
    finite = np.isfinite(cloud.position).all(axis=1)
    if not finite.all():
        raise BadInput(f"{np.count_nonzero(~finite):,} of {cloud.num:,} Gaussians have no finite place.")
    points = cloud.position[cloud.opacity > MIN_OPACITY]
    if len(points) < MIN_POINTS:
        raise BadInput(f"the cloud has {len(points)} opaque Gaussians; {MIN_POINTS} are needed.")
    return points[_crowded(points)]


def trimmed(points: Floats, share: float) -> tuple[Floats, Floats]:
    """The quantiles at `share` and 1 - `share` of every axis."""
    low, high = np.quantile(points, [share, 1 - share], axis=0)
    return low.astype(np.float32), high.astype(np.float32)


def _crowded(points: Floats) -> Bools:
    """Which points lie no farther from their neighbours than FLOATER times what is usual."""
    from scipy.spatial import cKDTree

    # neighbours are sought among a sample, which tells a floater as well and costs a fraction
    step = max(1, len(points) // CLEAN_SAMPLE)
    tree = cKDTree(points[::step])
    near = min(NEIGHBOURS, len(points[::step]) - 1)
    distance = np.asarray(tree.query(points, k=[near + 1], workers=1)[0]).ravel()
    keep: Bools = distance <= FLOATER * max(float(np.median(distance)), 1e-9)
    return keep


def _yaw_box(points: Floats) -> float:
    """The volume of the smallest upright box over yaw."""
    sample = points[:: max(1, len(points) // 20_000)]
    height = float(np.ptp(np.quantile(sample[:, 2], [YAW_TRIM, 1 - YAW_TRIM])))
    areas = []
    for yaw in np.deg2rad(np.arange(0.0, 90.0, 3.0)):
        axes = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]], np.float32)
        low, high = trimmed(sample[:, :2] @ axes.T, YAW_TRIM)
        areas.append(float(np.prod(high - low)))
    return min(areas) * height


def _hull(points: Floats) -> float:
    from scipy.spatial import ConvexHull, QhullError

    try:
        return float(ConvexHull(points[:: max(1, len(points) // 20_000)]).volume)
    except QhullError as exc:
        raise BadInput("the cloud is flat: it has no hull.") from exc


def _occupied(points: Floats) -> float:
    """The solid volume by rays along the axes; thin open furniture has none that this grid resolves."""
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    pitch = float(size.max()) / VOXELS
    shape = np.maximum(1, np.ceil(size / pitch).astype(int))
    cells = np.minimum(((points - low) / pitch).astype(int), shape - 1)
    surface = np.zeros(shape, bool)
    surface[tuple(cells.T)] = True
    surface = _closed(surface)
    votes = sum(_seen(surface, axis, back).astype(np.uint8) for axis in range(3) for back in (False, True))
    solid = surface | (np.asarray(votes) >= VOTES)
    # the shell runs through the middle of its voxels: half of each lies outside
    return float(np.count_nonzero(solid) - 0.5 * np.count_nonzero(_boundary(solid))) * pitch**3


def _closed(surface: Bools) -> Bools:
    from scipy.ndimage import binary_closing

    # a cube, not a cross: a cross pokes through holes of one voxel
    padded = np.pad(surface, 2)
    closed: Bools = binary_closing(padded, np.ones((3, 3, 3), bool))[2:-2, 2:-2, 2:-2]
    return closed


def _seen(surface: Bools, axis: int, back: bool) -> Bools:
    """Voxels that have surface at or before them along an axis."""
    way = np.flip(surface, axis) if back else surface
    seen = np.logical_or.accumulate(way, axis=axis)
    return np.flip(seen, axis) if back else seen


def _boundary(solid: Bools) -> Bools:
    from scipy.ndimage import binary_erosion

    edge: Bools = solid & ~binary_erosion(solid)
    return edge
