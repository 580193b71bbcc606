"""Photographs a page that is known: a bent sheet on a table, seen by a camera, in uneven light.

The sheet is bent as paper bends: heights along one direction, lengths kept, so nothing stretches. Rays of a
pinhole camera with a little lens distortion meet it. The readers know nothing of this model: they look at
text lines on the picture alone. `Photographed.to_photo` tells where any place of the page came to lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

    Floats = NDArray[np.float64]

COARSE = 8  # photo pixels between two rays; the places between are interpolated
STEPS = 12  # of the search where a ray meets the sheet: gentle slopes need ten
SAMPLES = 2048  # of the bent sheet's profile
REACH = 1.2  # of the page's size: how far from its middle the profile is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Bend:
    """Heights of the sheet, in page widths: `curl` bulges along x, `crease` a fold across x and across y."""

    curl: tuple[float, ...] = ()  # slopes at equal distances from left to right
    crease: tuple[float, float] = (0.0, 0.0)  # slope on either side of a vertical and of a horizontal fold
    turn: float = 0.0  # degrees that the curl's rulings lean


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraView:
    """Where the camera stands. Angles in degrees; `share` of the frame's width or height is page."""

    pitch: float = 0.0
    yaw: float = 0.0
    roll: float = 0.0
    share: float = 0.85
    focal: float = 0.9  # of the frame's long side
    lens: float = 0.0  # radial distortion
    shift: tuple[float, float] = (0.0, 0.0)  # of the frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Light:
    """Multiplies what the camera sees."""

    level: float = 1.0
    slope: tuple[float, float] = (0.0, 0.0)  # over the frame's width and height
    shadow: float = 0.0  # how much a phone's shadow takes away
    cast: tuple[float, float, float] = (1.0, 1.0, 1.0)
    noise: float = 2.0
    blur: float = 0.6


@dataclass(frozen=True, slots=True)
class Photographed:
    """A photo of a page, and the way from places on the page to places on the photo."""

    pixels: Pixels
    sheet: BentSheet

    def to_photo(self, points: Floats) -> Floats:
        """Places (n, 2) in pixels of the page, as places in pixels of the photo."""
        return self.sheet.to_photo(points)


