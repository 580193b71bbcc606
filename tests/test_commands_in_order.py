"""The main commands in order, as a newcomer types them. `make test-lowest` runs them with old packages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from penstock.engines.pdf.file import PdfFile
from tests.conftest import REPO

pytestmark = pytest.mark.slow

SAMPLE = REPO / "src" / "penstock" / "sample" / "sample.pdf"
EXPORTS = "md,md-joined,jsonl,docjson,docling,content_list,html,chunks,searchable-pdf,overlays"


def penstock(*words: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "penstock", *map(str, words)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"{words}: {done.stderr[-600:]}"
    return done.stdout


def test_documents_from_reading_to_search(tmp_path: Path) -> None:
    out, scan = tmp_path / "out", tmp_path / "scan.png"
    with PdfFile(str(SAMPLE)) as file:
        Image.fromarray(file.render(0, file.size(0, dpi=150, max_side=3000))).save(scan)
    penstock("parse", SAMPLE, scan, "-o", out, "-q")
    penstock("export", out, "--to", EXPORTS)
    penstock("embed", out, "-q")
    penstock("index", out)
    hits = json.loads(penstock("search", out, "water", "--json"))
    assert hits["hits"] if isinstance(hits, dict) else hits
    penstock("check", out)


def test_photos_are_measured_and_measured_again(tmp_path: Path) -> None:
    room = Image.new("RGB", (320, 320), (200, 200, 190))
    ImageDraw.Draw(room).rectangle((60, 80, 220, 220), fill=(120, 70, 40))
    room.save(tmp_path / "room.jpg")
    words = ("volumes", tmp_path / "room.jpg", "-o", tmp_path / "out", "--box", "40,60,200,180:chair", "-q")
    penstock(*words)
    penstock(*words)
    [thing] = [json.loads(line) for line in (tmp_path / "out" / "objects.jsonl").read_text().splitlines()]
    assert thing["label"] == "chair"


def test_the_machine_is_looked_at() -> None:
    assert "penstock" in penstock("doctor").lower()
