"""Draws rooms with furniture whose size is known: photos to measure the measuring with.

Flat-shaded boxes on a floor between walls, a phone's camera, EXIF that says its focal length. Drawn
far to near. Furniture is made of boxes (a chair has legs, a seat and a back), so outlines have the
gaps real ones have. Not pretty, and no test of a detector; sizes, camera and masks are exact.

    python -m benchmarks.lib.scenes.rooms FOLDER 20     # 20 photos and truth.jsonl: label, size, box
"""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from penstock.box import Box
from penstock.photos.furniture import Furniture, Kind
from penstock.photos.masks import Mask, box_of

Array = NDArray[np.float64]
Part = tuple[float, float, float, float, float, float]  # a box in shares of width, depth, height

FACES = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
LIGHT = (0.55, 1.0, 0.80, 0.62, 0.74, 0.68)  # how bright each face is
WALL: tuple[Part, ...] = ((0, 0, 0, 1, 1, 1),)
LEGS = tuple((x, y, 0.0, x + 0.07, y + 0.09, 0.94) for x in (0.0, 0.93) for y in (0.0, 0.91))
PARTS: dict[str, tuple[Part, ...]] = {
    "table": (*LEGS, (0, 0, 0.94, 1, 1, 1)),
    "desk": (*LEGS, (0, 0, 0.94, 1, 1, 1)),
    "chair": (
        *((x, y, 0.0, x + 0.1, y + 0.1, 0.5) for x in (0.0, 0.9) for y in (0.0, 0.9)),
        (0, 0, 0.5, 1, 1, 0.56),
        (0, 0.9, 0.56, 1, 1, 1),
    ),
    "sofa": (
        (0, 0, 0.05, 1, 1, 0.5),
        (0, 0.72, 0.5, 1, 1, 1),
        (0, 0, 0.5, 0.1, 0.72, 0.75),
        (0.9, 0, 0.5, 1, 0.72, 0.75),
    ),
    "armchair": (
        (0, 0, 0.05, 1, 1, 0.5),
        (0, 0.72, 0.5, 1, 1, 1),
        (0, 0, 0.5, 0.2, 0.72, 0.75),
        (0.8, 0, 0.5, 1, 0.72, 0.75),
    ),
    "bed": ((0, 0, 0.1, 1, 1, 0.55), (0, 0.94, 0.0, 1, 1, 1)),
}
CLASSES = (
    "sofa", "armchair", "chair", "bookcase", "wardrobe", "dresser", "tv_stand", "desk", "table", "bed",
    "refrigerator", "nightstand",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """One thing in a drawn room: what it is, how large, and which pixels are its."""

    label: str
    size: tuple[float, float, float]
    mask: Mask

    @property
    def box(self) -> Box:
        box = box_of(self.mask)
        assert box is not None
        return box

    @property
    def volume(self) -> float:
        width, depth, height = self.size
        return width * depth * height


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """A drawn photo as JPEG with EXIF, and the truth about it."""

    jpeg: bytes = field(repr=False)
    pixels: NDArray[np.uint8]
    things: tuple[Placed, ...]
    pitch: float
    above_floor: float


def write(folder: Path, count: int, num_things: int = 1, first: int = 0) -> list[tuple[str, Placed]]:
    """Photos room0.jpg and on, truth.jsonl beside them. Returns every thing with its photo's name."""
    folder.mkdir(parents=True, exist_ok=True)
    things: list[tuple[str, Placed]] = []
    for seed in range(first, first + count):
        room = draw(seed, num_things)
        (folder / f"room{seed}.jpg").write_bytes(room.jpeg)
        things += [(f"room{seed}.jpg", thing) for thing in room.things if thing.mask.any()]
    rows = [
        {"photo": name, "label": thing.label, "size_m": thing.size, "cbm": thing.volume, "box": thing.box}
        for name, thing in things
    ]
    (folder / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return things


def draw(seed: int, num_things: int = 1, width: int = 1200, height: int = 900) -> Room:
    """The room of this seed: class, size, place, camera height and tilt are drawn from their spreads."""
    random = np.random.default_rng(seed)
    film = float(random.choice([24.0, 26.0, 28.0, 35.0]))
    scene = _Scene(
        width=width,
        height=height,
        focal=film / 36 * max(width, height),
        above=float(1.45 * np.exp(random.normal(scale=0.05))),
        pitch=float(np.deg2rad(random.uniform(2, 18))),
    )
    furniture = Furniture.open()
    canvas = scene.empty_room(random)
    drawn: list[tuple[str, tuple[float, float, float], Mask]] = []
    for number in range(num_things):
        label = str(random.choice(CLASSES))
        size = _size(furniture.find(label), random)
        aside = (number - (num_things - 1) / 2) * 2.0
        corners = scene.place(size, aside, float(random.normal(scale=np.deg2rad(18))), random)
        drawn.append((label, size, scene.paint(canvas, label, corners, random)))
    things = tuple(
        Placed(label, size, mask & ~_later(drawn, number)) for number, (label, size, mask) in enumerate(drawn)
    )
    noisy = np.clip(canvas + random.normal(scale=4, size=canvas.shape), 0, 255).astype(np.uint8)
    return Room(_jpeg(noisy, film), noisy, things, scene.pitch, scene.above)


def _later(drawn: list[tuple[str, tuple[float, float, float], Mask]], number: int) -> Mask:
    later = np.zeros_like(drawn[number][2])
    for _, _, mask in drawn[number + 1 :]:
        later |= mask
    return later


def _size(kind: Kind, random: np.random.Generator) -> tuple[float, float, float]:
    size = np.exp(np.log(kind.size) + np.clip(random.normal(size=3), -2, 2) * kind.spread)
    return float(size[0]), float(size[1]), float(min(size[2], 2.3))


def _jpeg(pixels: NDArray[np.uint8], film: float) -> bytes:
    from PIL import Image

    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = "Penstock", "Drawn room"
    exif.get_ifd(0x8769)[0xA405] = int(film)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=92, exif=exif)
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class _Scene:
    width: int
    height: int
    focal: float
    above: float
    pitch: float

    def project(self, points: Array) -> Array:
        """Pixels of points (x right, y forward, z up from the floor)."""
        below = self.above - points[..., 2]
        cos, sin = np.cos(self.pitch), np.sin(self.pitch)
        ahead = np.maximum(0.05, below * sin + points[..., 1] * cos)
        down = below * cos - points[..., 1] * sin
        return np.stack(
            [
                self.width / 2 + self.focal * points[..., 0] / ahead,
                self.height / 2 + self.focal * down / ahead,
            ],
            axis=-1,
        )

    def empty_room(self, random: np.random.Generator) -> NDArray[np.uint8]:
        """Floor, a back wall and two side walls: their corners are the upright edges."""
        canvas = np.full((self.height, self.width, 3), 235, np.uint8)
        left, right, back, up = -3.2, 3.0, float(random.uniform(7.5, 9.0)), 2.6
        near = 0.3
        quads = {
            (150, 120, 90): [(left, near, 0), (right, near, 0), (right, back, 0), (left, back, 0)],
            (224, 222, 214): [(left, back, 0), (right, back, 0), (right, back, up), (left, back, up)],
            (205, 203, 196): [(left, near, 0), (left, back, 0), (left, back, up), (left, near, up)],
            (198, 196, 190): [(right, near, 0), (right, back, 0), (right, back, up), (right, near, up)],
        }
        for colour, quad in quads.items():
            _fill(canvas, self.project(np.array(quad, float)), colour)
        door = [(1.0, back, 0), (1.9, back, 0), (1.9, back, 2.05), (1.0, back, 2.05)]
        _fill(canvas, self.project(np.array(door, float)), (170, 150, 128))
        return canvas

    def place(
        self, size: tuple[float, float, float], aside: float, yaw: float, random: np.random.Generator
    ) -> Array:
        """The thing's frame (origin and three sides) far enough away to be whole in the photo."""
        turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
        across, deep = turn @ (size[0], 0.0), turn @ (0.0, size[1])
        sides = np.array([[*across, 0.0], [*deep, 0.0], [0.0, 0.0, size[2]]])
        for forward in np.arange(1.6, 8.0, 0.1):
            origin = np.array([aside, forward]) - (across + deep) / 2
            frame = np.array([[*origin, 0.0], *sides])
            if self._is_whole(_corners(WALL[0], frame)):
                break
        frame[0, 1] += random.uniform(0, 0.6)
        return frame

    def _is_whole(self, corners: Array) -> bool:
        margin = 20
        u, v = self.project(corners).T
        inside = (u > margin) & (u < self.width - margin) & (v > margin) & (v < self.height - margin)
        return bool(inside.all()) and float(corners[:, 1].min()) > 0.5

    def paint(self, canvas: NDArray[np.uint8], label: str, frame: Array, random: np.random.Generator) -> Mask:
        colour = random.integers(40, 210, 3)
        mask = np.zeros(canvas.shape[:2], np.uint8)
        boxes = [_corners(part, frame) for part in PARTS.get(label, WALL)]
        for corners in sorted(boxes, key=lambda box: (-float(box[:, 1].mean()), float(box[:, 2].mean()))):
            flat = self.project(corners)
            eye = np.array([0.0, 0.0, self.above])
            away = [float(np.linalg.norm(corners[list(face)].mean(axis=0) - eye)) for face in FACES]
            faces = sorted(range(6), key=lambda n: -away[n])
            for face in faces:
                shade = tuple(int(c * LIGHT[face]) for c in colour)
                _fill(canvas, flat[list(FACES[face])], shade)
                cv2.fillPoly(mask, [np.rint(flat[list(FACES[face])]).astype(np.int32)], 1)
        return mask.astype(bool)


def _corners(part: Part, frame: Array) -> Array:
    x0, y0, z0, x1, y1, z1 = part
    shares = np.array([(x, y, z) for z in (z0, z1) for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))])
    return np.asarray(frame[0] + shares @ frame[1:])


def _fill(canvas: NDArray[np.uint8], quad: Array, colour: tuple[int, ...]) -> None:
    cv2.fillPoly(canvas, [np.rint(quad).astype(np.int32)], colour, lineType=cv2.LINE_AA)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
