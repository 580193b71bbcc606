"""Shapes of known size come back from their Gaussians, whatever is done to the cloud."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.lib.scenes import shapes

from penstock.errors import BadInput
from penstock.photos.gaussians import Floats, Gaussians, shell
from penstock.photos.ply import NAMES, read_ply, write_ply, write_splat
from penstock.photos.volumes import measure

NUM = 40_000
BINARY = "ply\nformat binary_little_endian 1.0\n"
SHAPES: dict[str, tuple[Floats, tuple[float, float, float]]] = {
    "box": (shapes.boxes([(0, 0, 0, 1.2, 0.6, 0.8)], NUM), (1.2, 0.6, 0.8)),
    "sphere": (shapes.sphere(0.5, NUM), (1, 1, 1)),
    "cylinder": (shapes.cylinder(0.4, 1.0, NUM), (0.8, 0.8, 1.0)),
    "l_sofa": (shapes.boxes(shapes.L_SOFA, NUM), (2.4, 1.8, 0.85)),
    "table": (shapes.boxes(shapes.TABLE, NUM), (1.4, 0.8, 0.74)),
    "shelf": (shapes.boxes(shapes.SHELF, NUM), (0.8, 0.3, 1.8)),
}
SOLIDS = {"box": 0.576, "sphere": math.pi / 6, "cylinder": math.pi * 0.16, "l_sofa": 2.6244}


def cloud(name: str, floaters: float = 0.0) -> Gaussians:
    return read_ply(write_ply(shapes.cloud(SHAPES[name][0], floaters=floaters)))


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_through_a_file_has_its_box_within_12_percent(name: str) -> None:
    true = float(np.prod(SHAPES[name][1]))
    got = measure(cloud(name))
    assert got.bbox_cbm == pytest.approx(true, rel=0.12)
    for side, want in zip((got.width, got.depth, got.height), SHAPES[name][1], strict=True):
        assert side == pytest.approx(want, rel=0.06)


@pytest.mark.parametrize("name", SOLIDS)
def test_a_compact_shape_has_its_solid_volume_within_20_percent(name: str) -> None:
    assert measure(cloud(name)).occupied_cbm == pytest.approx(SOLIDS[name], rel=0.20)


@pytest.mark.parametrize("name", SHAPES)
def test_one_percent_of_floaters_moves_the_box_by_less_than_two_points(name: str) -> None:
    assert measure(cloud(name, floaters=0.01)).bbox_cbm == pytest.approx(
        measure(cloud(name)).bbox_cbm, rel=0.02
    )


def test_a_scale_of_k_gives_k_cubed() -> None:
    one, two = measure(cloud("box")), measure(cloud("box").scaled(2.0))
    assert two.bbox_cbm == pytest.approx(8 * one.bbox_cbm, rel=0.001)
    assert two.occupied_cbm == pytest.approx(8 * one.occupied_cbm, rel=0.05)


def test_turning_a_cloud_keeps_the_searched_box_and_raises_the_flag() -> None:
    straight, turned = measure(cloud("box")), measure(cloud("box").turned(math.radians(30)))
    assert straight.agrees
    assert turned.yaw_bbox_cbm == pytest.approx(straight.yaw_bbox_cbm, rel=0.05)
    assert not turned.agrees
    quarter = measure(cloud("box").turned(math.pi / 2))
    assert quarter.bbox_cbm == pytest.approx(straight.bbox_cbm, rel=0.01)


def test_an_open_shelf_is_emptier_than_a_cupboard() -> None:
    assert measure(cloud("shelf")).fill_ratio < 0.6 < measure(cloud("box")).fill_ratio


def test_what_has_no_volume_is_refused() -> None:
    empty = np.zeros((0, 3), np.float32)
    with pytest.raises(BadInput, match="empty"):
        measure(shell(empty, 0.01))
    with pytest.raises(BadInput, match="opaque Gaussians"):
        measure(shell(np.zeros((1, 3), np.float32), 0.01))
    broken = shapes.boxes([(0, 0, 0, 1, 1, 1)], 1000)
    broken[5, 1] = np.nan
    with pytest.raises(BadInput, match="no finite place"):
        measure(shell(broken, 0.01))
    with pytest.raises(BadInput, match=r"flat|hull"):
        measure(shell(shapes.boxes([(0, 0, 0, 1, 1, 0)], 2000), 0.01))
    with pytest.raises(BadInput, match="scaled by"):
        shell(broken, 0.01).scaled(float("nan"))


def test_a_ply_has_the_layout_viewers_read() -> None:
    data = write_ply(cloud("box"))
    header, _, body = data.partition(b"end_header\n")
    lines = header.decode().splitlines()
    assert lines[:3] == ["ply", "format binary_little_endian 1.0", f"element vertex {NUM}"]
    assert lines[3:] == [f"property float {name}" for name in NAMES]
    assert len(body) == 68 * NUM
    row = np.frombuffer(body, "<f4").reshape(-1, 17)[0]
    assert row[9] == pytest.approx(math.log(0.9 / 0.1), rel=1e-3)  # opacity is a logit
    assert row[13:].tolist() == [1, 0, 0, 0]  # w first


def test_a_cloud_survives_its_file() -> None:
    random = np.random.default_rng(3)
    rotation = random.normal(size=(50, 4)).astype(np.float32)
    rotation /= np.linalg.norm(rotation, axis=1, keepdims=True)
    there = Gaussians(
        random.normal(size=(50, 3)).astype(np.float32),
        random.uniform(0.001, 0.1, (50, 3)).astype(np.float32),
        random.uniform(0.05, 0.95, 50).astype(np.float32),
        random.random((50, 3)).astype(np.float32),
        rotation,
    )
    back = read_ply(write_ply(there))
    for name in ("position", "sigma", "opacity", "colour", "rotation"):
        np.testing.assert_allclose(getattr(back, name), getattr(there, name), rtol=1e-4, atol=1e-5)


def test_a_splat_has_32_bytes_a_gaussian_and_the_largest_first() -> None:
    small = shell(np.array([[0, 0, 0], [1, 2, 3]], np.float32), 0.01)
    small.sigma[1] = 0.5
    data = write_splat(small)
    assert len(data) == 64
    assert np.frombuffer(data, "<f4", 3).tolist() == [1, 2, 3]
    assert list(data[28:32]) == [255, 128, 128, 128]  # w = 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a PLY"),
        (
            b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n",
            "binary little-endian",
        ),
        (
            b"ply\nformat binary_little_endian 1.0\nelement vertex 9\nproperty float x\nend_header\n",
            "no property",
        ),
        (write_ply(shell(np.zeros((4, 3), np.float32), 0.1))[:-1], "cut short"),
        (
            BINARY.encode() + b"element vertex 1\nproperty float x\nproperty float x\nend_header\n",
            "'x' twice",
        ),
        (BINARY.encode() + b"element  vertex 1\nproperty float x\nend_header\n", "begin with its vertices"),
    ],
)
def test_a_file_that_is_no_cloud_is_a_sentence(data: bytes, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_ply(data)
