"""Formula regions get LaTeX where weights are named, and stay as they are where none are.

The weights know six signs (tools/formulas/make_fixture.py); the page is drawn here.
"""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from penstock.engines.formula.weights import formula_weights
from penstock.region import Region
from penstock.workers import builtin_readers
from penstock.workers.builtin_readers import Readers
from tests.conftest import REPO

WEIGHTS = REPO / "tests" / "fixtures" / "formula_weights.zip"
FORMULA = Region(label="display_formula", box=(40, 20, 100, 80), note="not read")


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
    assert (read.content, read.reader, read.note) == ("+", "formula", "")
    assert read.confidence is not None and read.confidence > 0.5


@pytest.mark.usefixtures("weights")
def test_a_formula_that_the_network_is_unsure_of_stays_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin_readers, "MIN_FORMULA_CONFIDENCE", 1.1)
    assert Readers(()).formula(page(), FORMULA) == FORMULA


def test_without_weights_nothing_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PENSTOCK_FORMULA_WEIGHTS", str(tmp_path))
    assert formula_weights() is None
    region = replace(FORMULA, note="kept")
    assert Readers(()).formula(page(), region) is region
