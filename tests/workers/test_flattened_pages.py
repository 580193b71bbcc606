"""A page that is a photograph is read flat, and tells its boxes in the photograph's own pixels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from benchmarks.lib.scenes.photographed import Bend, CameraView, Light, photograph

import penstock
from penstock.box import Box, Pixels
from penstock.choices import FlattenUse
from penstock.engines.page_photo.flat_map import STEP, FlatMap
from penstock.exports.page_rows import result_row
from penstock.page import Page
from penstock.region import Line, Region
from penstock.stages.compose import Compose
from penstock.stages.orient import Orient
from penstock.store.schema import PAGES, storable
from penstock.workers.orient import OrientWorker
from tests.support.photographed_text import known_page


class Upright:
    """Stands for the models that look which way up a page is."""

    def upright(self, pixels: object) -> int:
        return 0

    def close(self) -> None: ...


def oriented(page: Page, flatten: FlattenUse, monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.setattr(OrientWorker, "_opened", lambda self: Upright())
    [done] = Orient(flatten=flatten).open()([page])
    return done


def page_of(pixels: Pixels) -> Page:
    height, width = pixels.shape[:2]
    return Page(id="a", uri="a", document="a", width=width, height=height, pixels=pixels)


def doubled() -> FlatMap:
    """The flat picture shows a part of the photograph, 100 pixels in and 50 down, twice as large."""
    across, down = np.meshgrid(
        np.arange(0, 800 + STEP, STEP) / 2 + 100, np.arange(0, 600 + STEP, STEP) / 2 + 50
    )
    return FlatMap(np.stack([across, down], axis=-1).astype(np.float32), 800, 600, 1000, 900)


def test_a_scan_goes_on_untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(known_page().pixels)
    assert oriented(page, "auto", monkeypatch) is page
    assert oriented(page, "off", monkeypatch) is page


def test_a_photograph_goes_on_flat_and_knows_its_way_back(monkeypatch: pytest.MonkeyPatch) -> None:
    view = CameraView(pitch=15, yaw=10, roll=5, share=0.7)
    photo = photograph(known_page().pixels, (900, 1200), Bend(), view, Light(), seed=2).pixels
    flat = oriented(page_of(photo), "auto", monkeypatch)
    assert flat.pixels is not None
    assert (flat.height, flat.width) == flat.pixels.shape[:2]
    assert flat.way_back is not None
    assert flat.way_back.photo_size == (900, 1200)
    assert flat.flattened.startswith("perspective")


def test_composed_regions_stand_on_the_photograph() -> None:
    line = Line(text="a word", box=(40.0, 60.0, 240.0, 100.0))
    region = Region(label="text", box=(40.0, 60.0, 440.0, 160.0), content="a word", lines=(line,))
    page = Page(id="a", uri="a", document="a", width=800, height=600, regions=(region,), way_back=doubled())
    [done] = Compose().open()([replace(page, flattened="perspective 9°")])
    assert (done.width, done.height, done.way_back) == (1000, 900, None)
    [placed] = done.regions
    assert placed.box == pytest.approx((120, 80, 320, 130))
    assert placed.lines[0].box == pytest.approx((120, 80, 220, 100))
    assert placed.polygon[0] == pytest.approx((120, 80))
    assert len(placed.polygon) > 4  # a curled page's regions are no rectangles
    row = result_row(done)
    assert row["flattened"] == "perspective 9°"
    assert row["regions"][0]["polygon"][0] == [120.0, 80.0]
    assert PAGES.from_row(storable(PAGES.to_row(done))).flattened == "perspective 9°"


def test_a_row_of_a_scan_says_nothing_of_flattening() -> None:
    row = result_row(
        Page(
            id="a",
            uri="a",
            document="a",
            regions=(Region(label="text", box=(0, 0, 1, 1)),),
            width=9,
            height=9,
        )
    )
    assert "flattened" not in row
    assert "polygon" not in row["regions"][0]


def test_boxes_end_at_the_photographs_edge() -> None:
    wide = doubled()
    beyond = FlatMap(wide.nodes - 200, 800, 600, 1000, 900)
    assert min(beyond.box((0, 0, 100, 100))) == 0.0


@pytest.mark.slow
def test_lines_of_a_photograph_lie_on_its_words(tmp_path: Path) -> None:
    page = known_page(1275, 1650)
    bend, view = Bend(curl=(-0.2, 0.2), turn=3), CameraView(pitch=12, yaw=-8, roll=4, share=0.8)
    photo = photograph(page.pixels, (1500, 2000), bend, view, Light(slope=(0.3, 0.1), shadow=0.3), seed=4)
    cv2.imwrite(str(tmp_path / "page.jpg"), photo.pixels[:, :, ::-1])
    [read] = penstock.parse(tmp_path / "page.jpg", out=tmp_path / "out", crops=False)
    assert "curl" in read.flattened
    assert (read.width, read.height) == (1500, 2000)
    lines = [line for region in read.regions for line in region.lines]
    found = 0
    for word, (x0, y0, x1, y1) in page.words:
        x, y = photo.to_photo(np.array([[(x0 + x1) / 2, (y0 + y1) / 2]]))[0]
        here = [line for line in lines if _holds(line.box, x, y)]
        found += any(word in line.text for line in here)
    assert found > 0.95 * len(page.words)
    [again] = penstock.read(tmp_path / "out")
    assert again.flattened == read.flattened


def _holds(box: Box, x: float, y: float) -> bool:
    return bool(box[0] <= x <= box[2] and box[1] <= y <= box[3])
