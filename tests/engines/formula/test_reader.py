"""The formula reader on very small weights that know six signs; pictures are drawn here.

tools/formulas/make_fixture.py made the weights.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.engines.formula.decoding import closes, repeats
from penstock.engines.formula.picture import MAX_HEIGHT, MAX_WIDTH, STEP, prepared
from penstock.engines.formula.reader import FormulaReader
from penstock.errors import EngineError, OpenError
from tests.conftest import REPO

WEIGHTS = REPO / "tests" / "fixtures" / "formula_weights.zip"
PAPER, INK = 235, 30


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("weights")
    with zipfile.ZipFile(WEIGHTS) as packed:
        packed.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def reader(weights: Path) -> Iterator[FormulaReader]:
    opened = FormulaReader(weights)
    yield opened
    opened.close()


def paper(height: int = 60, width: int = 60) -> NDArray[np.uint8]:
    return np.full((height, width, 3), PAPER, np.uint8)


def plus(picture: NDArray[np.uint8], x: int, y: int) -> None:
    cv2.line(picture, (x, y + 5), (x + 10, y + 5), (INK,) * 3, 2)
    cv2.line(picture, (x + 5, y), (x + 5, y + 10), (INK,) * 3, 2)


def equals(picture: NDArray[np.uint8], x: int, y: int) -> None:
    cv2.line(picture, (x, y + 3), (x + 10, y + 3), (INK,) * 3, 2)
    cv2.line(picture, (x, y + 7), (x + 10, y + 7), (INK,) * 3, 2)


def test_signs_are_read_in_order(reader: FormulaReader) -> None:
    picture = paper()
    plus(picture, 10, 20)
    equals(picture, 30, 20)
    latex, confidence = reader.read_formula(picture)
    assert latex == "+ ="
    assert 0.5 < confidence <= 1


def test_a_fraction_has_its_braces(reader: FormulaReader) -> None:
    picture = paper()
    equals(picture, 14, 10)
    cv2.line(picture, (10, 26), (28, 26), (INK,) * 3, 1)
    plus(picture, 14, 32)
    assert reader.read_formula(picture)[0] == r"\frac { = } { + }"


def test_white_ink_on_black_paper_reads_the_same(reader: FormulaReader) -> None:
    picture = paper()
    plus(picture, 10, 20)
    assert reader.read_formula(255 - picture)[0] == reader.read_formula(picture)[0] == "+"


def test_an_empty_picture_is_an_error_of_its_own(reader: FormulaReader) -> None:
    with pytest.raises(EngineError, match="0 x 4"):
        reader.read_formula(np.zeros((4, 0, 3), np.uint8))


def test_a_closed_reader_says_so(weights: Path) -> None:
    reader = FormulaReader(weights)
    reader.close()
    with pytest.raises(EngineError, match="closed"):
        reader.read_formula(paper())


def test_a_folder_without_weights_says_what_to_give(weights: Path, tmp_path: Path) -> None:
    with pytest.raises(OpenError, match=r"tokens\.json"):
        FormulaReader(tmp_path)
    shutil.copy(weights / "tokens.json", tmp_path)
    (tmp_path / "encoder.onnx").write_bytes(b"no model")
    with pytest.raises(OpenError, match=r"encoder\.onnx"):
        FormulaReader(tmp_path)


@pytest.mark.parametrize("shape", [(10, 10), (3000, 40), (50, 4000), (700, 700), (1, 1)])
def test_prepared_pictures_fit_the_network(shape: tuple[int, int]) -> None:
    picture = np.full(shape, PAPER, np.uint8)
    picture[shape[0] // 3 : shape[0] // 2 + 1, : shape[1]] = INK
    height, width = prepared(picture).shape[2:]
    assert height % STEP == width % STEP == 0
    assert 0 < height <= MAX_HEIGHT and 0 < width <= MAX_WIDTH


def test_ink_is_one_and_paper_is_nothing() -> None:
    picture = paper()
    plus(picture, 20, 20)
    levels = prepared(picture)
    assert levels.max() == 1.0 and np.median(levels) == 0.0


def test_a_decoder_that_runs_in_circles_is_noticed() -> None:
    assert repeats([7, 8, 9] + [4, 5] * 30) == 58
    assert repeats(list(range(60))) == 0
    assert repeats([1, 2, 3] * 4) == 0  # a matrix of a few equal rows


@pytest.mark.parametrize(
    ("latex", "whole"),
    [
        (r"\frac { a } { b }", True),
        (r"\left( \frac { a } { b } \right)", True),
        (r"\begin{cases} a \\ b \end{cases}", True),
        (r"a \leftarrow b \rightarrow c", True),
        (r"\frac { a } {", False),
        (r"\left( { a \right) }", False),
        (r"\begin{cases} a \end{matrix}", False),
    ],
)
def test_braces_fences_and_environments_close(latex: str, whole: bool) -> None:
    assert closes(latex.split()) is whole
