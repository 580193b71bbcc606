"""Which way up: right on turned pages, and never a turn without clear evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest
from numpy.typing import NDArray

from penstock.engines.ocr.orient import Orienter
from penstock.errors import MissingModel
from tests.conftest import SAMPLE
from tests.support.drawn import SENTENCES, page
from tests.support.stroked import vertical_page


@pytest.fixture(scope="module")
def orienter() -> Iterator[Orienter]:
    try:
        engine = Orienter()
    except MissingModel as exc:
        pytest.skip(str(exc))
    yield engine
    engine.close()


def turned(pixels: NDArray[np.uint8], clockwise: int) -> NDArray[np.uint8]:
    return np.ascontiguousarray(np.rot90(pixels, -clockwise // 90))


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_a_turned_page_is_turned_back(orienter: Orienter, degrees: int) -> None:
    asked = orienter.upright(turned(page(), degrees))
    assert asked == (360 - degrees) % 360


# each turn, and each tilt with two of them: a tilt is found before the turn
@pytest.mark.parametrize(("degrees", "tilt"), [(0, 5), (90, -2), (180, 2), (180, -2), (270, 5), (0, 2)])
def test_a_turned_page_that_also_lies_askew_is_turned_back(
    orienter: Orienter, degrees: int, tilt: int
) -> None:
    askew = tilted(turned(rendered(SAMPLE, 0), degrees), tilt)
    assert orienter.upright(askew) == (360 - degrees) % 360


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_a_glance_of_the_usual_effort_sees_a_turn_and_a_tilt(quick: Orienter, degrees: int) -> None:
    assert quick.upright(tilted(turned(rendered(SAMPLE, 0), degrees), 2)) == (360 - degrees) % 360


@pytest.fixture(scope="module")
def quick(orienter: Orienter) -> Iterator[Orienter]:
    """The networks that most pages get; `orienter` skips where there are none."""
    engine = Orienter(effort="balanced")
    yield engine
    engine.close()


def tilted(pixels: NDArray[np.uint8], degrees: float) -> NDArray[np.uint8]:
    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    white = (255, 255, 255)
    return np.asarray(cv2.warpAffine(pixels, matrix, (width, height), borderValue=white), dtype=np.uint8)


@pytest.mark.parametrize("degrees", [90, 180])
def test_lines_found_before_give_the_same_answer(orienter: Orienter, degrees: int) -> None:
    pixels = turned(page(), degrees)
    assert orienter.upright(pixels, orienter._ocr.find_lines(pixels)) == (360 - degrees) % 360


def test_a_page_without_text_stays(orienter: Orienter) -> None:
    assert orienter.upright(np.full((1200, 900, 3), 255, dtype=np.uint8)) == 0
    noise = np.random.default_rng(0).integers(0, 255, (400, 600, 3), dtype=np.uint8)
    assert orienter.upright(noise) == 0


def test_one_line_alone_is_no_reason_to_turn(orienter: Orienter) -> None:
    assert orienter.upright(turned(page(SENTENCES[:1]), 180)) == 0


@pytest.mark.parametrize("degrees", [0, 180])  # on its side: below, askew
def test_a_set_page_is_turned_back(orienter: Orienter, degrees: int) -> None:
    assert orienter.upright(turned(rendered(SAMPLE, 0), degrees)) == (360 - degrees) % 360


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_real_turned_pages(orienter: Orienter, shared_data: Path, degrees: int) -> None:
    name = f"ocr_test_rotated_{degrees}.pdf" if degrees else "ocr_test.pdf"
    file = shared_data / "docling_tests" / "ocr" / "sources" / name
    if not file.is_file():
        pytest.skip(f"no {file}")
    assert orienter.upright(rendered(file, 0)) == degrees  # their names say how to turn them back


@pytest.mark.parametrize("degrees", [0, 180])
def test_a_korean_page_is_turned_back(orienter: Orienter, degrees: int) -> None:
    pixels = rendered(SAMPLE, 1)
    assert orienter.upright(turned(pixels, degrees)) == degrees


def rendered(file: Path, number: int) -> NDArray[np.uint8]:
    document = pypdfium2.PdfDocument(file)
    pixels = document[number].render(scale=150 / 72).to_numpy()[:, :, 2::-1]
    copy = np.array(pixels, dtype=np.uint8, order="C")
    document.close()
    return copy


def test_vertical_writing_stays_and_is_turned_over_if_it_stands_on_its_head(
    orienter: Orienter,
) -> None:
    assert orienter.upright(vertical_page()) == 0
    assert orienter.upright(turned(vertical_page(), 180)) == 180
