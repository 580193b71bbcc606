"""Whatever file call fails, wherever the process dies or the power goes: a rerun completes OUT."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.store.out import Out
from tests.faults import armed, power_loss, small_run, sweep

# 410 runs, a minute of CPU; it waits for nothing
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return armed.built(tmp_path_factory.mktemp("library"))


@pytest.fixture
def quick_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: some thousand files are synced, and no power is cut."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


def test_each_file_call_may_fail_or_be_the_last(library: Path, quick_disk: Path) -> None:
    cases = [json.loads(line) for line in armed.run_under(library, "tests.faults.sweep", str(quick_disk))]
    assert len(cases) > 390  # of 113 calls
    assert not [case for case in cases if case["mended"] != sweep.WELL]
    ended = {sweep.WELL, sweep.TOLD, armed.DIED}
    assert not [case for case in cases if case["ended"] not in ended], "a traceback instead of a sentence"
    counts = Counter((case["fault"], case["ended"]) for case in cases)
    assert counts["died", armed.DIED] > 100
    assert counts["short write", sweep.TOLD] == 0  # the rest is written by the next call
    full = [case["said"] for case in cases if case["fault"] == "ENOSPC" and case["ended"] == sweep.TOLD]
    assert sum("the disk is full" in said for said in full) > 0.9 * len(full)


def test_the_power_may_go_at_any_time(library: Path, tmp_path: Path) -> None:
    before, record = tmp_path / "before", tmp_path / "record"
    before.mkdir()
    armed.run_under(library, "tests.faults.recorded", str(before), str(record))
    expected = small_run.rows(before / "out")
    disk, tried = power_loss.Disk(), 0
    checked: set[int] = set()
    for number, call in enumerate(power_loss.read_record(record)):
        disk.apply(call)
        for kind, files in disk.after_power_cut().items():
            key = hash((disk.noted, frozenset((name, data) for name, data in files.items())))
            if key in checked:
                continue
            checked.add(key)
            after = tmp_path / f"after{number}{kind[:4]}"
            power_loss.written(files, before, after)
            is_whole_after(after / "out", disk.noted, expected, f"call {number} ({call.op}), {kind}")
            tried += 1
    assert disk.noted == small_run.NUM_PAGES
    assert tried > 50


def is_whole_after(out: Path, committed: int, expected: list[tuple[object, ...]], where: str) -> None:
    """What was committed is there, and the next run brings the rest."""
    found = Out(out).entries()
    assert len(found) >= committed, f"{where}: {len(found)} rows of {committed} that were committed"
    small_run.run(out)
    assert small_run.rows(out) == expected, where
