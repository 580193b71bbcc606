"""Sizes by depth: a thing ends where depth jumps, a floor is flat, and what hides a thing is nearer.

The scenes are cast here, ray by ray, from boxes; nothing of the package draws them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.photo import PhotoObject
from penstock.photos import notes
from penstock.photos.camera import Camera
from penstock.photos.furniture import Furniture
from penstock.photos.masks import Mask, box_of, cut_sides, pack
from penstock.photos.sizing.depth_pieces import find_pieces
from penstock.photos.sizing.depth_room import find_bend, open_room
from penstock.photos.sizing.estimates import with_estimates

WIDTH, HEIGHT, FOCAL = 320, 240, 230.0
ABOVE, PITCH = 1.5, np.deg2rad(12.0)
Array = NDArray[np.float64]
Block = tuple[float, float, float, float, float, float]  # x0, y0, z0, x1, y1, z1: right, forward, up
ROOM: Block = (-3.0, -1.0, 0.0, 3.0, 6.0, 2.5)
DRESSER: Block = (-0.7, 2.4, 0.0, 0.3, 2.9, 0.9)
FURNITURE = Furniture.open()


@dataclass(frozen=True)
class Scene:
    depth: NDArray[np.float32]
    owner: NDArray[np.int64]  # the number of the block at each pixel, -1 for the room

    def mask(self, number: int) -> Mask:
        return np.asarray(self.owner == number)


def cast(*blocks: Block, bend: float = 0.0) -> Scene:
    v, u = np.mgrid[0:HEIGHT, 0:WIDTH]
    x, y = (u + 0.5 - WIDTH / 2) / FOCAL, (v + 0.5 - HEIGHT / 2) / FOCAL
    corner = np.hypot(WIDTH, HEIGHT) / 2 / FOCAL
    straight = 1 + bend * (x**2 + y**2) / corner**2
    x, y = x * straight, y * straight
    cos, sin = np.cos(PITCH), np.sin(PITCH)
    rays = np.stack([x, cos - y * sin, -sin - y * cos], axis=-1)
    depth, owner = through(ROOM, rays)[1], np.full(x.shape, -1)
    for number, block in enumerate(blocks):
        enter, leave = through(block, rays)
        nearer = (enter < leave) & (enter > 0) & (enter < depth)
        depth, owner = np.where(nearer, enter, depth), np.where(nearer, number, owner)
    return Scene(depth.astype(np.float32), owner)


def through(block: Block, rays: Array) -> tuple[Array, Array]:
    """Where each ray enters and leaves a block."""
    eye = np.array([0.0, 0.0, ABOVE])
    first, second = (np.array(block[:3]) - eye) / rays, (np.array(block[3:]) - eye) / rays
    return np.minimum(first, second).max(axis=-1), np.maximum(first, second).min(axis=-1)


def camera() -> Camera:
    return Camera(WIDTH, HEIGHT, FOCAL, 0.01, pitch=float(PITCH))


def estimate(depth: NDArray[np.float32], *things: tuple[Mask, str]) -> list[PhotoObject]:
    objects = []
    for number, (mask, label) in enumerate(things):
        box = box_of(mask)
        assert box is not None
        objects.append(
            PhotoObject(label=label, box=box, index=number, mask=pack(mask), cut=tuple(cut_sides(mask)))
        )
    return with_estimates(objects, camera(), depth, FURNITURE)


def boxed(mask: Mask) -> Mask:
    box = box_of(mask)
    assert box is not None
    x0, y0, x1, y1 = (int(value) for value in box)
    full = np.zeros_like(mask)
    full[y0:y1, x0:x1] = True
    return full


def volume(thing: PhotoObject) -> float:
    return float(np.prod(thing.size or (0.0,)))


def test_what_is_seen_is_measured_to_a_few_percent() -> None:
    scene = cast(DRESSER)
    [found] = estimate(scene.depth, (scene.mask(0), "dresser"))
    assert found.size == pytest.approx((1.0, 0.5, 0.9), rel=0.07)  # on its top a pixel is 5 cm


def test_a_failed_outline_is_cut_out_by_depth() -> None:
    scene = cast((0.4, 2.2, 0.0, 1.2, 2.9, 0.9), (-0.4, 3.6, 0.0, 1.4, 4.2, 2.0))
    box = boxed(scene.mask(0))
    assert box.sum() > scene.mask(0).sum() + 300  # floor is in it, and what stands behind
    [found] = estimate(scene.depth, (box, "dresser"))
    assert volume(found) == pytest.approx(0.504, rel=0.1)


def test_a_television_on_a_wall_is_measured_from_its_own_lower_edge() -> None:
    scene = cast((-0.6, 3.9, 1.0, 0.6, 3.97, 1.7))
    [found] = estimate(scene.depth, (scene.mask(0), "tv"))
    assert notes.NOT_ON_FLOOR in found.measurement_notes and found.distance is None
    assert found.size is not None
    assert found.size[0] == pytest.approx(1.2, rel=0.05)
    assert found.size[2] == pytest.approx(0.7, rel=0.05)  # and not the 1.7 m from the floor


@pytest.mark.parametrize("bend", [-0.03, 0.0, 0.035])
def test_a_lens_that_bends_is_found_by_the_floor(bend: float) -> None:
    assert find_bend(cast(DRESSER, bend=bend).depth, FOCAL) == pytest.approx(bend, abs=0.004)


def test_a_wavy_floor_does_not_tell_a_bend_and_is_rough() -> None:
    """Depth that a model guessed is off in waves, and no lens makes it flat."""
    scene = cast(DRESSER)
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    wavy = (scene.depth * (1 + 0.02 * np.sin(columns / 17) * np.cos(rows / 13))).astype(np.float32)
    assert find_bend(wavy, FOCAL) == 0.0
    exact, guessed = (open_room(depth, FOCAL, 0.0, camera()).rough for depth in (scene.depth, wavy))
    assert exact < 2e-4 < 1e-3 < guessed
    [sure], [unsure] = (estimate(depth, (scene.mask(0), "dresser")) for depth in (scene.depth, wavy))
    assert sure.high_cbm and sure.low_cbm and unsure.high_cbm and unsure.low_cbm
    assert unsure.high_cbm / unsure.low_cbm > 1.3 * sure.high_cbm / sure.low_cbm


def test_what_is_nearer_hides_an_end_and_what_is_farther_does_not() -> None:
    scene = cast(DRESSER, (0.05, 1.6, 0.0, 0.65, 1.8, 1.2))
    room = open_room(scene.depth, FOCAL, 0.0, camera())
    [piece] = find_pieces([scene.mask(0)], room.points)
    assert piece is not None
    columns = np.flatnonzero(piece.pixels.any(axis=0))
    assert piece.open_edge[:, columns[-1]].any() and not piece.own_edge[:, columns[-1]].any()
    assert piece.own_edge[:, columns[0]].any() and not piece.open_edge[:, columns[0]].any()
    [found] = estimate(scene.depth, (scene.mask(0), "dresser"))
    seen = np.ptp(room.points[scene.mask(0)][:, 0])
    assert found.size is not None and found.size[0] > 1.005 * seen  # it goes on behind
    assert found.high_cbm is not None and found.high_cbm > 1.2 * volume(replace(found, size=(seen, 0.5, 0.9)))


def test_an_outline_that_is_off_by_some_pixels_measures_the_same() -> None:
    scene = cast(DRESSER)
    [exact] = estimate(scene.depth, (scene.mask(0), "dresser"))
    for by in (-2, 2):
        rows = np.roll(scene.mask(0), by, axis=0)
        [moved] = estimate(scene.depth, (rows, "dresser"))
        assert volume(moved) == pytest.approx(volume(exact), rel=0.1)


def test_depth_that_is_blurred_at_edges_measures_no_more_than_the_thing() -> None:
    """A phone's sensor has few pixels: between a thing and the wall behind, they are in mid-air."""
    scene = cast(DRESSER)
    noise = np.random.default_rng(0).normal(scale=0.01, size=(96, 128)).astype(np.float32)
    coarse = cv2.resize(scene.depth, (128, 96), interpolation=cv2.INTER_AREA) + noise
    blurred = cv2.resize(coarse, (WIDTH, HEIGHT), interpolation=cv2.INTER_LINEAR)
    [found] = estimate(blurred.astype(np.float32), (scene.mask(0), "dresser"))
    assert volume(found) == pytest.approx(0.45, rel=0.3)
    assert found.low_cbm is not None and found.high_cbm is not None
    assert found.low_cbm < 0.45 < found.high_cbm
