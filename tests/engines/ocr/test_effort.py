"""Efforts: which networks really run, and that the careful one reads what the quick one is unsure of.

Pages are drawn with OpenCV's strokes. Readings that are given were made by the networks on rendered lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.engines.ocr.effort import EFFORT_SETTINGS, EFFORTS, Effort
from penstock.engines.ocr.line_network import IN_PACKAGE
from penstock.engines.ocr.orient import Orienter
from penstock.engines.ocr.ppocr import PPOcr
from penstock.engines.ocr.reader import PageReader
from penstock.engines.ocr.recognise import LineReading
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import Network
from penstock.errors import MissingModel
from penstock.region import LineBox
from tests.support.drawn import SENTENCES, page
from tests.support.partial_cache import hold_only

SMALL = {"ppocrv6-det-small", "ppocrv6-rec-small"}
TINY = {"ppocrv6-det-tiny", "ppocrv6-rec-tiny"}


@pytest.fixture(scope="module")
def kept_open() -> Iterator[None]:
    """All networks, so that they are opened once for all tests: those of a process share them."""
    try:
        opened = [PPOcr(effort=effort) for effort in EFFORTS]
    except MissingModel as exc:
        pytest.skip(str(exc))
    if any(ocr.missing for ocr in opened):
        pytest.skip(opened[0].missing)
    yield
    for ocr in opened:
        ocr.close()


@pytest.fixture
def ran(kept_open: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the networks that ran, one for each call."""
    names: list[str] = []
    run = Network.__call__

    def told(network: Network, batch: Any) -> Any:
        names.append(network.name)
        return run(network, batch)

    monkeypatch.setattr(Network, "__call__", told)
    return names


def read(effort: Effort, pixels: NDArray[np.uint8]) -> list[str]:
    reader = PageReader(("en",), effort=effort)
    try:
        lines = reader.find(pixels)
        return [line.text for line in reader.read(pixels, lines, reader.script(pixels, lines))]
    finally:
        reader.close()


def test_best_reads_a_made_page_as_before_and_asks_no_quick_network(ran: list[str]) -> None:
    assert read("best", page(SENTENCES[:3])) == list(SENTENCES[:3])
    assert SMALL <= set(ran) <= SMALL | {"hangul.onnx"}  # a second opinion on lines that are not all sure


@pytest.mark.parametrize(("effort", "finder"), [("fast", "small-int8"), ("balanced", "small")])
def test_a_clear_page_is_read_by_the_quick_recogniser_alone(
    ran: list[str], effort: Effort, finder: str
) -> None:
    assert read(effort, page(SENTENCES[:2])) == list(SENTENCES[:2])
    assert set(ran) == {f"ppocrv6-det-{finder}", "ppocrv6-rec-tiny"}


