"""Cameras, masks, twins and totals: what sizes are made of."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from benchmarks.lib.scenes import rooms
from PIL import Image

from penstock.errors import BadInput
from penstock.photos.camera import floor_depth, look_at, pointmap, read_focal, to_pytorch3d
from penstock.photos.depth import read_depth
from penstock.photos.duplicates import Seen, colour_histogram, groups
from penstock.photos.edges import HEADINGS, Edges, find_edges, pitch_of_edges
from penstock.photos.masks import cleaned, cut_sides, pack, unpack
from penstock.photos.overlap import Claim, settle
from penstock.photos.sizing.box_fit import Draws, SizePrior, fit_boxes
from penstock.photos.sizing.gaussian import cholesky, correlate, precision_matrix, solve
from penstock.photos.sizing.outline import Outline
from penstock.photos.totals import total


def test_the_camera_is_read_from_exif_and_upright_edges(tmp_path: Path) -> None:
    room = rooms.draw(7)
    photo = tmp_path / "room.jpg"
    photo.write_bytes(room.jpeg)
    camera = look_at(room.pixels, str(photo))
    film = Image.open(io.BytesIO(room.jpeg)).getexif().get_ifd(0x8769)[0xA405]
    assert camera.focal == pytest.approx(film / 36 * 1200)
    assert camera.pitch == pytest.approx(room.pitch, abs=np.deg2rad(1.5))
    Image.new("RGB", (300, 200)).save(tmp_path / "bare.png")
    assert read_focal(tmp_path / "bare.png", 300, 200) is None
    assert read_focal(tmp_path / "absent.png", 300, 200) is None
    blank = np.full((200, 300, 3), 128, np.uint8)
    pitch, spread = pitch_of_edges(find_edges(blank), 250.0)
    assert np.rad2deg(pitch) == pytest.approx(9, abs=1)
    assert np.rad2deg(spread) > 7
    assert look_at(blank, None).focal == pytest.approx(26 / 36 * 300)


def test_many_lenses_are_asked_of_edges_at_once_as_one_by_one() -> None:
    lying = find_edges(rooms.draw(7).pixels)
    focal, pitch = np.array([700.0, 866.0, 1100.0]), np.deg2rad([4.0, 9.0, 15.0])
    alone = [lying.lying_chances(focal[n : n + 1], pitch[n : n + 1])[0] for n in range(3)]
    assert len(lying.lying)
    assert lying.lying_chances(focal, pitch) == pytest.approx(np.array(alone), abs=1e-3)
    flat = np.array([[[-100.0, 80.0], [100.0, 80.0]]])  # a line across, below the middle
    one = Edges(flat[:0], np.zeros(0), flat, np.ones(1))
    best = HEADINGS[one.lying_chances(focal[:1], np.zeros(1))[0].argmax()]
    assert best == pytest.approx(0.0, abs=0.03)  # walls lie across, too


def test_pointmaps_for_sam3d_have_x_left_and_y_up() -> None:
    points = to_pytorch3d(pointmap(np.full((4, 6), 2.0, np.float32), 3.0))
    assert points.shape == (4, 6, 3)
    assert points[0, 0, 0] > 0 > points[0, -1, 0]  # x grows to the left
    assert points[0, 0, 1] > 0 > points[-1, 0, 1]  # y grows upwards
    assert (points[..., 2] == 2).all()


def test_the_last_resort_is_a_room_and_not_a_plane() -> None:
    depth = floor_depth(look_at(np.zeros((90, 120, 3), np.uint8), None))
    assert depth[0, 0] == 5.0
    assert depth[-1, 0] < 3.0
    assert (np.diff(depth[:, 0]) <= 0).all()


def test_masks_lose_specks_and_pinholes_and_survive_packing() -> None:
    mask = np.zeros((100, 120), bool)
    mask[20:80, 30:90] = True
    clean = mask.copy()
    mask[50, 50] = False
    mask[5, 5] = True
    assert (cleaned(mask) == clean).all()
    assert (unpack(pack(clean)) == clean).all()
    window = clean.copy()
    window[35:65, 45:75] = False
    assert (cleaned(window) == window).all()  # a hole one sees through stays


def test_a_thing_cut_by_the_frame_says_at_which_side() -> None:
    mask = np.zeros((100, 120), bool)
    mask[40:, 80:] = True
    assert cut_sides(mask) == {"right", "bottom"}
    mask[:] = False
    mask[40:60, 40:60] = True
    assert cut_sides(mask) == frozenset()


def test_overlapping_claims_are_settled() -> None:
    def claim(label: str, score: float, x0: int, x1: int) -> Claim:
        mask = np.zeros((50, 100), bool)
        mask[10:40, x0:x1] = True
        return Claim(label, score, mask)

    kept = settle([claim("sofa", 0.9, 0, 60), claim("sofa", 0.5, 2, 58), claim("bed", 0.4, 0, 59)])
    assert [c.label for c in kept] == ["sofa"]
    sofa, cushion = settle([claim("sofa", 0.9, 0, 60), claim("cushion", 0.8, 40, 60)])
    assert not (sofa.mask & cushion.mask).any()
    assert np.count_nonzero(cushion.mask) == 30 * 20
    assert settle([]) == []


def _boxed(label: str, score: float, box: tuple[int, int, int, int], outlined: bool = True) -> Claim:
    mask = np.zeros((50, 100), bool)
    mask[box[1] : box[3], box[0] : box[2]] = True
    if outlined:  # a little less than the box
        mask[box[1], box[0] : box[2] : 2] = False
    return Claim(label, score, mask, outlined=outlined)


def test_a_box_that_holds_another_of_its_name_is_the_same_thing() -> None:
    inner, outer = _boxed("bed", 0.8, (20, 10, 60, 40)), _boxed("bed", 0.6, (10, 5, 90, 45))
    [kept] = settle([outer, inner])
    assert (kept.score, kept.repeats) == (0.8, 1)
    shifted = _boxed("bed", 0.8, (6, 10, 46, 40))  # a tenth of it is outside
    assert [one.repeats for one in settle([outer, shifted])] == [1]
    assert len(settle([_boxed("chair", 0.6, (10, 5, 90, 45)), inner])) == 2  # other names are other things
    assert len(settle([outer, inner], by_user=True)) == 2  # and a user sees which are


def test_a_failed_outline_over_half_the_photo_takes_nothing_that_stands_in_it() -> None:
    bed = _boxed("bed", 0.55, (20, 10, 60, 40))
    room = _boxed("sofa", 0.9, (0, 0, 100, 45), outlined=False)
    [kept] = settle([room, bed])
    assert (kept.label, kept.repeats) == ("bed", 1)
    [alone] = settle([room])
    assert alone.label == "sofa"


def test_the_same_thing_in_two_photos_is_one_and_two_in_one_photo_are_two() -> None:
    red, blue = (1.0, 0.0), (0.0, 1.0)
    seen = [
        Seen("a", "chair", red, 0.2),
        Seen("a", "chair", red, 0.2),
        Seen("b", "chair", red, 0.22),
        Seen("b", "chair", blue, 0.2),
        Seen("b", "table", red, 0.2),
        Seen("c", "chair", red, 0.9),
    ]
    assert groups(seen) == [0, 1, 0, 3, 4, 5]


def test_looks_tell_drawn_furniture_apart() -> None:
    first, second = rooms.draw(1).things[0], rooms.draw(3).things[0]
    one = colour_histogram(rooms.draw(1).pixels, first.mask)
    other = colour_histogram(rooms.draw(3).pixels, second.mask)
    assert sum(one) == pytest.approx(1, abs=0.01)
    assert np.minimum(one, other).sum() < 0.6


def test_a_total_is_surer_than_its_parts_but_not_free_of_shared_error() -> None:
    ten = total([(1.0, 0.7, 1.4)] * 10)
    assert ten.cbm == pytest.approx(10, rel=0.03)
    assert 7.0 < ten.low < 10 < ten.high < 14.0
    assert ten.high / ten.low > 1.15
    assert total([]).cbm == 0
    one = total([(1.0, 0.75, 1.7)])  # of one thing the total is the thing, and leans as it does
    assert (one.low, one.high) == (pytest.approx(0.75, rel=0.03), pytest.approx(1.7, rel=0.03))
    assert one.cbm == pytest.approx(1.0, rel=0.005)


def test_a_total_lies_inside_its_own_range_however_far_ranges_lean() -> None:
    for count in (1, 2, 8, 40):
        leaning = total([(0.5, 0.25, 2.0)] * count, photos=list(range(count)))
        assert leaning.low < leaning.cbm < leaning.high


def test_a_range_of_more_than_four_times_is_unsure() -> None:
    assert total([(0.5, 0.2, 2.0)]).is_unsure
    assert not total([(0.5, 0.3, 0.9)]).is_unsure


def test_a_total_of_well_measured_things_leaves_room_for_one_that_was_taken_for_another() -> None:
    five = total([(1.0, 0.98, 1.02)] * 5)
    by_a_bell = 0.04 * 0.63  # five of them that share a quarter: the square root of 0.25 + 0.75 / 5
    assert 1.3 * by_a_bell < five.high / five.low - 1 < 0.1


def test_small_systems_are_solved_as_a_general_solver_solves_them() -> None:
    random = np.random.default_rng(5)
    slopes, varied = random.normal(size=(4, 3, 7)), random.normal(size=(3, 5))
    precision = varied @ varied.T
    right, loose = random.normal(size=(3, 7)), random.normal(size=(3, 7))
    system = precision_matrix(slopes, precision)
    root = cholesky(system)
    found, errors = solve(system, right), correlate(root, loose)
    for n in range(7):
        whole = slopes[:, :, n].T @ slopes[:, :, n] + precision
        half = np.linalg.cholesky(whole)
        assert found[:, n] == pytest.approx(np.linalg.solve(whole, right[:, n]))
        assert errors[:, n] == pytest.approx(np.linalg.solve(half.T, loose[:, n]))
        assert root[[0, 3, 5], n] == pytest.approx(np.diag(half))


def test_what_is_seen_of_a_width_tells_of_a_depth_that_is_not_seen() -> None:
    # 2.4 m wide and 0.8 m high, seen face on and level from 4 m: its depth is nowhere in the outline
    focal, far, above = 500.0, 4.0, 0.8
    foot = 240 + focal * above / far
    seen = Outline(320 - 1.2 * focal / far, 240.0, 320 + 1.2 * focal / far, foot, foot, foot)
    zeros = np.zeros(400)
    draws = Draws(zeros + focal, zeros + above, zeros, zeros, zeros + foot, zeros, (320.0, 240.0))
    spread = np.array([0.25, 0.17, 0.12])
    deep = []
    for together in (0.0, 0.6):
        covariance = np.diag(spread**2)
        covariance[0, 1] = covariance[1, 0] = together * spread[0] * spread[1]
        prior = SizePrior(np.log([1.9, 0.9, 0.83]), covariance)
        fits = fit_boxes(prior, draws, seen, np.random.default_rng(3))
        assert np.median(fits.size[:, 0]) == pytest.approx(2.4, rel=0.06)
        deep.append(float(np.median(fits.size[:, 1])))
    assert deep[1] > 1.05 * deep[0]


@pytest.mark.parametrize("shown", [0.8, 1.2, 2.0])
def test_what_the_frame_cuts_is_as_long_as_its_class_makes_it_and_never_shorter_than_what_is_seen(
    shown: float,
) -> None:
    # `shown` metres of a width that is 1.2 m in the middle of its class are seen, face on and from 4 m
    focal, far, above = 500.0, 4.0, 0.8
    foot, spread = 240 + focal * above / far, 0.4
    seen = Outline(320 - shown * focal / far, 240.0, 320.0, foot, None, foot, frozenset({"left"}))
    zeros = np.zeros(4000)
    draws = Draws(zeros + focal, zeros + above, zeros, zeros, zeros + foot, zeros, (320.0, 240.0))
    prior = SizePrior(np.log([1.2, 0.5, 0.8]), np.diag([spread, 0.15, 0.15]) ** 2)
    fits = fit_boxes(prior, draws, seen, np.random.default_rng(3))
    counts = np.exp(fits.evidence - fits.evidence.max())
    longer = np.exp(np.random.default_rng(4).normal(np.log(1.2), spread, 200_000))
    longer = longer[longer > shown]
    mean = np.average(np.log(fits.size[:, 0]), weights=counts)
    assert mean == pytest.approx(np.log(longer).mean(), abs=0.05)
    assert counts[fits.size[:, 0] < 0.85 * shown].sum() < 0.01 * counts.sum()


def test_measured_sides_tell_of_the_others_as_far_as_they_go_together() -> None:
    spread = np.array([0.4, 0.1, 0.2])
    together = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]])
    prior = SizePrior(np.log([1.0, 0.6, 2.0]), np.outer(spread, spread) * together)
    wide = prior.given([0], np.log([1.5]), noise=0.01)
    assert np.exp(wide.mean) == pytest.approx([1.5, 0.6, 2.0 * 1.5**0.25], rel=0.01)
    assert np.sqrt(np.diag(wide.covariance)) == pytest.approx([0.01, 0.1, 0.2 * 0.75**0.5], rel=0.01)
    assert prior.given([], np.array([]), noise=0.01) is prior
    likely = [prior.chance([0, 2], np.log([1.5, height]), noise=0.01) for height in (1.6, 2.0, 2.2)]
    assert likely == sorted(likely)  # what is wide is high


def test_the_total_of_a_thousand_things_takes_little_memory() -> None:
    tracemalloc.start()
    try:
        assert total([(1.0, 0.7, 1.4)] * 1000).cbm == pytest.approx(1000, rel=0.03)
        assert tracemalloc.get_traced_memory()[1] < 80e6  # all at once would take 300 MB
    finally:
        tracemalloc.stop()


def test_depth_maps_are_metres_or_millimetres_and_nothing_else(tmp_path: Path) -> None:
    import cv2

    np.save(tmp_path / "d.npy", np.full((30, 40), 2.5, np.float32))
    cv2.imwrite(str(tmp_path / "d.png"), np.full((30, 40), 2500, np.uint16))
    for name in ("d.npy", "d.png"):
        assert np.allclose(read_depth(str(tmp_path / name), 80, 60), 2.5)
    with pytest.raises(BadInput, match="its photo"):
        read_depth(str(tmp_path / "d.npy"), 80, 80)
    with pytest.raises(BadInput, match="cannot be read"):
        read_depth(str(tmp_path / "none.npy"), 80, 60)
