"""Rooms of furniture that is really sold, seen by cameras that nothing in the estimator chose.

Sizes come from `real_sizes.py`. A ray is cast for every pixel, through a lens that bends, from a camera 0.8
to 1.9 m above the floor with 13 to 50 mm, tilted and rolled. Things stand along the walls or anyhow, hide one
another, are hidden by things nobody labels, and are cut by the frame. What comes out is what the estimator
would get: pixels, outlines that are a little off (now and then only a box), labels that are wrong now and
then, a focal length from EXIF in whole millimetres or none; and, for depth cameras, the exact depth. What is
on the walls, and how high the ceiling is, is in `measured_walls.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.lib.scenes.measured_walls import Walls, walls_around
from benchmarks.lib.scenes.real_sizes import MISTAKEN, SIZES
from benchmarks.lib.scenes.rooms import PARTS, WALL
from penstock.photos.masks import Mask, box_of

Array = NDArray[np.float64]

WIDTH, HEIGHT = 640, 480
FILMS = (13, 16, 24, 26, 28, 35, 50)  # mm, as told: phones' wide and main cameras, a standard lens
MIN_ABOVE, MAX_ABOVE = 0.8, 1.9  # m: sitting on the floor to an arm held up
MAX_BEND = 0.04  # of a radius at the frame's end, either way, after what a phone corrects
WITH_EXIF = 0.6
WRONG_LABEL = 0.06
BOX_ONLY = 0.05  # of outlines that failed
ANYHOW = 0.2  # of things stand at no wall's angle
ON_WALL = 0.7  # of televisions
MIN_SEEN = 0.5  # of a thing's pixels in the frame that nothing hides
MIN_PIXELS = 500
SHEET = (0.297, 0.21, 0.002)  # m: A4
MIN_SHEET = 150  # pixels
NO_HIT = np.inf


@dataclass(frozen=True, slots=True)
class RoomCamera:
    """The camera as it was; angles are radians, `bend` is the lens's."""

    above: float
    pitch: float
    roll: float
    film: float  # mm
    bend: float
    has_exif: bool

    @property
    def told_film(self) -> int:
        """What EXIF says: it has whole millimetres only."""
        return round(self.film)

    @property
    def focal(self) -> float:
        return self.film / 36 * max(WIDTH, HEIGHT)

    def rays(self) -> Array:
        """The direction of every pixel, x right, y forward, z up; of length one along the camera's axis."""
        v, u = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
        x, y = (u + 0.5 - WIDTH / 2) / self.focal, (v + 0.5 - HEIGHT / 2) / self.focal
        corner = np.hypot(WIDTH, HEIGHT) / 2 / self.focal
        straight = 1 + self.bend * (x**2 + y**2) / corner**2
        x, y = x * straight, y * straight
        cos, sin = np.cos(self.roll), np.sin(self.roll)
        x, y = x * cos - y * sin, x * sin + y * cos
        cos, sin = np.cos(self.pitch), np.sin(self.pitch)
        return np.stack([x, cos - y * sin, -sin - y * cos], axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredThing:
    """One thing: what it is, what it was taken for, its size in metres, and the outline one would get."""

    kind: str
    label: str
    size: tuple[float, float, float]
    mask: Mask
    on_floor: bool
    outlined: bool  # False: the outline failed and is a box
    exact: Mask  # the pixels that are really its own
    whole: Mask  # those it would have with nothing before it

    @property
    def volume(self) -> float:
        width, depth, height = self.size
        return width * depth * height


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRoom:
    """A photo and the truth about it. `depth` is metres along the camera's axis."""

    camera: RoomCamera
    pixels: NDArray[np.uint8]
    depth: NDArray[np.float32]
    things: tuple[MeasuredThing, ...]
    walls: Walls


@dataclass(frozen=True, slots=True, eq=False)
class _Standing:
    kind: str
    size: Array
    place: Array  # of the middle of its underside
    yaw: float

    def parts(self) -> list[tuple[Array, Array]]:
        """Low and high corners of its parts in its own frame."""
        boxes = np.array(PARTS.get(self.kind, WALL), float).reshape(-1, 2, 3)
        base = np.array([0.5, 0.5, 0.0])
        return [((low - base) * self.size, (high - base) * self.size) for low, high in boxes]

    def corners(self) -> Array:
        ends = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (0.0, 1.0)])
        return _turned(ends * self.size, -self.yaw) + self.place


