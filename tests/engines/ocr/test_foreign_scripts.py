"""Pages in scripts that PP-OCR does not know: told by a few lines, read by their network, turned upright."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.engines.ocr.orient import Orienter
from penstock.engines.ocr.reader import PageReader
from penstock.recipes.documents import documents
from tests.conftest import REPO
from tests.support.drawn import SENTENCES, page

SAMPLES = REPO / "tests" / "fixtures" / "scripts"
LINES: dict[str, str] = json.loads((SAMPLES / "lines.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    engine = PageReader(effort="balanced")
    yield engine
    engine.close()


def picture(script: str) -> NDArray[np.uint8]:
    grey = cv2.imread(str(SAMPLES / f"{script}.png"), cv2.IMREAD_GRAYSCALE)
    return np.repeat(np.asarray(grey, np.uint8)[:, :, None], 3, axis=2)


def sheet(lines: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """The pictures of lines below each other on white paper."""
    width = max(line.shape[1] for line in lines) + 120
    rows = [np.full((60, width, 3), 255, np.uint8)]
    for line in lines:
        row = np.full((len(line) + 30, width, 3), 255, np.uint8)
        row[: len(line), 60 : 60 + line.shape[1]] = line
        rows.append(row)
    return np.concatenate([*rows, rows[0]])


def read(engine: PageReader, pixels: NDArray[np.uint8]) -> tuple[str, list[tuple[str, str]]]:
    lines = engine.find(pixels)
    script = engine.script(pixels, lines)
    return script, [(line.text, line.reader) for line in engine.read(pixels, lines, script)]


@pytest.mark.parametrize("script", LINES)
def test_a_page_in_another_script_is_told_and_read(reader: PageReader, script: str) -> None:
    told, said = read(reader, sheet([picture(script)] * 4))
    assert told == "foreign"
    assert [(text.replace(" ", ""), by) for text, by in said] == [
        (LINES[script].replace(" ", ""), "scripts")
    ] * 4


def test_one_line_of_another_script_on_an_english_page_is_read() -> None:
    engine = PageReader(effort="best")
    line = picture("cyrillic")
    pixels = page(SENTENCES[:3])
    assert line.shape[1] <= pixels.shape[1]
    wider = np.full((len(line) + 40, pixels.shape[1], 3), 255, np.uint8)
    wider[: len(line), : line.shape[1]] = line
    told, said = read(engine, np.concatenate([pixels, wider]))
    engine.close()
    assert told != "foreign"
    assert [text for text, _ in said] == [*SENTENCES[:3], LINES["cyrillic"]]


def test_an_english_page_is_not_foreign(reader: PageReader) -> None:
    assert read(reader, page(SENTENCES[:3]))[0] == "other"


@pytest.mark.parametrize(("script", "effort"), [("cyrillic", "balanced"), ("arabic", "best")])
def test_a_page_in_another_script_is_turned_back(script: str, effort: str) -> None:
    orienter = Orienter(effort=effort)  # type: ignore[arg-type]
    upright = sheet([picture(script)] * 4)
    found = [orienter.upright(np.ascontiguousarray(np.rot90(upright, quarter))) for quarter in range(4)]
    orienter.close()
    assert found == [0, 90, 180, 270]


def test_their_languages_may_be_asked_for() -> None:
    assert any(getattr(stage, "lang", ()) == ("ru", "en") for stage in documents(lang=("ru", "en")).stages)
