"""Fixtures all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real pages and ground truth, which is not part of the project."""
    folder = Path(os.environ.get("PENSTOCK_DATA", REPO.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}; set PENSTOCK_DATA to the folder that holds it")
    return folder
