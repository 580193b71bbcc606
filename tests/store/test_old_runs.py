"""A run that version 0.1.0 wrote before items had types of their own is read, exported and resumed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app
from penstock.errors import PlanMismatch
from penstock.exports.enrichments import BLOCKS, FOLDER
from penstock.store.ledger import Ledger
from penstock.store.out import Out
from tests.conftest import REPO

KEPT = REPO / "tests" / "fixtures" / "run_0_1"
MODIFIED = 1_700_000_000  # of the inputs; part of a page's id
MADE_IN = "/tmp/oldfix"  # the folder that held the inputs then
PARSE = ["parse", "in", "-o", "documents", "--pages", "3-4", "--layout", "rules", "--text-layer", "always"]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder as it was then: the runs beside the inputs."""
    shutil.copytree(KEPT, tmp_path, dirs_exist_ok=True)
    for file in (tmp_path / "in").iterdir():
        os.utime(file, (MODIFIED, MODIFIED))
    for order in tmp_path.glob("*/documents.jsonl"):
        order.write_text(order.read_text().replace(MADE_IN, str(tmp_path)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shards(out: Path) -> set[Path]:
    return {path.relative_to(out) for path in out.rglob("*.parquet")}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_pages_of_every_old_run_are_read(kept: Path) -> None:
    broken, *pages = penstock.read(kept / "documents")
    assert broken.failure is not None
    assert broken.failure.stage == "list"
    assert [(page.document, page.part, page.failure) for page in pages] == [
        ("report.pdf", 2, None),
        ("report.pdf", 3, None),
    ]
    assert all(page.markdown and page.regions for page in pages)
    grounded = list(penstock.read(kept / "grounded"))
    assert [len(page.attempts) for page in grounded] == [1, 1]
    assert all(page.raw_answer for page in grounded)
    [photo] = Out(kept / "photos").read_photos()
    assert [(thing.label, thing.failure) for thing in photo.objects] == [("sofa", None)]
    assert photo.objects[0].bbox_cbm


@pytest.mark.parametrize("name", ["documents", "grounded", "photos"])
def test_every_old_run_is_exported(kept: Path, name: str) -> None:
    out = kept / name
    written = penstock.export(out, ["md", "jsonl", "docjson"])
    assert {path.suffix for path in written} == {".md", ".jsonl", ".json"}
    assert len(lines(out / "ocr_results.jsonl")) == len(Out(out).entries())


def test_sizes_found_in_another_way_are_not_mixed_into_an_old_run(kept: Path) -> None:
    with pytest.raises(PlanMismatch, match="sizing"):
        list(penstock.volumes("in/sofa.jpg", out="photos", boxes=["90,80,140,140:sofa"]))


def test_objects_of_an_old_photo_are_exported(kept: Path) -> None:
    [file] = penstock.export(kept / "photos", ["objects"])
    [thing] = lines(file)
    assert thing["label"] == "sofa"


def test_attempts_of_an_old_grounded_page_are_no_region(kept: Path) -> None:
    penstock.export(kept / "grounded", ["jsonl", "docjson"])
    rows = lines(kept / "grounded" / "ocr_results.jsonl")
    assert {region["reader"] for row in rows for region in row["regions"]} == {"deepseek-ocr"}
    document = json.loads((kept / "grounded" / "docjson" / "report.json").read_text())
    assert [[attempt["way"] for attempt in page["attempts"]] for page in document["pages"]] == [["page"]] * 2
    assert all((kept / "grounded" / page["raw_output_path"]).is_file() for page in document["pages"])


def test_an_old_run_resumes_and_reads_no_page_again(kept: Path) -> None:
    before = shards(kept / "documents")
    result = CliRunner().invoke(app, PARSE)
    assert result.exit_code == 1, result.output  # the failed page of then is still failed
    assert "3 done before" in result.output
    assert shards(kept / "documents") == before
    again = penstock.parse("in", out="documents", pages="3-4", layout="rules", text_layer="always")
    assert [page.resumed for page in again] == [True] * 3


def test_an_old_run_of_other_options_is_refused_with_what_differs(kept: Path) -> None:
    with pytest.raises(PlanMismatch) as caught:
        list(penstock.parse("in", out="documents", pages="3-4", layout="rules", dpi=100))
    told = str(caught.value).splitlines()
    # what was only called otherwise then is no difference
    assert told[1:3] == ["  load.dpi: 200 -> 100", "  recognise.text_layer: always -> auto"]
    assert "--fresh" in caught.value.advice


def test_old_enrichments_are_read_and_not_made_again(kept: Path) -> None:
    folder = kept / "documents" / FOLDER
    ledger = Ledger(folder, BLOCKS)
    blocks = [ledger.item(entry) for entry in ledger.entries().values()]
    assert len(blocks) == 2
    assert all(block.enrichment is not None and block.enrichment.summary for block in blocks)
    before = shards(folder)
    result = CliRunner().invoke(app, ["enrich", "documents"])
    assert result.exit_code == 0, result.output
    assert shards(folder) == before
    penstock.export(kept / "documents", ["docjson"])
    document = json.loads((kept / "documents" / "docjson" / "report.json").read_text())
    assert sum("enrichment" in block for block in document["blocks"]) == 2