def test_only_what_is_coarse_is_read_with_care(ran: list[str]) -> None:
    pixels = page(SENTENCES[:4])
    height, width = 130, pixels.shape[1]
    coarse = cv2.resize(pixels[:height], (width // 6, height // 6), interpolation=cv2.INTER_AREA)
    pixels[:height] = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)
    said = read("balanced", pixels)
    assert said[0].startswith("The penstock carries water down to the turbin")
    assert said[1:] == list(SENTENCES[1:4])
    assert ran.count("ppocrv6-rec-small") == 1


def test_best_asks_the_second_reader_of_coarse_lines(ran: list[str]) -> None:
    pixels = page(SENTENCES[:2])
    height, width = pixels.shape[:2]
    coarse = cv2.resize(pixels, (width // 6, height // 6), interpolation=cv2.INTER_AREA)
    read("best", cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR))
    assert ran.count("hangul.onnx") >= 1


def test_the_detector_in_whole_numbers_finds_the_lines_that_the_other_finds() -> None:
    pixels = page(SENTENCES)
    careful, whole = PPOcr(effort="best"), PPOcr(effort="fast")
    found, again = careful.find_lines(pixels), whole.find_lines(pixels)
    careful.close()
    whole.close()
    assert len(found) == len(again) == len(SENTENCES)
    for one, other in zip(found, again, strict=True):
        assert np.allclose(one.box, other.box, atol=0.2 * one.height)


def test_no_effort_names_weights_that_do_not_exist() -> None:
    assert EFFORTS == ("fast", "balanced", "best")
    for settings in EFFORT_SETTINGS.values():
        assert settings.finder in weights.MODELS or IN_PACKAGE[settings.finder].is_file()
        assert settings.quick is None or settings.quick in weights.MODELS
    assert EFFORT_SETTINGS["fast"].sure < EFFORT_SETTINGS["balanced"].sure


class Readings:
    """A recogniser that says what it is told, and remembers how many lines it was asked for."""

    def __init__(self, *readings: LineReading) -> None:
        self.readings, self.asked = readings, 0

    def read(self, cuts: list[NDArray[np.uint8]]) -> list[LineReading]:
        self.asked += len(cuts)
        return list(self.readings[: len(cuts)])

    def close(self) -> None:
        """Nothing is open."""


class InTurn(Readings):
    """Says one group of readings a call."""

    def __init__(self, *groups: Sequence[LineReading]) -> None:
        super().__init__()
        self.groups = iter(groups)

    def read(self, cuts: list[NDArray[np.uint8]]) -> list[LineReading]:
        self.readings = tuple(next(self.groups))
        assert len(self.readings) == len(cuts)
        return super().read(cuts)


def ocr_that_says(quick: Readings, careful: Readings) -> PPOcr:
    ocr = PPOcr.__new__(PPOcr)
    ocr.settings, ocr.missing = EFFORT_SETTINGS["balanced"], ""
    ocr._quick, ocr._careful = quick, careful  # type: ignore[assignment]
    return ocr


LINE = np.zeros((48, 96, 3), dtype=np.uint8)
SURE, UNSURE = LineReading("clear", 0.99, 0.0), LineReading("blurred", 0.9, 0.0)
RECEIPT = LineReading("GST ID：002017394688", 0.984, 0.0)  # of "GST ID : 002017394688"
POLISH = LineReading("Rząd przyjat", 0.97, 0.0)  # tiny's own reading of "Rząd przyjął", and how sure it was
JOINED = LineReading("3May", 0.99, 0.0)  # of the sample's "3 May"
AGAIN = LineReading("read with care", 0.99, 0.0)


def test_accents_and_marks_that_the_quick_network_mistakes_are_read_with_care() -> None:
    quick, careful = Readings(SURE, UNSURE, POLISH, RECEIPT, JOINED), Readings(*[AGAIN] * 4)
    assert ocr_that_says(quick, careful).read_quickly([LINE] * 5) == [SURE, AGAIN, AGAIN, AGAIN, AGAIN]
    assert careful.asked == 4


def test_a_page_of_which_two_samples_are_unsure_is_read_with_care_at_once() -> None:
    ocr = ocr_that_says(Readings(), Readings())
    hopeless = LineReading("???", 0.7, 0.0)
    assert not ocr.is_unclear([SURE, SURE, SURE, hopeless])
    assert ocr.is_unclear([SURE, SURE, hopeless, hopeless])
    assert ocr.is_unclear([hopeless]) and not ocr.is_unclear([SURE])
    assert ocr.is_unclear([SURE, SURE, SURE, POLISH, POLISH])
    assert not ocr.is_unclear([])


def reader_that_says(quick: Readings, careful: Readings) -> PageReader:
    reader = PageReader.__new__(PageReader)
    reader.ocr, reader.reads_korean, reader._reads_foreign = ocr_that_says(quick, careful), False, False
    reader._languages = ("en",)
    return reader


def test_two_formulas_among_six_samples_make_no_careful_page_where_other_lines_are_clear() -> None:
    pixels = np.zeros((1200, 400, 3), dtype=np.uint8)
    lines = [LineBox((0, 20 * row, 400, 20 * row + 16)) for row in range(60)]
    two_unsure = (SURE, SURE, SURE, SURE, UNSURE, UNSURE)
    quick = Readings(*[SURE] * 6)
    assert reader_that_says(quick, Readings()).script(pixels, lines) == "other"
    assert quick.asked == 6  # clear at once

    clear, doubtful = InTurn(two_unsure, [SURE] * 10), InTurn(two_unsure, [*[SURE] * 7, *[UNSURE] * 3])
    assert reader_that_says(clear, Readings()).script(pixels, lines) == "other"
    assert reader_that_says(doubtful, Readings()).script(pixels, lines) == "unclear"


def test_lines_are_not_softened_where_nearly_all_of_them_are_doubtful() -> None:
    for doubtful, looks in ((3, 3), (8, 0)):  # of nine
        sure = LineReading("Subtotal 12.50", 0.99, 0.0)
        careful = Readings(*[LineReading("Subtotal 12.50", 0.9, 0.0)] * doubtful, *[sure] * (9 - doubtful))
        reader_that_says(Readings(), careful)._read_other([LINE] * 9, quickly=False)
        assert careful.asked == 9 + looks


def test_one_quick_look_tells_an_upright_page_and_care_turns_one_that_is_not(ran: list[str]) -> None:
    orienter = Orienter(effort="balanced")
    try:
        assert orienter.upright(page(SENTENCES[:3])) == 0
        assert set(ran) == TINY
        assert orienter.upright(np.ascontiguousarray(page(SENTENCES[:3])[::-1, ::-1])) == 180
    finally:
        orienter.close()


def test_without_the_quick_weights_all_is_read_with_care_and_the_lack_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_only(SMALL, tmp_path, monkeypatch)
    monkeypatch.setenv("PENSTOCK_OFFLINE", "1")
    ocr = PPOcr(effort="balanced")
    try:
        assert ocr.settings == EFFORT_SETTINGS["best"]
        assert "penstock models fetch" in ocr.missing
    finally:
        ocr.close()


def test_what_the_quick_network_is_sure_of_is_not_looked_at_twice() -> None:
    """A line between the effort's bound and the one for a second look would cost what it saved."""
    quick = Readings(LineReading("Subtotal 12.50", 0.965, 0.0))
    careful = Readings(AGAIN)
    reader = reader_that_says(quick, careful)
    assert [one.text for one in reader._read_other([LINE], quickly=True)] == ["Subtotal 12.50"]
    assert careful.asked == 0
    careful.readings = (LineReading("Subtotal 12.50", 0.965, 0.0),)
    reader._read_other([LINE], quickly=False)
    assert careful.asked == 2
