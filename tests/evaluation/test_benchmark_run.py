"""A benchmark's data set is fetched, a recipe reads its pictures, and the pages are scored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from typer.testing import CliRunner

from penstock.errors import UsageError
from penstock.page import Page
from penstock.plan import Plan
from penstock.stage import Stage, Worker
from penstock.testing import FAKE
from penstock.testing.fake_server import FakeServer, serving
from penstock_eval import benchmark_run
from penstock_eval.benchmark_run import data_folder, predict
from penstock_eval.benchmarks import open_benchmark
from penstock_eval.benchmarks.base import Sample
from penstock_eval.cli import app
from tests.support.hub_server import Hub
from tests.support.waiting import wait_until

TEXTS = ("first line", "second line", "third line")


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """The shape in which the Hub holds IAM's lines."""
    folder = tmp_path / "iam"
    (folder / "data").mkdir(parents=True)
    images = [{"bytes": b"a picture", "path": f"{n}.png"} for n in range(len(TEXTS))]
    table = pa.table({"image": images, "text": list(TEXTS)})
    parquet.write_table(table, folder / "data" / "test-00000.parquet", row_group_size=2)
    (folder / "data" / "train-00000.parquet").write_bytes(b"not asked for")
    return folder


def test_predictions_of_one_recipe_are_not_scored_as_anothers(tmp_path: Path) -> None:
    samples = [Sample("a", "truth"), Sample("b", "truth")]
    with pytest.raises(UsageError, match="no recipe 'nope'"):
        predict(samples, tmp_path, "nope")
    with pytest.raises(UsageError, match="no picture"):
        predict(samples, tmp_path, "documents")
    for sample in samples:
        (tmp_path / "predictions" / f"{sample.id}.md").write_text("read")
    assert predict(samples, tmp_path, "documents").texts == {"a": "read", "b": "read"}
    assert predict(samples[:1], tmp_path, "documents").warnings == ()
    with pytest.raises(UsageError, match="recipe 'documents' read"):
        predict(samples, tmp_path, FAKE)


@dataclass(frozen=True, kw_only=True)
class Patient(Stage):
    """Reads the document `last` only when the file `first` is there."""

    name: ClassVar[str] = "patient"
    reads: ClassVar[tuple[str, ...]] = ("document",)
    writes: ClassVar[tuple[str, ...]] = ("markdown",)
    last: str
    first: str

    def open(self) -> _PatientReader:
        return _PatientReader(self)


class _PatientReader(Worker[Page]):
    def __init__(self, stage: Patient) -> None:
        self._stage = stage

    def __call__(self, items: list[Page]) -> list[Page]:
        [page] = items
        if page.document == self._stage.last:
            wait_until(Path(self._stage.first).exists)
        return [replace(page, markdown=f"{page.document} {page.part}")]


def test_a_prediction_is_written_when_its_last_page_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.pdf", "b.pdf"):
        (tmp_path / name).write_bytes((resources.files("penstock") / "sample/sample.pdf").read_bytes())
    samples = [Sample(name, "", str(tmp_path / f"{name}.pdf")) for name in ("a", "b")]
    plan = Plan(Patient(last="b.pdf", first=str(tmp_path / "predictions/a.md")))
    monkeypatch.setattr(benchmark_run, "build", lambda recipe, options: plan)
    told: list[int] = []
    texts = predict(samples, tmp_path, progress=lambda done, total: told.append(done)).texts
    assert texts["b"] == "\n\n".join(f"b.pdf {page}" for page in range(4))
    assert told == [1, 2]


def test_a_served_model_is_run_and_scored(tmp_path: Path) -> None:
    (tmp_path / "page.pdf").write_bytes((resources.files("penstock") / "sample/sample.pdf").read_bytes())
    (tmp_path / "page.txt").write_text("the same words")
    with serving(FakeServer(says=lambda asked: "the same words")) as url:
        command = [
            "run",
            "pages",
            "--data",
            str(tmp_path),
            "-o",
            str(tmp_path / "out"),
            "--workers",
            "0",
            "--json",
        ]
        recipe = ["--recipe", "grounded", "--server", url, "--model", "fake"]
        done = CliRunner().invoke(app, [*command, *recipe], catch_exceptions=False)
    assert json.loads(done.stdout)["scores"]["word_recall"]["mean"] == 1.0
    assert "the same words" in (tmp_path / "out/predictions/page.md").read_text()


def test_a_data_set_comes_from_the_hub_once_and_only_what_is_needed(lines: Path, tmp_path: Path) -> None:
    given = tmp_path / "given.json"
    given.write_text(json.dumps({f"{n:06d}": text for n, text in enumerate(TEXTS)}))
    with Hub() as hub:
        hub.add("Teklia/IAM-line", lines)
        own = {
            "HF_ENDPOINT": hub.url,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HOME": str(tmp_path / "home"),
            "PENSTOCK_CACHE": str(tmp_path / "cache"),
        }
        command = [sys.executable, "-m", "penstock", "eval", "score", "handwritten", str(given), "--json"]
        for _ in range(2):
            done = subprocess.run(
                command, env={**os.environ, **own}, capture_output=True, text=True, timeout=300
            )
            assert done.returncode == 0, done.stderr
        fetched = [line for line in hub.asked if line.startswith("GET") and "/resolve/" in line]
    assert json.loads(done.stdout)["scores"]["cer"]["mean"] == 0.0
    assert len(fetched) == 1
    assert (tmp_path / "cache" / "datasets" / "handwritten" / "data" / "test-00000.parquet").is_file()
    assert not (tmp_path / "cache" / "datasets" / "handwritten" / "data" / "train-00000.parquet").exists()


def test_a_benchmark_without_a_home_asks_for_its_folder() -> None:
    with pytest.raises(UsageError, match="is not on the Hub"):
        data_folder(open_benchmark("teds-test"), None)


def test_a_data_set_that_is_given_is_not_looked_for(tmp_path: Path) -> None:
    assert data_folder(open_benchmark("omnidocbench"), tmp_path) == tmp_path
