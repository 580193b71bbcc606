"""Where memory runs out the kernel ends processes: it costs the page that asked for it, which says why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from penstock.testing import FAKE
from tests.conftest import REPO
from tests.support.bombs import flated_pdf
from tests.support.made_pdf import pdf
from tests.support.memory_group import ends, memory_group

pytestmark = pytest.mark.slow

LIMIT_MB = 700  # the command, its readers and the fake models have 300 of them
# into the group before it starts, so that all that it starts is in it too
RUN = "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid())); os.execv(sys.argv[2], sys.argv[2:])"


def parsed_within(folder: Path, out: Path, group: Path) -> subprocess.CompletedProcess[str]:
    words = ["-m", "penstock", "parse", str(folder), "-o", str(out), "--recipe", FAKE]
    # its own bound is larger than the group: only the kernel can end it
    env = {**os.environ, "PENSTOCK_READER_MEMORY_MB": "4000"}
    return subprocess.run(
        [sys.executable, "-c", RUN, str(group), sys.executable, *words],
        env=env, cwd=REPO, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_a_page_that_takes_all_memory_fails_alone_and_says_so(tmp_path: Path) -> None:
    scans = tmp_path / "scans"
    scans.mkdir()
    (scans / "bomb.pdf").write_bytes(flated_pdf(2000, filters=1))
    (scans / "good.pdf").write_bytes(pdf(["good", "also good"]))
    Image.new("RGB", (40, 30)).save(scans / "good.png")
    with memory_group(LIMIT_MB) as group:
        done = parsed_within(scans, tmp_path / "out", group)
        assert ends(group) > 0
    assert done.returncode == 1, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "out" / "ocr_results.jsonl").read_text().splitlines()]
    assert len([row for row in rows if row["regions"]]) == 3
    [told] = [line for line in done.stderr.splitlines() if line.startswith("failed:")]
    assert "bomb.pdf" in told
    assert "when memory runs out" in told
