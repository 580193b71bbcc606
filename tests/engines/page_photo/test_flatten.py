"""Photographs of a page are made flat; everything else is left alone.

The photographs come from a bent sheet before a camera (`scenes/photographed.py`), which the flattening
knows nothing of: it sees text lines only.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from benchmarks.lib.scenes.photographed import Bend, CameraView, Light, Photographed, photograph, table

from penstock.engines.page_photo.flatten import MAX_FLAT, WORK, FlatPage, flattened
from tests.support.photographed_text import SIZE, KnownPage, known_page

FRAME = (900, 1200)
LIGHT = Light(slope=(0.3, 0.2), shadow=0.3, noise=2.0)


@cache
def page() -> KnownPage:
    return known_page(730, 950)


@cache
def photo(bend: Bend, view: CameraView, light: Light = LIGHT) -> Photographed:
    return photograph(page().pixels, FRAME, bend, view, light, seed=3)


def made_flat(seen: Photographed) -> FlatPage:
    flat = flattened(seen.pixels)
    assert flat is not None
    return flat


def off_level(seen: Photographed, flat: FlatPage) -> float:
    """How far the rows of the flat picture run off the page's own lines, in heights of its type."""
    across = np.linspace(0.2, 0.75, 30) * flat.pixels.shape[1]
    worst = []
    for y in np.linspace(0.2, 0.75, 12) * flat.pixels.shape[0]:
        on_photo = flat.back.on_photo([(float(x), float(y)) for x in across])
        heights = seen.sheet.from_photo(np.array(on_photo))[:, 1]
        worst.append(np.ptp(heights))
    return float(np.median(worst)) / SIZE


TILTED = CameraView(pitch=18, yaw=-12, roll=7, share=0.7)
CURLED = Bend(curl=(-0.3, 0.25, 0.05), turn=4)


def test_a_page_seen_from_the_side_becomes_square() -> None:
    seen = photo(Bend(), TILTED)
    flat = made_flat(seen)
    assert flat.summary.startswith("perspective")
    assert off_level(seen, flat) < 0.3


def test_a_curled_page_becomes_level() -> None:
    seen = photo(CURLED, CameraView(pitch=5, share=0.85))
    flat = made_flat(seen)
    assert "curl" in flat.summary
    assert off_level(seen, flat) < 0.5


@pytest.mark.slow
def test_a_page_that_fills_the_frame_is_levelled_by_its_lines_alone() -> None:
    seen = photo(CURLED, CameraView(pitch=4, roll=2, share=1.06))
    flat = made_flat(seen)
    assert "perspective" not in flat.summary  # no paper's edge is in sight
    assert off_level(seen, flat) < 0.5


def test_shadows_are_lifted_and_the_table_is_gone() -> None:
    seen = photo(Bend(), TILTED, Light(level=0.6, slope=(0.4, 0.3), shadow=0.5))
    flat = made_flat(seen)
    assert "shadows" in flat.summary
    closed = cv2.morphologyEx(flat.pixels, cv2.MORPH_CLOSE, np.ones((25, 25), np.uint8))
    inner = closed[100:-100, 100:-100].min(axis=2)
    assert np.percentile(inner, 2) > 200
    assert flat.pixels[5, 5].min() > 230


def test_places_of_words_come_back_to_where_the_photo_shows_them() -> None:
    seen = photo(CURLED, CameraView(pitch=8, yaw=6, share=0.8))
    back = made_flat(seen).back
    rows, columns = back.nodes.shape[:2]
    dense = cv2.resize(back.nodes, (columns * 4, rows * 4), interpolation=cv2.INTER_LINEAR)
    for _, (x0, y0, x1, y1) in page().words[::17]:
        true = seen.to_photo(np.array([[(x0 + x1) / 2, (y0 + y1) / 2]]))[0]
        row, column = np.unravel_index(
            np.argmin(np.hypot(*(dense - true).transpose(2, 0, 1))), dense.shape[:2]
        )
        flat_place = ((column + 0.5) * 4 - 8, (row + 0.5) * 4 - 8)  # the place whose node lies nearest
        box = back.box((flat_place[0] - 15, flat_place[1] - 10, flat_place[0] + 15, flat_place[1] + 10))
        assert box[0] <= true[0] <= box[2]
        assert box[1] <= true[1] <= box[3]


@pytest.mark.parametrize("turn", [0.0, 0.8])
def test_a_scan_is_left_as_it_is(turn: float) -> None:
    pixels = page().pixels
    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), turn, 1.0)
    scan = cv2.warpAffine(pixels, matrix, (width, height), borderValue=(250, 250, 247))
    assert flattened(np.asarray(scan, np.uint8)) is None


def test_what_is_no_page_is_left_as_it_is() -> None:
    dice = np.random.default_rng(1)
    noise = dice.integers(0, 256, (900, 700, 3), dtype=np.uint8)
    assert flattened(noise) is None
    assert flattened(np.full((900, 700, 3), 255, np.uint8)) is None
    assert flattened(np.zeros((900, 700, 3), np.uint8), "always") is None
    assert flattened(table((700, 900), 5).astype(np.uint8)) is None
    assert flattened(np.zeros((3, 4000, 3), np.uint8), "always") is None


def test_off_looks_at_nothing_and_always_asks_no_leave() -> None:
    assert flattened(photo(Bend(), TILTED).pixels, "off") is None
    assert flattened(page().pixels, "always") is not None


@pytest.mark.slow
def test_a_photo_of_fifty_megapixels_is_bounded() -> None:
    seen = photo(Bend(), TILTED)
    huge = np.asarray(cv2.resize(seen.pixels, (6100, 8200)), np.uint8)
    flat = flattened(huge)
    assert flat is not None
    assert flat.pixels.shape[0] * flat.pixels.shape[1] <= 1.01 * MAX_FLAT
    assert max(flat.back.nodes.shape) < WORK


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder", ["omnidocbench_demo/images", "sroie_sample/img", "docling_tests/ocr/sources"]
)
def test_real_scans_are_left_as_they_are(shared_data: Path, folder: str) -> None:
    pictures = sorted(path for path in (shared_data / folder).iterdir() if path.suffix in {".png", ".jpg"})
    assert pictures
    loaded = {path.name: cv2.imread(str(path), cv2.IMREAD_COLOR_RGB) for path in pictures}
    wrong = [name for name, pixels in loaded.items() if pixels is not None and flattened(pixels) is not None]  # type: ignore[arg-type]
    assert wrong == []


def test_paper_that_the_frame_cuts_off_is_pulled_square_too() -> None:
    seen = photo(Bend(), CameraView(pitch=-22, share=0.95, shift=(0.0, 0.2)))
    flat = made_flat(seen)
    assert flat.summary.startswith("perspective")
    upright = flat.back.on_photo([(flat.back.width * 0.4, y) for y in (200.0, 700.0)])
    places = seen.sheet.from_photo(np.array(upright))
    assert abs(places[0, 0] - places[1, 0]) < SIZE  # what is one above the other is so on the page


@pytest.mark.slow
def test_a_page_seen_from_the_side_keeps_its_proportions() -> None:
    seen = photo(Bend(), CameraView(pitch=25, share=0.7))
    back = made_flat(seen).back
    middle = (back.width / 2, back.height / 2)
    here, beside, below = seen.sheet.from_photo(
        np.array(back.on_photo([middle, (middle[0] + 100, middle[1]), (middle[0], middle[1] + 100)]))
    )
    assert np.hypot(*(beside - here)) == pytest.approx(np.hypot(*(below - here)), rel=0.12)
