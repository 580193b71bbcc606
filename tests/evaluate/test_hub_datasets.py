"""Data sets from the Hub and pictures inside Parquet, against a small hub on this machine."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from PIL import Image

from penstock.errors import BadInput, UsageError
from penstock.evaluate.benchmarks import open_benchmark
from penstock.evaluate.benchmarks.files import embedded_picture, rows
from penstock.evaluate.datasets import folder_for, with_pictures
from tests.support.hub_server import Hub

TEXTS = ("first line", "second line", "third line")


def picture(shade: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (20, 10), (shade, shade, shade)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """The shape in which the Hub holds IAM's lines."""
    folder = tmp_path / "iam"
    (folder / "data").mkdir(parents=True)
    images = [{"bytes": picture(n), "path": f"{n}.png"} for n in range(len(TEXTS))]
    table = pa.table({"image": images, "text": list(TEXTS)})
    parquet.write_table(table, folder / "data" / "test-00000.parquet", row_group_size=2)
    (folder / "data" / "train-00000.parquet").write_bytes(b"not asked for")
    return folder


def test_pictures_inside_parquet_are_written_out_once(lines: Path, tmp_path: Path) -> None:
    (lines / "data" / "train-00000.parquet").unlink()
    samples = open_benchmark("handwritten").samples(lines)
    assert [sample.truth for sample in samples] == list(TEXTS)
    made = with_pictures(samples, tmp_path / "pictures")
    assert [Path(sample.image).read_bytes() for sample in made] == [picture(n) for n in range(3)]
    before = Path(made[0].image).stat().st_mtime_ns
    with_pictures(samples, tmp_path / "pictures")
    assert Path(made[0].image).stat().st_mtime_ns == before


def test_a_row_without_a_picture_is_a_sentence(lines: Path) -> None:
    (lines / "data" / "train-00000.parquet").unlink()
    row = next(rows(lines, "*.parquet"))
    with pytest.raises(BadInput, match="holds no picture"):
        embedded_picture(row["picture"].replace("::0", "::9"))


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
                command, env={**os.environ, **own}, capture_output=True, text=True, timeout=100
            )
            assert done.returncode == 0, done.stderr
        fetched = [line for line in hub.asked if line.startswith("GET") and "/resolve/" in line]
    assert json.loads(done.stdout)["scores"]["cer"]["mean"] == 0.0
    assert len(fetched) == 1
    assert (tmp_path / "cache" / "datasets" / "handwritten" / "data" / "test-00000.parquet").is_file()
    assert not (tmp_path / "cache" / "datasets" / "handwritten" / "data" / "train-00000.parquet").exists()


def test_a_benchmark_without_a_home_asks_for_its_folder() -> None:
    with pytest.raises(UsageError, match="has no home on the Hub"):
        folder_for(open_benchmark("teds-test"), None)


def test_a_data_set_that_is_given_is_not_looked_for(tmp_path: Path) -> None:
    assert folder_for(open_benchmark("omnidocbench"), tmp_path) == tmp_path


def test_dp_bench_reads_the_published_reference(shared_data: Path, tmp_path: Path) -> None:
    (tmp_path / "dataset").mkdir()
    source = shared_data / "dpbench" / "ground-truth" / "reference.json"
    (tmp_path / "dataset" / "reference.json").write_bytes(source.read_bytes())
    bench = open_benchmark("dpbench")
    published = {sample.id: sample for sample in bench.samples(tmp_path)}
    markdown = bench.samples(shared_data / "dpbench")
    assert len(published) == len(markdown) == 200
    alike = [bench.score(published[s.id], s.truth).values.get("nid", 1.0) for s in markdown[:20]]
    assert sum(alike) / len(alike) > 0.98


def test_ocrbench_rows_of_the_hub_are_questions_too(tmp_path: Path) -> None:
    image = {"bytes": picture(1), "path": "1.png"}
    row = {"dataset": ["IIIT5K"], "question": ["what?"], "question_type": ["Regular Text Recognition"]}
    table = pa.table({**row, "answer": [["CENTRE"]], "image": [image]})
    parquet.write_table(table, tmp_path / "test.parquet")
    bench = open_benchmark("ocrbench")
    (sample,) = bench.samples(tmp_path)
    assert "Text" in sample.slices
    assert bench.score(sample, "It says centre.").values == {"accuracy": 1.0}
    assert embedded_picture(sample.image) == picture(1)
