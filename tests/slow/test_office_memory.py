"""A reader's memory does not grow with the sheets of a workbook or the chapters of a book."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.cpu import bench_office_memory

pytestmark = pytest.mark.slow
ALLOWED_KB = 8  # for each unit: its entry in the ZIP's list of parts, and its name


@pytest.mark.parametrize(("kind", "few", "many"), [("xlsx", 100, 1000), ("epub", 200, 2000)])
def test_memory_is_flat_over_units(tmp_path: Path, kind: str, few: int, many: int) -> None:
    made = bench_office_memory.workbook if kind == "xlsx" else bench_office_memory.book
    most = []
    for count in (few, many):
        path = tmp_path / f"{count}.{kind}"
        path.write_bytes(made(count))
        command = [sys.executable, bench_office_memory.__file__, "--read", str(path), kind]
        told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        assert told["units"] >= count
        most.append(told["most_mb"])
    assert most[1] - most[0] < ALLOWED_KB * (many - few) / 1024
