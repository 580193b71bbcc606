"""The same documents give the same bytes: whatever their order, and on however many cores.

Of a run, times and places differ (run.json, profile, which rows lie in which shard); nothing that was read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

import penstock
from tests.conftest import REPO, SAMPLE

DATA = Path(os.environ.get("PENSTOCK_DATA") or REPO.parent / "shared" / "data")
FORMATS = (
    "md",
    "md-joined",
    "jsonl",
    "docjson",
    "docling",
    "html",
    "chunks",
    "content_list",
    "searchable-pdf",
)
OF_A_RUN = (".penstock", "items", "failures", "run.json", "profile.html", "profile.json")
SOURCES = ("degraded_korean", "receipts_de", "camelot_tables", "rendered_multilang", "zugferd_invoices")
MAX_BYTES = 1 << 17
pytestmark = pytest.mark.slow  # models read some pages twice


def corpus() -> list[Path]:
    """Returns the sample, and a small document of each of several sources where there is test data."""
    small = [
        [
            file
            for file in sorted((DATA / "devset" / name).rglob("*"))
            if file.suffix in (".pdf", ".jpg", ".png")
        ]
        for name in SOURCES
    ]
    return [SAMPLE, *(min(files, key=lambda file: (file.stat().st_size, file)) for files in small if files)]


def read(inputs: Sequence[Path], out: Path, cores: int) -> dict[str, bytes | list[bytes]]:
    """Returns every file of the results; of one that has a line for each page, its lines in no order."""
    for _ in penstock.parse(list(inputs), out=out, pages="1-3", cores=cores):
        pass
    penstock.export(out, FORMATS)
    files = [path for path in sorted(out.rglob("*")) if path.is_file()]
    names = {path.relative_to(out).as_posix(): path for path in files}
    return {
        name: sorted(path.read_bytes().splitlines()) if path.suffix == ".jsonl" else path.read_bytes()
        for name, path in names.items()
        if not name.startswith(OF_A_RUN)
    }


def test_order_and_number_of_cores_change_no_byte(tmp_path: Path) -> None:
    inputs = corpus()
    first = read(inputs, tmp_path / "first", cores=1)
    second = read(inputs[::-1], tmp_path / "second", cores=2)
    assert {name.partition("/")[0] for name in first} >= {"markdown", "docjson", "docling", "html", "crops"}
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_a_photo_is_measured_the_same(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="needs penstock-pipeline[photos]")
    photo = REPO / "tests" / "fixtures" / "sofa.jpg"
    [[first], [second]] = (
        list(penstock.volumes(photo, out=tmp_path / name, labels=("sofa",))) for name in ("first", "second")
    )
    assert first == second
