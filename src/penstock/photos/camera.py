"""Where the camera stood: focal length from EXIF, tilt from upright edges, and what a pixel sees.

Camera axes are x right, y down, z forward, in metres; the camera is `height` above the floor and looks
`pitch` radians below the horizon. Pointmaps for SAM-3D are in PyTorch3D's axes instead: x left, y up,
z forward, so `to_pytorch3d` negates two of them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from penstock.photos.gaussians import Floats

if TYPE_CHECKING:
    from penstock.box import Pixels

EXIF_IFD = 0x8769
FOCAL_35MM, FOCAL_MM, PLANE_X, PLANE_UNIT = 0xA405, 0x920A, 0xA20E, 0xA210
FILM_WIDTH = 36.0  # mm, the long side of 35 mm film
USUAL_FOCAL = 26.0 / FILM_WIDTH  # of the long side: a phone's main camera; 0.9 is a quarter too long
CAMERA_HEIGHT = 1.45  # m: a phone held at the chest
USUAL_PITCH, PITCH_SPREAD = np.deg2rad(8.0), np.deg2rad(6.0)  # people point a little down at furniture
LINE_NOISE = np.deg2rad(0.6)  # of an edge's direction in a photo of 1,000 pixels
LINES_SIDE = 1000  # pixels: edges are sought in a picture no larger
UPRIGHT = np.deg2rad(25.0)  # an edge this near to upright may be a wall's or a cupboard's


@dataclass(frozen=True, slots=True)
class Camera:
    """What is known of a photo's camera; spreads are one standard deviation."""

    width: int
    height: int
    focal: float  # pixels
    focal_spread: float  # of its logarithm
    above_floor: float = CAMERA_HEIGHT
    above_floor_spread: float = 0.06  # of its logarithm: people differ, and bend
    pitch: float = float(USUAL_PITCH)
    pitch_spread: float = float(PITCH_SPREAD)


def look_at(
    pixels: Pixels, path: str | None, above_floor: float | None = None, pitch: float | None = None
) -> Camera:
    """The camera of a photo, from its file's EXIF and the upright edges in it."""
    height, width = pixels.shape[:2]
    focal = read_focal(Path(path), width, height) if path else None
    known = focal is not None
    focal = focal if focal is not None else USUAL_FOCAL * max(width, height)
    if pitch is not None:
        tilt, tilt_spread = pitch, float(np.deg2rad(1.0))
    else:
        tilt, tilt_spread = pitch_of_edges(pixels, focal)
    return Camera(
        width=width,
        height=height,
        focal=focal,
        focal_spread=0.03 if known else 0.12,
        above_floor=above_floor or CAMERA_HEIGHT,
        above_floor_spread=0.03 if above_floor else 0.06,
        pitch=tilt,
        pitch_spread=tilt_spread,
    )


def read_focal(path: Path, width: int, height: int) -> float | None:
    """The focal length in pixels by a file's EXIF, or None where it does not say."""
    from PIL import Image

    try:
        with warnings.catch_warnings(), Image.open(path) as image:
            warnings.simplefilter("ignore")  # of broken EXIF, which is as good as none
            tags = image.getexif().get_ifd(EXIF_IFD)
            stored = max(image.size)
    except (OSError, ValueError, SyntaxError, KeyError, TypeError):
        return None
    return _focal_of_tags(tags, max(width, height), stored)


def _focal_of_tags(tags: dict[int, Any], long_side: int, stored: int) -> float | None:
    film = _number(tags.get(FOCAL_35MM))
    if 5 <= film <= 1000:
        return film / FILM_WIDTH * long_side
    focal, density = _number(tags.get(FOCAL_MM)), _number(tags.get(PLANE_X))
    unit_mm = {2: 25.4, 3: 10.0, 4: 1.0}.get(int(_number(tags.get(PLANE_UNIT)) or 2), 25.4)
    pixels = focal * density / unit_mm * long_side / max(1, stored)
    return pixels if 0.2 * long_side < pixels < 30 * long_side else None


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return 0.0


