"""PP-OCR: finding lines and reading them, on drawn pages and a real one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from penstock.engines.ocr import detect, recognise
from penstock.engines.ocr.effort import SMALL_FINDER
from penstock.engines.ocr.line_network import open_network
from penstock.engines.ocr.ppocr import PPOcr
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import Network
from penstock.errors import EngineError, MissingModel
from penstock.region import LineBox
from tests.support.drawn import SENTENCES, page


@pytest.fixture(scope="module")
def ocr() -> Iterator[PPOcr]:
    try:
        engine = PPOcr()
    except MissingModel as exc:
        pytest.skip(str(exc))
    yield engine
    engine.close()


def test_a_drawn_page_is_read_word_for_word(ocr: PPOcr) -> None:
    pixels = page()
    read = ocr.read_lines(pixels, ocr.find_lines(pixels))
    assert [line.text for line in read] == list(SENTENCES)
    assert all(line.confidence > 0.9 and line.reader == "ppocr" for line in read)


def test_boxes_hold_the_ink_and_not_the_neighbours(ocr: PPOcr) -> None:
    lines = ocr.find_lines(page())
    for row, line in enumerate(lines):
        assert line.quad is None
        assert line.box[1] < 75 + 60 * row < line.box[3] < 140 + 60 * row


def test_a_blank_page_and_a_tiny_one_have_no_lines(ocr: PPOcr) -> None:
    assert ocr.find_lines(np.full((1500, 1000, 3), 250, dtype=np.uint8)) == []
    assert ocr.find_lines(np.zeros((0, 10, 3), dtype=np.uint8)) == []
    speck = np.full((5, 7, 3), 255, dtype=np.uint8)
    speck[2, 3] = 0
    assert ocr.find_lines(speck) == []


def test_a_slanted_line_is_cut_level_and_read(ocr: PPOcr) -> None:
    pixels = page(SENTENCES[:1])
    pixels = cv2.copyMakeBorder(pixels, 200, 200, 0, 0, cv2.BORDER_CONSTANT, value=(255, 255, 255))
    height, width = pixels.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), 12, 1.0)
    slanted = cv2.warpAffine(pixels, turn, (width, height), borderValue=(255, 255, 255))
    (line,) = ocr.find_lines(np.asarray(slanted, dtype=np.uint8))
    assert line.quad is not None
    assert line.width > 10 * line.height
    assert ocr.read_lines(np.asarray(slanted, dtype=np.uint8), [line])[0].text == SENTENCES[0]


def test_a_line_longer_than_the_network_should_see_is_read_whole(ocr: PPOcr) -> None:
    pixels = page(SENTENCES[:1])
    (line,) = ocr.find_lines(pixels)
    once = recognise.cut(pixels, line)
    gap = np.full((once.shape[0], 40, 3), 255, dtype=np.uint8)
    six_times = np.concatenate([once, gap] * 6, axis=1)
    assert recognise.at_height(six_times).shape[1] > recognise.MAX_WIDTH
    text = ocr.read_cuts([six_times])[0].text
    assert text.count("turbine.") == 6
    assert text.replace(" ", "") == (SENTENCES[0] * 6).replace(" ", "")


def test_pieces_of_a_long_line_are_all_of_it() -> None:
    rng = np.random.default_rng(0)
    line = rng.integers(0, 255, (48, 3 * recognise.MAX_WIDTH, 3), dtype=np.uint8)
    parts = recognise.pieces(line)
    assert all(part.shape[1] <= recognise.MAX_WIDTH for part in parts)
    assert np.array_equal(np.concatenate(parts, axis=1), line)


def test_results_come_in_the_order_of_the_lines(ocr: PPOcr) -> None:
    pixels = page()
    lines = ocr.find_lines(pixels)[::-1]
    assert [line.text for line in ocr.read_lines(pixels, lines)] == list(SENTENCES[::-1])


def test_margins_are_what_has_no_ink() -> None:
    pixels = np.full((900, 700, 3), 250, dtype=np.uint8)
    pixels[300:500, 200:600] = 0
    rows, columns = detect.printed(pixels)
    assert (rows.start, columns.start) == (256, 160)  # whole strides above and left of the ink
    assert (rows.stop, columns.stop) == (516, 616)
    assert detect.printed(pixels[:200]) == (slice(0, 200), slice(0, 700))


def test_lines_side_by_side_are_ordered_by_row() -> None:
    boxes = [LineBox((500, 12, 700, 32)), LineBox((0, 60, 200, 80)), LineBox((0, 10, 200, 30))]
    assert detect.in_reading_rows(boxes) == [boxes[2], boxes[0], boxes[1]]


def test_text_that_runs_downwards_is_laid_on_its_side(ocr: PPOcr) -> None:
    pixels = np.asarray(cv2.rotate(page(SENTENCES[:3]), cv2.ROTATE_90_CLOCKWISE), dtype=np.uint8)
    read = ocr.read_lines(pixels, ocr.find_lines(pixels))
    assert {line.text for line in read} == set(SENTENCES[:3])


def test_a_closed_engine_says_so() -> None:
    try:
        engine = PPOcr()
    except MissingModel as exc:
        pytest.skip(str(exc))
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        engine.find_lines(page())


def test_handwritten_chinese_is_read(ocr: PPOcr, shared_data: Path) -> None:
    image = shared_data / "omnidocbench_demo/images/notes_1ba14cb325bc448f7201b20502ecf2b5_15.jpg"
    pixels = np.asarray(cv2.cvtColor(cv2.imread(str(image)), cv2.COLOR_BGR2RGB), dtype=np.uint8)
    text = "\n".join(line.text for line in ocr.read_lines(pixels, ocr.find_lines(pixels)))
    assert "多变的天气" in text
    assert "天气预报" in text


def test_without_denormal_weights_the_detector_paints_the_same_map() -> None:
    try:
        published = Network(weights.path(SMALL_FINDER))
    except MissingModel as exc:
        pytest.skip(str(exc))
    picture = np.random.default_rng(0).random((1, 3, 320, 320), dtype=np.float32)
    assert np.array_equal(open_network(SMALL_FINDER, 1)(picture)[0], published(picture)[0])
