"""Formula regions get LaTeX where weights are named, and stay as they are where none are.

The weights know six signs (tools/formulas/make_fixture.py); the page is drawn here.
"""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import cv2
import numpy as np
import pytest

from penstock.engines.formula.decoding import compact
from penstock.engines.formula.weights import formula_weights
from penstock.engines.pdf.file import PdfFile
from penstock.workers import builtin_readers
from penstock.workers.builtin_readers import Readers
from tests.conftest import REPO

WEIGHTS = REPO / "tests" / "fixtures" / "formula_weights.zip"
SAMPLE = REPO / "src" / "penstock" / "sample"
FORMULA = (40.0, 20.0, 100.0, 80.0)


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with zipfile.ZipFile(WEIGHTS) as packed:
        packed.extractall(tmp_path)
    monkeypatch.setenv("PENSTOCK_FORMULA_WEIGHTS", str(tmp_path))


def page() -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    pixels = np.full((120, 200, 3), 240, np.uint8)
    cv2.line(pixels, (50, 45), (60, 45), (0, 0, 0), 2)  # a plus sign
    cv2.line(pixels, (55, 40), (55, 50), (0, 0, 0), 2)
    return pixels


@pytest.mark.usefixtures("weights")
def test_a_formula_is_read_where_weights_are_named() -> None:
    readers = Readers(())
    read = readers.formula(page(), FORMULA)
    readers.close()
    assert read is not None and read[0] == "+" and read[1] > 0.5


@pytest.mark.usefixtures("weights")
def test_a_formula_that_the_network_is_unsure_of_stays_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin_readers, "MIN_FORMULA_CONFIDENCE", 1.1)
    assert Readers(()).formula(page(), FORMULA) is None


def test_without_weights_nothing_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PENSTOCK_FORMULA_WEIGHTS", str(tmp_path))
    assert formula_weights() is None
    assert Readers(()).formula(page(), FORMULA) is None


def test_the_packages_own_weights_read_the_samples_formula_from_its_picture() -> None:
    """The sample is set in fonts that the network was not trained on."""
    pages = json.loads((SAMPLE / "sample.json").read_text(encoding="utf-8"))["pages"]
    [truth] = [
        block["latex"] for page in pages for block in page["blocks"] if block["label"] == "display_formula"
    ]
    with PdfFile(str(SAMPLE / "sample.pdf")) as file:
        pixels = file.render(2, file.size(2, dpi=200, max_side=5000))
    box = tuple(point * 200 / 72 for point in (70, 265, 195, 315))
    read = Readers(()).formula(pixels, box)  # type: ignore[arg-type]
    assert read is not None
    assert re.sub(r"[\s{}]", "", read[0]) == re.sub(r"[\s{}]", "", truth)


@pytest.mark.parametrize(
    ("tokens", "written"),
    [
        (r"\frac { 1 2 } { x ^ { 2 } }", r"\frac{12}{x^{2}}"),
        (r"\mathrm { r a t e } = 4 2 . 1 1 8 , y _ { i }", r"\mathrm{rate} = 42.118, y_{i}"),
        (r"\left( a \right) ^ { 2 } \alpha b", r"\left( a \right)^{2} \alpha b"),
        (r"a . 5 . b 1 . \ldots", r"a . 5 . b 1 . \ldots"),
    ],
)
def test_latex_is_written_as_people_write_it(tokens: str, written: str) -> None:
    assert compact(tokens) == written