def measured_room(seed: int, num_things: int = 5, *, sheet: bool = False) -> MeasuredRoom:
    """The room of this seed, with `num_things` things in sight.

    With `sheet` a sheet of A4 lies on the floor where nothing hides it, told as the last thing.
    """
    random = np.random.default_rng([seed, 7])
    wall_random = np.random.default_rng([seed, 8])  # its own: what stands in a room does not depend on walls
    while True:
        camera = _camera(random)
        heading = float(random.uniform(-np.pi / 4, np.pi / 4))
        standing = _furnish(camera, heading, num_things + 3, random)
        corners = [_turned(one.corners(), heading) for one in standing]
        walls = walls_around(np.concatenate(corners), float(random.uniform(9.5, 12.0)), wall_random)
        seen = _CastPicture(camera, heading, standing, walls, random)
        in_sight = [n for n in range(len(standing)) if seen.is_seen(n)]
        if len(in_sight) >= num_things:
            things = tuple(
                _told(standing[n], seen.mask(n), seen.whole(n), random) for n in in_sight[:num_things]
            )
            if sheet:
                things = (*things, *_sheet(seen, camera, random))
            return MeasuredRoom(camera, seen.pixels, seen.depth.astype(np.float32), things, walls)


def _sheet(seen: _CastPicture, camera: RoomCamera, random: np.random.Generator) -> list[MeasuredThing]:
    """A sheet on the floor where nothing hides it; none where no floor is in sight."""
    for _ in range(200):
        ahead = float(random.uniform(1.2, 3.5))
        aside = float(random.uniform(-0.7, 0.7)) * ahead * WIDTH / 2 / camera.focal
        yaw = float(random.uniform(-np.pi, np.pi))
        mask = seen.lay(_Standing("a4_sheet", np.array(SHEET), np.array([aside, ahead, 0.0]), yaw))
        if mask is not None:
            off = _imperfect(mask, random)
            return [MeasuredThing("a4_sheet", "a4_sheet", SHEET, off, True, True, mask, mask)]
    return []


def _camera(random: np.random.Generator) -> RoomCamera:
    above = float(random.uniform(MIN_ABOVE, MAX_ABOVE))
    aimed = np.arctan2(above - 0.6, 3.2)  # at the furniture, more or less
    return RoomCamera(
        above=above,
        pitch=float(np.clip(aimed + random.normal(scale=np.deg2rad(5)), np.deg2rad(-8), np.deg2rad(35))),
        roll=float(random.normal(scale=np.deg2rad(1))),
        # a stream of its own: what else is in the room stays as it was
        film=float(random.choice(FILMS)) + float(random.spawn(1)[0].uniform(-0.5, 0.5)),
        bend=float(random.uniform(-MAX_BEND, MAX_BEND)),
        has_exif=bool(random.random() < WITH_EXIF),
    )


def _furnish(camera: RoomCamera, heading: float, count: int, random: np.random.Generator) -> list[_Standing]:
    """Things before the camera, none inside another."""
    standing: list[_Standing] = []
    farthest = float(np.clip(5.5 * camera.film / 26, 4.0, 9.0))
    for _ in range(40 * count):
        one = _thing(camera, heading, farthest, random)
        room = [
            float(np.hypot(*(one.place - other.place)[:2]))
            - 0.42 * float(sum(one.size[:2]) + sum(other.size[:2]) / 2)
            for other in standing
        ]
        if min(room, default=1.0) > -0.25 and one.place[1] - one.size[:2].max() / 2 > 0.5:
            standing.append(one)
        if len(standing) == count:
            break
    return standing


