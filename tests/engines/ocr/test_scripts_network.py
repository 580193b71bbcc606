"""Lines of Cyrillic, Greek, Arabic, Hebrew, Devanagari and Thai as our network reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from penstock.engines.ocr.hangul_network import Symbol
from penstock.engines.ocr.hangul_picture import SCRIPTS_HEIGHT, prepared
from penstock.engines.ocr.scripts_network import ScriptsNetwork, as_written, decoded
from tests.conftest import REPO

SAMPLES = REPO / "tests" / "fixtures" / "scripts"
LINES: dict[str, str] = json.loads((SAMPLES / "lines.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def network() -> Iterator[ScriptsNetwork]:
    opened = ScriptsNetwork()
    yield opened
    opened.close()


def _seen(text: str) -> list[Symbol]:
    """Symbols from left to right, ten pixels each."""
    found: list[Symbol] = []
    for at, sign in enumerate(text):
        if sign != " ":
            spaced = at > 0 and text[at - 1] == " "
            found.append(Symbol(sign, 10.0 * at, 10.0 * at + 10, 0.9, spaced))
    return found


def _text(symbols: list[Symbol]) -> str:
    return "".join(" " * symbol.spaced + symbol.text for symbol in symbols)


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("script", LINES)
def test_a_line_in_a_font_never_trained_on_is_read(
    network: ScriptsNetwork, script: str, inverse: bool
) -> None:
    grey = cv2.imread(str(SAMPLES / f"{script}.png"), cv2.IMREAD_GRAYSCALE)
    line = np.repeat(np.asarray(255 - grey if inverse else grey, np.uint8)[:, :, None], 3, axis=2)
    symbols = network.read_line(line)
    assert _text(symbols) == LINES[script]
    assert all(0.3 < symbol.confidence <= 1 and symbol.x0 <= symbol.x1 for symbol in symbols)


def test_what_it_knows_is_told(network: ScriptsNetwork) -> None:
    assert set("яіґΩώعپשकศ٣৭०№₪a?") - network.known == {"৭"}


def test_a_blank_picture_has_no_symbols(network: ScriptsNetwork) -> None:
    assert network.read_line(np.full((40, 200, 3), 250, np.uint8)) == []


def test_steps_become_signs() -> None:
    chances = np.array([[0.9, 0.1, 0], [0.2, 0.8, 0], [0.1, 0.9, 0], [0.4, 0, 0.6]], np.float32)
    found = decoded(chances, "ab")
    assert [(sign, step) for sign, step, _ in found] == [("a", 2), ("b", 3)]


def test_right_to_left_symbols_go_out_as_written_and_keep_their_places() -> None:
    symbols = as_written(_seen("(12 םולש) בא"))
    assert _text(symbols) == "אב (שלום 12)"
    assert symbols[0].x0 == 110.0 and not symbols[0].spaced
    assert symbols[-1].text == ")" and symbols[-1].x0 == 0.0


def test_left_to_right_symbols_stay() -> None:
    seen = _seen("да 12 нет")
    assert as_written(seen) == seen


def test_one_small_mark_above_a_long_line_is_kept() -> None:
    grey = np.full((60, 900), 255, np.uint8)
    grey[20:52, 10:890:3] = 0
    grey[8:13, 400:408] = 0
    kept, cut = (prepared(grey, SCRIPTS_HEIGHT, small_marks) for small_marks in (True, False))
    assert len(kept.ink) == len(cut.ink) == SCRIPTS_HEIGHT
    assert kept.scale < cut.scale
