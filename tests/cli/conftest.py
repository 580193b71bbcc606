"""A folder to read."""

from __future__ import annotations

from pathlib import Path

import pypdfium2 as pdfium
import pytest


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A folder with one good page, to which tests add broken ones."""
    folder = tmp_path / "in"
    folder.mkdir()
    document = pdfium.PdfDocument.new()
    document.new_page(100, 100)
    document.save(folder / "good.pdf")
    return folder
