"""Files of public data sets: pictures inside Parquet, rows as the Hub publishes them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from PIL import Image

from penstock.errors import BadInput
from penstock_eval.benchmarks import open_benchmark
from penstock_eval.benchmarks.files import parquet_picture, rows, with_pictures
from penstock_eval.benchmarks.formulas import subset_of
from tests.support import made_benchmarks

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
    return folder


def test_pictures_inside_parquet_are_written_out_once(lines: Path, tmp_path: Path) -> None:
    samples = open_benchmark("handwritten").samples(lines)
    assert [sample.truth for sample in samples] == list(TEXTS)
    made = with_pictures(samples, tmp_path / "pictures")
    assert [Path(sample.image).read_bytes() for sample in made] == [picture(n) for n in range(3)]
    before = Path(made[0].image).stat().st_mtime_ns
    with_pictures(samples, tmp_path / "pictures")
    assert Path(made[0].image).stat().st_mtime_ns == before


def test_a_row_without_a_picture_is_a_sentence(lines: Path) -> None:
    row = next(rows(lines, "*.parquet"))
    with pytest.raises(BadInput, match="holds no picture"):
        parquet_picture(row["picture"].replace("::0", "::9"))


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
    assert parquet_picture(sample.image) == picture(1)


@pytest.mark.parametrize("write", [made_benchmarks.unimernet, made_benchmarks.unimernet_parquet])
def test_formulas_keep_their_kinds_in_every_layout(
    write: Callable[[Path], list[bytes]], tmp_path: Path
) -> None:
    write(tmp_path / "data")
    samples = open_benchmark("unimernet").samples(tmp_path / "data")
    assert {sample.slices: sample.truth for sample in samples} == {
        ("simple printed",): "x+1",
        ("complex printed",): r"\frac{a}{b}",
        ("screen-captured",): "y^{2}",
        ("handwritten",): r"\sqrt{z}",
    }


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({"subset": "HWE"}, ("handwritten",)),
        ({"picture_name": "UniMER-Test/sce/0000012.png"}, ("screen-captured",)),
        ({"picture": "/sets/cpe/test-0.parquet::image::3"}, ("complex printed",)),
        ({"picture": "/sets/special/test-0.parquet::image::3"}, ()),
        ({}, ()),
    ],
)
def test_a_formulas_kind_is_told_by_a_column_its_picture_or_its_file(
    row: dict[str, str], kind: tuple[str, ...]
) -> None:
    assert subset_of(row) == kind


def test_pictures_named_by_rows_of_json_lines_are_found(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(picture(1))
    (tmp_path / "lines.jsonl").write_text('{"id": "a", "text": "a line", "image": "images/a.png"}\n')
    [sample] = open_benchmark("handwritten").samples(tmp_path)
    assert Path(sample.image).read_bytes() == picture(1)
