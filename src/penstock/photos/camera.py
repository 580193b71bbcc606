"""What is known of the camera: focal length from EXIF, tilt from upright edges, and what a pixel sees.

Camera axes are x right, y down, z forward, in metres; the camera is `height` above the floor and looks
`pitch` radians below the horizon. Pointmaps for SAM-3D are in PyTorch3D's axes instead: x left, y up,
z forward, so `to_pytorch3d` negates two of them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.photos.edges import PITCH_SPREAD, USUAL_PITCH, Edges, find_edges, pitch_of_edges
from penstock.photos.gaussians import Floats

if TYPE_CHECKING:
    from penstock.box import Pixels
    from penstock.photos.sizing.ceiling import WallEdges

EXIF_IFD = 0x8769
FOCAL_35MM, FOCAL_MM, PLANE_X, PLANE_UNIT = 0xA405, 0x920A, 0xA20E, 0xA210
FILM_WIDTH = 36.0  # mm, the long side of 35 mm film
USUAL_FOCAL = 26.0 / FILM_WIDTH  # of the long side: a phone's main camera; 0.9 is a quarter too long
CAMERA_HEIGHT, HEIGHT_SPREAD = 1.28, 0.3  # m: sitting, bent or standing; 0.87 to 1.88 in 8 of 10 photos
KNOWN_HEIGHT_SPREAD = 0.03
EXIF_SPREAD = 0.03
DEPTH_FOCAL_SPREAD = 0.06  # of a lens that a depth model believes in
LENS_SPREAD = 0.45  # of the logarithm, without EXIF


@dataclass(frozen=True, slots=True)
class Camera:
    """What is known of a photo's camera; spreads are one standard deviation."""

    width: int
    height: int
    focal: float  # pixels
    focal_spread: float  # of its logarithm
    above_floor: float = CAMERA_HEIGHT
    above_floor_spread: float = HEIGHT_SPREAD  # of its logarithm: people differ, and bend
    pitch: float = float(USUAL_PITCH)
    pitch_spread: float = float(PITCH_SPREAD)
    focal_known: bool = True  # from EXIF, or by a depth model
    focal_by_depth: bool = False
    height_known: bool = False  # given by the user
    pitch_by_edges: bool = False  # then a longer lens means a steeper camera
    edges: Edges | None = None
    walls: WallEdges | None = None  # those edges that are no thing's, where things are known


def look_at(
    pixels: Pixels, path: str | None, above_floor: float | None = None, pitch: float | None = None
) -> Camera:
    """The camera of a photo, from its file's EXIF and the upright edges in it."""
    height, width = pixels.shape[:2]
    focal = read_focal(Path(path), width, height) if path else None
    known = focal is not None
    focal = focal if focal is not None else USUAL_FOCAL * max(width, height)
    edges = find_edges(pixels)
    tilt, tilt_spread, by_edges = _tilt(edges, focal, pitch)
    return Camera(
        width=width,
        height=height,
        focal=focal,
        focal_spread=EXIF_SPREAD if known else LENS_SPREAD,
        above_floor=above_floor or CAMERA_HEIGHT,
        above_floor_spread=KNOWN_HEIGHT_SPREAD if above_floor else HEIGHT_SPREAD,
        pitch=tilt,
        pitch_spread=tilt_spread,
        focal_known=known,
        height_known=above_floor is not None,
        pitch_by_edges=by_edges,
        edges=edges,
    )


def with_lens(camera: Camera, focal: float) -> Camera:
    """The camera with the lens that a depth model believes in, in pixels; what EXIF says stays."""
    if camera.focal_known or focal <= 0:
        return camera
    return replace(
        camera, focal=focal, focal_spread=DEPTH_FOCAL_SPREAD, focal_known=True, focal_by_depth=True
    )


def _tilt(edges: Edges, focal: float, given: float | None) -> tuple[float, float, bool]:
    """Returns tilt, its spread, and whether edges gave it."""
    if given is not None:
        return given, float(np.deg2rad(1.0)), False
    tilt, spread = pitch_of_edges(edges, focal)
    return tilt, spread, spread < 0.5 * PITCH_SPREAD


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