def pitch_of_edges(pixels: Pixels, focal: float) -> tuple[float, float]:
    """How far the camera looked down, and how sure that is, from edges that stand upright.

    Every such edge and the camera span a plane that holds the direction down; the usual tilt is the
    prior, so a photo without edges gets that.
    """
    pitches = np.deg2rad(np.arange(-25.0, 60.0, 0.25))
    score = -0.5 * ((pitches - USUAL_PITCH) / PITCH_SPREAD) ** 2
    normals, weights = _upright_edges(pixels, focal)
    rolls = np.deg2rad(np.arange(-3.0, 3.1, 0.5))
    if len(normals):
        down = np.stack(
            [
                np.broadcast_to(np.sin(rolls), (len(pitches), len(rolls))),
                np.cos(pitches)[:, None] * np.cos(rolls),
                np.sin(pitches)[:, None] * np.cos(rolls),
            ],
            axis=-1,
        )
        off = np.arcsin(np.clip(down @ normals.T, -1, 1)) / LINE_NOISE
        # a floor of 5 %: an edge that is not upright after all says nothing
        each = np.log(0.05 + 0.95 * np.exp(-0.5 * off**2))
        score = score + (each @ weights).max(axis=1)
    chance = np.exp(score - score.max())
    chance /= chance.sum()
    mean = float(chance @ pitches)
    spread = float(np.sqrt(chance @ (pitches - mean) ** 2))
    return mean, max(spread, float(np.deg2rad(1.0)))


def _upright_edges(pixels: Pixels, focal: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unit normals of the planes through the camera and each near-upright edge, and their weights."""
    import cv2

    height, width = pixels.shape[:2]
    scale = min(1.0, LINES_SIDE / max(height, width))
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    found = cv2.createLineSegmentDetector().detect(small)[0]
    if found is None:
        return np.zeros((0, 3)), np.zeros(0)
    ends = found.reshape(-1, 2, 2).astype(np.float64) / scale
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)
    upright = np.abs(along[:, 1]) > np.cos(UPRIGHT) * length
    long = length > 0.05 * height
    ends, length = ends[upright & long], length[upright & long]
    rays = np.concatenate([ends - (width / 2, height / 2), np.full((len(ends), 2, 1), focal)], axis=2)
    normals = np.cross(rays[:, 0], rays[:, 1])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, np.minimum(1.0, length / (0.25 * height))


def to_pytorch3d(points: Floats) -> Floats:
    """A pointmap in camera axes (x right, y down) as SAM-3D wants it (x left, y up)."""
    return points * np.array([-1.0, -1.0, 1.0], np.float32)


def pointmap(depth: Floats, focal: float) -> Floats:
    """Where each pixel of a depth map (metres along z) lies, in camera axes: (height, width, 3)."""
    height, width = depth.shape
    x = (np.arange(width, dtype=np.float32) + 0.5 - width / 2) / focal
    y = (np.arange(height, dtype=np.float32) + 0.5 - height / 2) / focal
    return np.stack([x[None, :] * depth, y[:, None] * depth, depth], axis=2).astype(np.float32)


def floor_depth(camera: Camera) -> Floats:
    """A depth map of an empty room: the floor below the horizon, a wall where the floor ends.

    The last resort where nothing measured depth: unlike one constant distance, it is a scene.
    """
    wall = 5.0  # m: rooms are smaller; farther floor would be a door's
    y = (np.arange(camera.height) + 0.5 - camera.height / 2) / camera.focal
    downward = np.sin(camera.pitch) + y * np.cos(camera.pitch)
    with np.errstate(divide="ignore"):
        rows = np.where(downward > 0, camera.above_floor / np.maximum(downward, 1e-6), wall)
    return np.repeat(np.minimum(rows, wall)[:, None], camera.width, axis=1).astype(np.float32)
