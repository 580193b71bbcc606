"""Folders between processes: nothing of a killed run stays."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from penstock.processes.scratch import scratch_folder


def test_a_killed_process_leaves_nothing_once_the_next_one_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = (
        "import os; from penstock.processes.scratch import *;"
        "print(scratch_folder('x'), flush=True); os._exit(9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
    )
    left = Path(done.stdout.strip())
    assert left.parent == tmp_path, done
    (left / "cloud.npy").write_bytes(b"1")
    number = left.name.split("-")[2]  # of the process that is gone
    names = "of-a-user", f"{number}-notes", f"{number}-12345678"
    others = [tmp_path / f"penstock-x-{name}" for name in names]
    for folder in others:  # the last has the name of ours, but everybody may look in
        folder.mkdir()
    mine = scratch_folder("x")
    assert sorted(tmp_path.iterdir()) == sorted([mine, *others])
    assert scratch_folder("x") != mine and mine.is_dir()