def _thing(camera: RoomCamera, heading: float, farthest: float, random: np.random.Generator) -> _Standing:
    kind = str(random.choice(list(SIZES)))
    sizes = SIZES[kind]
    size = np.array(sizes[int(random.integers(len(sizes)))]) / 100
    ahead = float(random.uniform(1.3, farthest))
    aside = float(random.uniform(-0.9, 0.9)) * ahead * WIDTH / 2 / camera.focal
    yaw = (
        heading
        + float(random.choice([0.0, 0.0, 0.0, np.pi / 2, -np.pi / 2]))
        + float(random.normal(scale=0.03))
    )
    if random.random() < ANYHOW:
        yaw = float(random.uniform(-np.pi, np.pi))
    raised = float(random.uniform(0.9, 1.3)) if kind == "television" and random.random() < ON_WALL else 0.0
    if kind == "television" and not raised:
        raised = 0.45  # on a stand that is no part of it
    return _Standing(kind, size, np.array([aside, ahead, raised]), yaw)


class _CastPicture:
    """Rays cast into a furnished room."""

    def __init__(
        self,
        camera: RoomCamera,
        heading: float,
        standing: list[_Standing],
        walls: Walls,
        random: np.random.Generator,
    ) -> None:
        self._eye = np.array([0.0, 0.0, camera.above])
        self._rays = camera.rays()
        self._unit = self._rays / np.linalg.norm(self._rays, axis=-1, keepdims=True)
        self._alone: list[Mask] = []
        self.depth, tone = walls.cast(_turned(self._eye, heading), _turned(self._rays, heading))
        self.owner = np.full((HEIGHT, WIDTH), -1)
        self._shade = tone[..., None] * np.array([1.0, 0.97, 0.9])
        for number, one in enumerate(standing):
            self._paint(number, one, random.uniform(40, 220, 3))
        noisy = self._shade + random.normal(scale=4, size=self._shade.shape)
        self.pixels = np.clip(noisy, 0, 255).astype(np.uint8)

    def is_seen(self, number: int) -> bool:
        """Whether enough of it is in sight; half of it may be outside the frame."""
        seen = np.count_nonzero(self.owner == number)
        return bool(seen >= MIN_PIXELS and seen >= MIN_SEEN * np.count_nonzero(self._alone[number]))

    def mask(self, number: int) -> Mask:
        return np.asarray(self.owner == number)

    def whole(self, number: int) -> Mask:
        """The pixels it would have in the frame if nothing stood before it."""
        return self._alone[number]

    def lay(self, one: _Standing) -> Mask | None:
        """Paints something white, and returns its pixels; None where it is hidden, cut or too small."""
        nearest, _ = self._hit(one)
        whole, front = np.isfinite(nearest), nearest < self.depth
        rim = whole.copy()
        rim[4:-4, 4:-4] = False
        if rim.any() or front.sum() < max(MIN_SHEET, 0.98 * whole.sum()):
            return None
        self.depth[front] = nearest[front]
        self.pixels[front] = 250
        return front

    def _paint(self, number: int, one: _Standing, colour: Array) -> None:
        nearest, face = self._hit(one)
        self._alone.append(np.isfinite(nearest))
        front = nearest < self.depth
        self.depth[front] = nearest[front]
        self.owner[front] = number
        self._shade[front] = colour * np.array([0.62, 0.8, 1.0])[face[front]][:, None]

    def _hit(self, one: _Standing) -> tuple[Array, NDArray[np.intp]]:
        """How far along each ray it is, and which of its sides is hit."""
        nearest = np.full((HEIGHT, WIDTH), NO_HIT)
        face = np.zeros((HEIGHT, WIDTH), int)
        rows, columns = self._window(one)
        eye, part_rays = _turned(self._eye - one.place, one.yaw), _turned(self._rays[rows, columns], one.yaw)
        for low, high in one.parts():
            enter, side = _entered(eye, part_rays, low, high)
            closer = enter < nearest[rows, columns]
            nearest[rows, columns][closer] = enter[closer]
            face[rows, columns][closer] = side[closer]
        return nearest, face

    def _window(self, one: _Standing) -> tuple[slice, slice]:
        """The rows and columns that rays towards it can have; all where it is too near to say."""
        away = one.corners() - self._eye
        middle = away.mean(axis=0)
        near = np.linalg.norm(away - middle, axis=1).max()
        reach = near / max(float(np.linalg.norm(middle)), 1e-6)
        if reach > 0.9:
            return slice(None), slice(None)
        close = self._unit @ (middle / np.linalg.norm(middle)) > np.cos(np.arcsin(reach))
        rows, columns = np.flatnonzero(close.any(axis=1)), np.flatnonzero(close.any(axis=0))
        if not len(rows):
            return slice(0, 0), slice(0, 0)
        return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)


