"""A few thousand cases each time; `make fuzz` goes on for an hour."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import uploads

pytestmark = pytest.mark.slow


def test_mutated_files_and_words_break_nothing(tmp_path: Path) -> None:
    """In a process of its own: a child's most memory includes its parent's when it was forked."""
    command = [sys.executable, "-m", "tests.fuzz", "--seconds", "15", "--seed", "2026"]
    done = subprocess.run(
        [*command, "--keep", str(tmp_path)], stdout=subprocess.PIPE, text=True, timeout=240, check=False
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, found["broken"]) == (0, 0), done.stdout
    assert found["pages"] + found["failed"] >= found["files"] > 0
    assert found["failed"] > found["pages"] > 0  # most mutations do harm, and not all
    assert all(found["texts"].values())


def test_mutated_uploads_end_and_the_server_lives(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")
    found = uploads.run(100, 2026, None, tmp_path / "broken")
    assert not found.broken
    assert sum(found.statuses.values()) == 100
    assert found.jobs["done"]
    assert found.jobs["failed"]
