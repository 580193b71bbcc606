"""A few thousand cases each time; `make fuzz` goes on for an hour."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import uploads
from tests.fuzz.__main__ import run

pytestmark = pytest.mark.slow


def test_mutated_files_and_words_break_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_READER_MEMORY_MB", "")  # the run sets it: put it back afterwards
    found = run(15, 2026, None, tmp_path / "broken")
    assert not found.broken
    assert found.pages + found.failed >= found.file_cases > 0
    assert found.failed > found.pages > 0  # most mutations do harm, and not all
    assert all(found.text_cases.values())


def test_mutated_uploads_end_and_the_server_lives(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")
    found = uploads.run(100, 2026, None, tmp_path / "broken")
    assert not found.broken
    assert sum(found.statuses.values()) == 100
    assert found.jobs["done"]
    assert found.jobs["failed"]