def _turned(vectors: Array, yaw: float) -> Array:
    """Vectors in a frame that is turned by `yaw` about the upright axis."""
    cos, sin = np.cos(yaw), np.sin(yaw)
    return np.asarray(vectors @ np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]))


def _entered(eye: Array, rays: Array, low: Array, high: Array) -> tuple[Array, NDArray[np.intp]]:
    """Where each ray enters a box, infinite where it does not, and through which axis's side."""
    near, far = zip(
        *(_crossed(eye[axis], rays[..., axis], low[axis], high[axis]) for axis in range(3)), strict=True
    )
    enter, leave = _greatest(*near), -_greatest(*(-one for one in far))
    hit = (enter < leave) & (enter > 0.05)
    side = np.where(near[0] == enter, 0, np.where(near[1] == enter, 1, 2))
    return np.where(hit, enter, NO_HIT), side


def _crossed(eye: float, rays: Array, low: float, high: float) -> tuple[Array, Array]:
    """Where each ray crosses the two planes of an axis, the nearer first."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (low - eye) / rays, (high - eye) / rays
    return np.minimum(first, second), np.maximum(first, second)


def _greatest(one: Array, two: Array, three: Array) -> Array:
    """Of each three; several times as fast as a maximum along the last axis."""
    return np.asarray(np.maximum(np.maximum(one, two), three))


def _told(one: _Standing, exact: Mask, whole: Mask, random: np.random.Generator) -> MeasuredThing:
    """The thing as a detector would tell it."""
    label = one.kind
    if random.random() < WRONG_LABEL:
        label = str(random.choice(MISTAKEN[one.kind]))
    mask = _imperfect(exact, random)
    failed = bool(random.random() < BOX_ONLY)
    if failed:
        mask = _boxed(mask)
    width, depth, height = (float(side) for side in one.size)
    size, on_floor = (width, depth, height), one.place[2] == 0
    return MeasuredThing(one.kind, label, size, mask, on_floor, not failed, exact, whole)


def _imperfect(mask: Mask, random: np.random.Generator) -> Mask:
    """A pixel or two too large or too small, as networks' masks are."""
    by = round(float(random.normal(scale=1.2)))
    kernel = np.ones((2 * abs(by) + 1, 2 * abs(by) + 1), np.uint8)
    change = cv2.dilate if by > 0 else cv2.erode
    made = change(mask.astype(np.uint8), kernel) > 0 if by else mask
    return np.asarray(made) if made.any() else mask


def _boxed(mask: Mask) -> Mask:
    box = box_of(mask)
    assert box is not None
    x0, y0, x1, y1 = (int(v) for v in box)
    full = np.zeros_like(mask)
    full[y0:y1, x0:x1] = True
    return full
