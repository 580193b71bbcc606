"""The camera's height by the ends of walls: found where they are seen; else nothing changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.lib.scenes.measured_rooms import HEIGHT, WIDTH, RoomCamera
from benchmarks.lib.scenes.measured_walls import CEILINGS, WallMark, Walls, walls_around
from numpy.typing import NDArray

from penstock.photos.camera import Camera, look_at
from penstock.photos.edges import Edges, levelled, roll_of_edges
from penstock.photos.sizing.camera_draws import draw_cameras
from penstock.photos.sizing.ceiling import WallEdges, ceiling_chances, wall_edges
from penstock.photos.sizing.estimates import before_walls

Array = NDArray[np.float64]

HEIGHTS = np.exp(np.linspace(np.log(0.7), np.log(2.1), 111))
PITCH = float(np.deg2rad(8.0))
FILM = 20.0


def picture(above: float, walls: Walls, roll: float = 0.0) -> NDArray[np.uint8]:
    """An empty room with its walls straight ahead and at both sides."""
    camera = RoomCamera(above, PITCH, roll, FILM, 0.0, True)
    _, tone = walls.cast(np.array([0.0, 0.0, above]), camera.rays())
    noisy = tone[..., None] + np.random.default_rng(0).normal(scale=3, size=(HEIGHT, WIDTH, 3))
    return np.clip(noisy, 0, 255).astype(np.uint8)


def seen(pixels: NDArray[np.uint8]) -> Camera:
    focal = FILM / 36 * WIDTH
    return before_walls(replace(look_at(pixels, None, pitch=PITCH), focal=focal), [])


def chances(walls: WallEdges, heading: float = 0.0) -> Array:
    """For each of HEIGHTS."""
    pitch, focal = np.full(len(HEIGHTS), PITCH), np.full(len(HEIGHTS), FILM / 36 * WIDTH)
    return ceiling_chances(walls, HEIGHTS, pitch, focal, np.full(len(HEIGHTS), heading))


def room(ceiling: float, *marks: WallMark) -> Walls:
    return Walls(np.array([-2.2, -1.0, 0.0]), np.array([2.5, 4.6, ceiling]), marks)


@pytest.mark.parametrize("above", [0.9, 1.3, 1.6])
@pytest.mark.parametrize("roll", [0.0, float(np.deg2rad(2.0))])
def test_the_ends_of_walls_tell_how_high_the_camera_is(above: float, roll: float) -> None:
    camera = seen(picture(above, room(2.44), roll))
    assert camera.walls is not None
    found = chances(camera.walls)
    assert HEIGHTS[found.argmax()] == pytest.approx(above, rel=0.05)
    assert np.ptp(found) > 3  # and it is told with some weight


def test_a_door_a_picture_and_a_skirting_board_mislead_little() -> None:
    door = WallMark(1, True, (-1.0, 0.0), (-0.1, 2.05), 120.0)
    frame = WallMark(1, True, (0.6, 1.2), (1.6, 1.9), 90.0)
    skirting = WallMark(1, True, (-2.2, 0.0), (2.5, 0.08), 250.0)
    camera = seen(picture(1.3, room(2.44, frame, skirting, door)))
    assert camera.walls is not None
    assert HEIGHTS[chances(camera.walls).argmax()] == pytest.approx(1.3, rel=0.1)


def test_shelves_alone_change_little() -> None:
    """Short edges at several heights: they may be anything."""
    focal = FILM / 36 * WIDTH
    rows = [_row(height, 3.0, focal) for height in (0.5, 0.9, 1.2, 1.5, 1.8)]
    ends = np.array([[(-30.0, row), (30.0, row)] for row in rows])
    found = chances(WallEdges(ends, np.full(len(ends), 60 / WIDTH)))
    assert np.ptp(found[HEIGHTS < 1.9]) < 1.5  # a camera as high as the ceiling is unlikely anyway


def _row(height: float, far: float, focal: float, above: float = 1.3) -> float:
    down = above - height
    forward = far * np.cos(PITCH) + down * np.sin(PITCH)
    return float(focal * (down * np.cos(PITCH) - far * np.sin(PITCH)) / forward)


@pytest.mark.parametrize("rows", [[], [-200.0, -150.0], [150.0, 200.0]])
def test_without_both_ends_in_sight_nothing_changes(rows: list[float]) -> None:
    ends = np.array([[(-200.0, row), (200.0, row)] for row in rows]).reshape(-1, 2, 2)
    assert not chances(WallEdges(ends, np.full(len(ends), 0.6))).any()
    edges = Edges(ends[:0], np.zeros(0), ends, np.ones(len(ends)))
    camera = Camera(WIDTH, HEIGHT, 356.0, 0.03, edges=edges)
    plain, asked = (
        draw_cameras(one, 50, np.random.default_rng(0)) for one in (camera, before_walls(camera, []))
    )
    assert np.array_equal(plain.log_weight, asked.log_weight)


def test_edges_of_things_are_no_walls() -> None:
    ends = np.array([[(-100.0, -50.0), (100.0, -50.0)], [(-100.0, 50.0), (100.0, 50.0)]])
    thing = np.zeros((HEIGHT, WIDTH), bool)
    thing[HEIGHT // 2 + 48 :, WIDTH // 2 - 150 : WIDTH // 2 + 150] = True
    edges = Edges(ends[:0], np.zeros(0), ends, np.ones(2))
    assert wall_edges(edges, [thing], WIDTH, HEIGHT).ends.tolist() == ends[:1].tolist()


def test_a_rolled_camera_is_levelled_by_upright_edges() -> None:
    upright = np.array([[(x, -100.0), (x, 100.0)] for x in (-200.0, -50.0, 10.0, 150.0)])
    rolled = levelled(upright, -0.03)
    edges = Edges(rolled, np.ones(4), upright[:0], np.zeros(0))
    roll = roll_of_edges(edges, 400.0, 0.0)
    assert roll == pytest.approx(0.03, abs=0.003)
    assert levelled(rolled, roll) == pytest.approx(upright, abs=0.6)
    assert roll_of_edges(Edges(upright[:0], np.zeros(0), upright, np.ones(4)), 400.0, 0.0) == pytest.approx(0)


def test_walls_stand_behind_all_that_is_in_a_room() -> None:
    corners = np.array([[-1.5, 2.0, 0.0], [2.0, 3.5, 2.42]])
    ceilings = set()
    for seed in range(30):
        walls = walls_around(corners, 10.0, np.random.default_rng(seed))
        assert (walls.low[:2] < corners.min(axis=0)[:2]).all() and (walls.high > corners.max(axis=0)).all()
        ceilings.add(float(walls.high[2]))
    assert ceilings <= {height for height in CEILINGS if height > 2.44} and len(ceilings) > 2
