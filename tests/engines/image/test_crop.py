"""Crops: which pixels, what is masked, what is too thin, what is blank; and outlines from masks."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest

from penstock.engines.image.crop import BAND, MIN_SIDE, cut, is_blank, sendable, window
from penstock.engines.layout.polygons import outline
from tests.conftest import SAMPLE


def numbered(width: int = 60, height: int = 40) -> np.ndarray:
    """A picture in which every pixel tells its place."""
    y, x = np.mgrid[:height, :width].astype(np.uint8)
    return np.dstack([x, y, np.zeros_like(x)])


def paper(width: int = 200, height: int = 60, shade: int = 245) -> np.ndarray:
    grain = np.random.default_rng(0).normal(shade, 3, (height, width, 3))
    return grain.clip(0, 255).astype(np.uint8)


def test_a_crop_holds_every_pixel_its_box_touches() -> None:
    crop = cut(numbered(), (10.4, 5.9, 20.1, 8.0))
    assert crop.shape == (3, 11, 3)
    assert crop[0, 0].tolist() == [10, 5, 0] and crop[-1, -1].tolist() == [20, 7, 0]


def test_a_whole_pixel_box_is_cut_exactly_and_copies_nothing() -> None:
    page = numbered()
    crop = cut(page, (10, 5, 20, 8))
    assert crop.shape == (3, 10, 3) and np.shares_memory(crop, page)


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ((-5, -5, 70, 50), (0, 0, 60, 40)),
        ((59.5, 39.5, 80, 80), (59, 39, 60, 40)),
        ((10, 10, 10, 10), (10, 10, 11, 11)),
        ((100, 100, 120, 120), (59, 39, 60, 40)),
        ((20, 20, 10, 10), (20, 20, 21, 21)),
    ],
)
def test_a_window_is_on_the_page_and_never_empty(
    box: tuple[float, float, float, float], expected: tuple[int, int, int, int]
) -> None:
    assert window(box, 60, 40) == expected


def test_outside_a_polygon_is_white_and_the_page_untouched() -> None:
    page = np.zeros((40, 60, 3), dtype=np.uint8)
    crop = cut(page, (10, 10, 30, 30), [(10, 10), (30, 10), (10, 30)])
    assert crop[1, 1].tolist() == [0, 0, 0] and crop[18, 18].tolist() == [255, 255, 255]
    assert not page.any()


def test_a_polygon_that_is_the_box_masks_nothing() -> None:
    page = numbered()
    corners = [(10, 10), (30, 10), (30, 30), (10, 30)]
    assert np.shares_memory(cut(page, (10, 10, 30, 30), corners), page)


def test_a_thin_strip_gets_margins_and_keeps_its_pixels() -> None:
    strip = np.zeros((10, 3000, 3), dtype=np.uint8)
    framed = sendable(strip)
    assert framed.shape == (MIN_SIDE, 3000, 3)
    assert not framed[9:19].any() and framed[0].min() == 255 and framed[-1].min() == 255
    assert sendable(np.zeros((3, 5, 3), np.uint8)).shape == (MIN_SIDE, MIN_SIDE, 3)


def test_no_strip_is_longer_than_a_server_takes() -> None:
    height, width = sendable(np.zeros((30, 60_000, 3), np.uint8)).shape[:2]
    assert width / height <= 200


def test_a_crop_that_is_large_enough_is_sent_as_it_is() -> None:
    crop = numbered()
    assert sendable(crop) is crop


def test_grainy_paper_is_blank_in_any_colour_and_as_jpeg() -> None:
    assert is_blank(paper()) and is_blank(paper(shade=40)) and is_blank(paper(3, 3))
    jpeg = cv2.imencode(".jpg", paper(), [cv2.IMWRITE_JPEG_QUALITY, 75])[1]
    assert is_blank(cv2.imdecode(jpeg, cv2.IMREAD_COLOR))


def test_a_full_stop_or_faint_print_is_not_blank() -> None:
    dotted = paper()
    dotted[30:33, 100:103] = 20
    assert not is_blank(dotted)
    faint = paper()
    cv2.putText(faint, "faint", (20, 40), cv2.FONT_HERSHEY_SIMPLEX, 1, (205, 205, 205), 2)
    assert not is_blank(faint)


def test_a_dot_is_seen_on_whichever_row_it_is() -> None:
    for row in range(2 * BAND + 3):
        dotted = np.full((2 * BAND + 3, 40, 3), 250, np.uint8)
        dotted[row, 20] = 50  # smoothed it is 22 levels dark, and only on three rows
        assert not is_blank(dotted), row
        dotted[row, 20] = 190  # and here 7, or 13 beside an edge, which is noise
        assert is_blank(dotted), row


def test_no_text_block_of_the_sample_is_blank() -> None:
    told = json.loads(SAMPLE.with_suffix(".json").read_text())
    document = pypdfium2.PdfDocument(SAMPLE)
    for sheet, page in zip(document, told["pages"], strict=True):
        pixels = np.ascontiguousarray(sheet.render(scale=2).to_numpy()[:, :, 2::-1])
        for block in page["blocks"]:
            if block.get("text"):
                assert not is_blank(cut(pixels, tuple(2 * side for side in block["box"]))), block["text"]
    document.close()


def test_no_block_that_someone_annotated_as_text_is_blank(shared_data: Path) -> None:
    folder = shared_data / "omnidocbench_demo"
    blocks = 0
    for entry in json.loads((folder / "OmniDocBench_demo.json").read_text())[:8]:
        encoded = np.fromfile(folder / "images" / entry["page_info"]["image_path"], np.uint8)
        page = cv2.cvtColor(cv2.imdecode(encoded, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
        for block in entry["layout_dets"]:
            if block.get("text"):
                xs, ys = block["poly"][0::2], block["poly"][1::2]
                assert not is_blank(cut(page, (min(xs), min(ys), max(xs), max(ys)))), block["text"]
                blocks += 1
    assert blocks > 50


def test_an_outline_follows_its_mask() -> None:
    mask = np.zeros((200, 200), dtype=bool)
    mask[50:100, 20:80] = True
    polygon = outline(mask, (100, 500, 900, 2000), 2000, 2000)
    xs, ys = [x for x, _ in polygon], [y for _, y in polygon]
    assert (min(xs), max(xs)) == pytest.approx((200, 800), abs=10)
    assert (min(ys), max(ys)) == pytest.approx((500, 1000), abs=10)


def test_an_outline_keeps_only_corners_that_point_outward() -> None:
    mask = np.zeros((100, 100), dtype=bool)
    mask[10:90, 10:90] = True
    mask[10:30, 40:60] = False  # a notch from above
    polygon = outline(mask, (0, 0, 100, 100), 100, 100)
    assert not any(20 < y < 40 and 30 < x < 70 for x, y in polygon)
    assert len(polygon) >= 4


@pytest.mark.parametrize("box", [(10.0, 10.0, 50.0, 50.0), (10.0, 10.0, 10.2, 50.0)])
def test_an_empty_mask_or_box_gives_the_rectangle(box: tuple[float, float, float, float]) -> None:
    x0, y0, x1, y1 = (int(v) for v in box)
    assert outline(np.zeros((20, 20), bool), box, 100, 100) == ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