class BentSheet:
    """A bent page of `page` pixels (width, height) before a camera with a frame of `frame` pixels."""

    def __init__(self, page: tuple[int, int], frame: tuple[int, int], bend: Bend, view: CameraView) -> None:
        self.page, self.frame, self.bend, self.view = page, frame, bend, view
        self.tall = page[1] / page[0]  # the page is 1 wide
        self._lay()
        self._aim()

    def _lay(self) -> None:
        """Tables of height and length along the two directions in which the sheet is bent."""
        reach = REACH * max(1.0, self.tall)
        self._along = np.linspace(-reach, reach, SAMPLES)
        step = self._along[1] - self._along[0]
        bend = self.bend
        places = np.linspace(-0.5, 0.5, max(2, len(bend.curl)))
        slopes = np.interp(self._along, places, bend.curl) if bend.curl else np.zeros(SAMPLES)
        slopes = np.asarray(cv2.GaussianBlur(slopes.reshape(1, -1), (0, 0), 0.08 / step), np.float64).ravel()
        folds = [np.tanh(self._along / 0.02) * crease for crease in bend.crease]
        across, down = slopes + folds[0], folds[1]
        self._heights = [np.cumsum(rise) * step for rise in (across, down)]
        self._heights = [heights - heights[SAMPLES // 2] for heights in self._heights]
        self._lengths = [np.cumsum(np.sqrt(1 + rise**2)) * step for rise in (across, down)]
        self._lengths = [length - length[SAMPLES // 2] for length in self._lengths]
        angle = np.radians(bend.turn)
        self._turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])

    def _aim(self) -> None:
        """The camera's matrix, and the distance at which the page takes its share of the frame."""
        view, (width, height) = self.view, self.frame
        pitch, yaw, roll = np.radians([view.pitch, view.yaw, view.roll])
        around_x = np.array(
            [[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]]
        )
        around_y = np.array([[np.cos(yaw), 0, np.sin(yaw)], [0, 1, 0], [-np.sin(yaw), 0, np.cos(yaw)]])
        around_z = np.array([[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]])
        self._pose = around_z @ around_x @ around_y
        self._focal = view.focal * max(width, height)
        self._centre = np.array([width * (0.5 + view.shift[0]), height * (0.5 + view.shift[1])])
        self._far = self._focal * max(1 / (view.share * width), self.tall / (view.share * height))

    def _height(self, flat: Floats) -> Floats:
        """The sheet's height over places (..., 2) of the table."""
        turned = flat @ self._turn.T
        both = [np.interp(turned[..., i], self._along, self._heights[i]) for i in range(2)]
        return np.asarray(both[0] + both[1], np.float64)

    def _unrolled(self, flat: Floats) -> Floats:
        """Places over the table as places on the paper: lengths along the bends."""
        turned = flat @ self._turn.T
        paper = np.stack(
            [np.interp(turned[..., i], self._along, self._lengths[i]) for i in range(2)], axis=-1
        )
        return np.asarray(paper @ self._turn)

    def to_photo(self, points: Floats) -> Floats:
        width, height = self.page
        paper = (np.asarray(points, np.float64) - (width / 2, height / 2)) / width
        turned = paper @ self._turn.T
        flat = np.stack([np.interp(turned[..., i], self._lengths[i], self._along) for i in range(2)], axis=-1)
        flat = flat @ self._turn
        placed = np.concatenate([flat, -self._height(flat)[..., None]], axis=-1)
        seen = placed @ self._pose.T + (0, 0, self._far)
        at = seen[..., :2] / seen[..., 2:]
        bent = at * (1 + self.view.lens * np.sum(at**2, axis=-1, keepdims=True))
        return np.asarray(bent * self._focal + self._centre)

    def from_photo(self, points: Floats) -> Floats:
        """Places of the photo as places in pixels of the page, also beyond its edges."""
        seen = (np.asarray(points, np.float64) - self._centre) / self._focal
        at = seen.copy()
        for _ in range(8):
            at = seen / (1 + self.view.lens * np.sum(at**2, axis=-1, keepdims=True))
        rays = np.concatenate([at, np.ones((*at.shape[:-1], 1))], axis=-1) @ self._pose
        eye = -np.array([0, 0, self._far]) @ self._pose
        flat = np.zeros_like(at)
        for _ in range(STEPS):
            far = (-self._height(flat) - eye[2]) / rays[..., 2]
            flat = eye[:2] + far[..., None] * rays[..., :2]
        return np.asarray(self._unrolled(flat) * self.page[0] + (self.page[0] / 2, self.page[1] / 2))


def photograph(
    page: Pixels, frame: tuple[int, int], bend: Bend, view: CameraView, light: Light, seed: int = 0
) -> Photographed:
    """A photo of `frame` pixels (width, height) of the page on a table."""
    dice = np.random.default_rng(seed)
    sheet = BentSheet((page.shape[1], page.shape[0]), frame, bend, view)
    width, height = frame
    across, down = np.meshgrid(np.arange(0, width + COARSE, COARSE), np.arange(0, height + COARSE, COARSE))
    rays = np.stack([across, down], axis=-1).astype(np.float64)
    coarse = sheet.from_photo(rays).astype(np.float32)
    to_page, shading = _finer(coarse, frame), _finer(_shading(coarse), frame)
    shrink = min(1.0, 1.3 * view.share * max(width / page.shape[1], 1.0))
    x, y = np.ascontiguousarray(to_page[..., 0]), np.ascontiguousarray(to_page[..., 1])
    sharp = _softened(page, shrink)
    seen = cv2.remap(sharp, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE).astype(np.float32)
    on_page = _cover(to_page, page.shape[1], page.shape[0])
    lit = seen * shading[..., None]
    scene = table(frame, seed) * (1 - on_page) + lit * on_page
    picture = scene * _lamp(frame, light, dice)[..., None] * np.array(light.cast, np.float32)
    soft = cv2.GaussianBlur(picture, (0, 0), max(0.1, light.blur))
    grainy = soft + dice.normal(0, light.noise, picture.shape)
    return Photographed(np.clip(grainy, 0, 255).astype(np.uint8), sheet)


def _shading(to_page: NDArray[np.float32]) -> NDArray[np.float32]:
    """How bright the paper is: slopes that turn from the lamp are darker."""
    stretch = np.linalg.norm(np.gradient(to_page, axis=1), axis=-1)
    return np.asarray(np.clip(1 - 0.35 * (stretch / np.median(stretch) - 1), 0.55, 1.15), np.float32)


def _softened(page: Pixels, scale: float) -> Pixels:
    return page if scale >= 1.0 else np.asarray(cv2.GaussianBlur(page, (0, 0), 0.5 / scale), np.uint8)


def _finer(coarse: NDArray[np.float32], frame: tuple[int, int]) -> NDArray[np.float32]:
    """A coarse map at every pixel; node n stands at pixel COARSE * n."""
    grid = np.meshgrid(
        np.arange(frame[0], dtype=np.float32) / COARSE, np.arange(frame[1], dtype=np.float32) / COARSE
    )
    return np.asarray(cv2.remap(coarse, grid[0], grid[1], cv2.INTER_LINEAR), np.float32)


def _cover(to_page: NDArray[np.float32], width: int, height: int) -> NDArray[np.float32]:
    """1 where the photo shows paper, 0 where the table."""
    x, y = to_page[..., 0], to_page[..., 1]
    inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    return np.asarray(cv2.GaussianBlur(inside.astype(np.float32), (0, 0), 0.7), np.float32)[..., None]


def table(frame: tuple[int, int], seed: int) -> NDArray[np.float32]:
    """What lies under the page: wood, cloth, stone or a plain desk."""
    dice = np.random.default_rng(seed + 77)
    width, height = frame
    kind = int(dice.integers(4))
    base = np.array([(120, 82, 52), (64, 70, 84), (150, 146, 140), (46, 44, 42)][kind], np.float32)
    grain = [(2, 90), (3, 3), (9, 9), (1, 1)][kind]
    rough = dice.normal(0, 1, (height // 4 + 1, width // 4 + 1)).astype(np.float32)
    rough = np.asarray(cv2.GaussianBlur(rough, (0, 0), sigmaX=grain[0], sigmaY=grain[1]), np.float32)
    smooth = cv2.resize(rough / rough.std(), frame, interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.clip(base + 11 * smooth[..., None], 5, 240), np.float32)


def _lamp(frame: tuple[int, int], light: Light, dice: np.random.Generator) -> NDArray[np.float32]:
    """How much light falls on each pixel: a slope over the frame, darker corners, a soft shadow."""
    width, height = frame
    across, down = np.meshgrid(
        np.linspace(-0.5, 0.5, width // 4 + 1), np.linspace(-0.5, 0.5, height // 4 + 1)
    )
    lamp = 1 + light.slope[0] * across + light.slope[1] * down - 0.25 * (across**2 + down**2)
    if light.shadow:
        angle, middle = dice.uniform(0, np.pi), dice.uniform(-0.15, 0.15, 2)
        side = (across - middle[0]) * np.cos(angle) + (down - middle[1]) * np.sin(angle)
        lamp *= 1 - light.shadow / (1 + np.exp(-side / 0.02))
    return np.asarray(cv2.resize((light.level * lamp).astype(np.float32), frame), np.float32)
