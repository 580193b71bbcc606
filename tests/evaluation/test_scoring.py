"""Folders of predictions, resumed runs, comparisons, reports and the command line."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from typer.testing import CliRunner

from penstock.errors import BadInput, OutLocked, PenstockError, UsageError
from penstock.store.lock import holding
from penstock_eval.benchmarks import BENCHMARKS, open_benchmark
from penstock_eval.benchmarks.base import Benchmark, Sample, Scores
from penstock_eval.benchmarks.dpbench import DpBench
from penstock_eval.cli import app
from penstock_eval.compare import compare_folders, compare_runs
from penstock_eval.metrics.statistics import bootstrap_interval, paired_test
from penstock_eval.predictions import read_predictions
from penstock_eval.report import mark_differences, write_report
from penstock_eval.results import SAMPLES, SampleResult, read_samples
from penstock_eval.scoring import score_folder, score_samples
from tests.support.made_benchmarks import pubtabnet


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A small DP-Bench: truth in truth/, good predictions in good/, worse ones in bad/."""
    for folder in ("truth", "good", "bad"):
        (tmp_path / folder).mkdir()
    for number in range(12):
        text = f"# Heading {number}\n\nThis is page {number} of a report about rivers and the fish in them.\n"
        (tmp_path / "truth" / f"p{number}.md").write_text(text)
        (tmp_path / "good" / f"p{number}.md").write_text(text)
        (tmp_path / "bad" / f"p{number}.md").write_text(text.replace("rivers", "cars").replace("# ", ""))
    return tmp_path


def test_missing_extra_empty_and_binary_predictions_each_get_a_warning(pages: Path) -> None:
    good = pages / "good"
    (good / "p0.md").unlink()
    (good / "p1.md").write_text("")
    (good / "p2.md").write_bytes(b"\x00\x01\x02")
    (good / "p3.md").write_bytes(b"\xff\xfe bad")
    (good / "stranger.md").write_text("who?")
    found = score_folder(DpBench(), pages / "truth", good, workers=0).summary
    for words in (
        "p0: no prediction file",
        "p1.md is empty",
        "p2.md is binary",
        "p3.md is not UTF-8",
        "stranger.md",
    ):
        assert any(words in warning for warning in found.warnings), words
    assert found.count == 12


def test_a_run_goes_on_where_it_stopped(pages: Path) -> None:
    out = pages / "out"
    score_folder(DpBench(), pages / "truth", pages / "good", out, workers=0)
    lines = (out / SAMPLES).read_text().splitlines(keepends=True)
    (out / SAMPLES).write_text("".join(lines[:5]) + lines[5][:40])  # killed in the middle of a line
    (pages / "good" / "p1.md").write_text("changed")
    again: list[int] = []
    score_folder(
        DpBench(),
        pages / "truth",
        pages / "good",
        out,
        workers=0,
        progress=lambda done, total: again.append(done),
    )
    assert len(again) == 8  # seven that were not there, and the one that changed
    results = read_samples(out)
    assert len(results) == 12
    assert next(r for r in results if r.id == "p1").prediction == "changed"


def test_scores_of_another_truth_are_not_taken_over(pages: Path) -> None:
    out = pages / "out"
    before = score_folder(DpBench(), pages / "truth", pages / "good", out, workers=0).summary
    for file in (pages / "truth").iterdir():
        file.write_text("# Another truth\n\nNothing of it was read.\n")
    after = score_folder(DpBench(), pages / "truth", pages / "good", out, workers=0).summary
    assert after.scores["nid"].mean < before.scores["nid"].mean - 0.3


def test_samples_that_are_gone_are_neither_compared_nor_shown(pages: Path) -> None:
    out = pages / "out"
    score_folder(DpBench(), pages / "truth", pages / "good", out, workers=0)
    for number in range(3, 12):
        (pages / "truth" / f"p{number}.md").unlink()
    score_folder(DpBench(), pages / "truth", pages / "good", out, workers=0)
    assert [result.id for result in read_samples(out)] == ["p0", "p1", "p2"]


FOREIGN = {
    "dpbench": {"reference.json": b'{"a": {}}'},
    "ocrbench": {"OCRBench.json": b"[{}]"},
    "nanonets-kie": {"key/a.json": b"5"},
    "unimernet": {"spe.txt": b"\xff\xfe"},
    "pubtabnet": {"x.parquet": b"PAR1 no"},
    "teds-test": {"a.html": b"\xff"},
    "handwritten": {"x.jsonl": b"\xff"},
    "olmocr-bench": {"x.jsonl": b'{"pdf": "a.pdf"}'},
    "pages": {"a/one.txt": b"one", "b/one.txt": b"two"},
    "omnidocbench": {"OmniDocBench.json": b"[1]"},
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_that_are_not_a_data_set_are_a_sentence(name: str, tmp_path: Path) -> None:
    for file, content in FOREIGN[name].items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes(content)
    with pytest.raises(PenstockError, match=str(tmp_path)):
        score_folder(open_benchmark(name), tmp_path, tmp_path, workers=0)


def test_a_sample_cannot_lead_out_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": "../../evil", "text": "a line"}))
    with pytest.raises(BadInput, match="leads out"):
        score_folder(open_benchmark("handwritten"), tmp_path, tmp_path, workers=0)


def test_a_report_by_an_unknown_score_is_refused(pages: Path) -> None:
    score_folder(DpBench(), pages / "truth", pages / "good", pages / "out", workers=0)
    with pytest.raises(UsageError, match="It has: overall"):
        write_report(pages / "out", "nope")
    with pytest.raises(BadInput, match="eval score"):
        write_report(pages / "nowhere")


def test_processes_give_the_same_scores(pages: Path) -> None:
    alone = score_folder(DpBench(), pages / "truth", pages / "bad", workers=0)
    shared = score_folder(DpBench(), pages / "truth", pages / "bad", workers=2)
    assert alone.results == shared.results


@dataclass(frozen=True)
class Sleeper(Benchmark):
    name: ClassVar[str] = "sleeper"
    title: ClassVar[str] = "Sleeper"
    metrics: ClassVar[dict[str, bool]] = {"good": True, "edit": False}

    def score(self, sample: Sample, prediction: str) -> Scores:

        time.sleep(float(prediction))
        return Scores({"good": 1.0, "edit": 0.0})


def test_a_sample_that_hangs_gets_the_worst_scores_and_a_warning() -> None:
    from penstock_eval.predictions import Predictions

    samples = [Sample("quick", None), Sample("stuck", None)]
    given = Predictions({"quick": "0", "stuck": "60"}, ())
    outcome = score_samples(Sleeper(), samples, given, workers=1, deadline_s=3)
    assert [r.scores["good"] for r in outcome.results] == [1.0, 0.0]
    assert outcome.results[1].scores["edit"] == 1.0
    assert any("stuck" in warning and "longer than" in warning for warning in outcome.summary.warnings)


def test_a_worse_run_is_called_worse_and_a_better_one_better(pages: Path) -> None:
    for folder in ("good", "bad"):
        score_folder(DpBench(), pages / "truth", pages / folder, pages / f"{folder}-out", workers=0)
    worse = compare_folders(pages / "good-out", pages / "bad-out")
    assert worse.is_worse
    assert {c.metric for c in worse.changes if c.verdict == "worse"} >= {"nid", "mhs"}
    better = compare_folders(pages / "bad-out", pages / "good-out")
    assert not better.is_worse
    assert not compare_folders(pages / "good-out", pages / "good-out").is_worse


def test_a_run_cannot_pass_by_leaving_samples_out() -> None:
    one = [SampleResult(str(i), {"x": 0.5}) for i in range(10)]
    found = compare_runs(one, one[:9], {"x": True})
    assert found.lost == ("9",)
    assert found.is_worse


def test_noise_is_not_called_worse() -> None:
    import random

    generator = random.Random(5)
    one = [SampleResult(str(i), {"x": generator.random()}) for i in range(200)]
    two = [SampleResult(r.id, {"x": r.scores["x"] + generator.gauss(0, 0.1)}) for r in one]
    assert not compare_runs(one, two, {"x": True}).is_worse


def test_runs_of_different_protocols_are_not_compared(pages: Path) -> None:
    score_folder(DpBench(), pages / "truth", pages / "good", pages / "a", workers=0)
    score_folder(DpBench(), pages / "truth", pages / "good", pages / "b", workers=0)
    summary = json.loads((pages / "b" / "summary.json").read_text())
    (pages / "b" / "summary.json").write_text(json.dumps({**summary, "protocol": "other"}))
    with pytest.raises(UsageError, match="cannot be compared"):
        compare_folders(pages / "a", pages / "b")


def test_intervals_cover_the_mean_and_are_the_same_each_time() -> None:
    scores = [i / 50 for i in range(51)]
    found = bootstrap_interval(scores)
    assert found == bootstrap_interval(scores)
    assert found.low < 0.5 < found.high
    assert bootstrap_interval([]).count == 0


def test_the_paired_test_is_exact_for_few_samples() -> None:
    assert paired_test([0.0] * 5, [1.0] * 5).p == pytest.approx(2 / 32)
    assert paired_test([0.3] * 5, [0.3] * 5).p == 1.0
    assert paired_test([0.0] * 40, [0.1] * 40).p < 0.001


def test_the_report_marks_differences_and_runs_nothing(pages: Path) -> None:
    (pages / "bad" / "p0.md").write_text("<script>alert(1)</script>")
    score_folder(DpBench(), pages / "truth", pages / "bad", pages / "out", workers=0)
    html = write_report(pages / "out").read_text()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<ins>" in html
    assert "DP-Bench" in html
    assert mark_differences("a b c", "a x c") == ("a <del>b </del>c", "a <ins>x </ins>c")


def test_predictions_may_be_one_json_file(tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    file.write_text(json.dumps({"a.png": "one", "x": "extra"}))
    found = read_predictions(file, ["a", "b"])
    assert found.texts == {"a": "one"}
    assert len(found.warnings) == 2
    file.write_text("not json")
    with pytest.raises(BadInput):
        read_predictions(file, ["a"])


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_opens_and_says_what_it_reads(name: str, tmp_path: Path) -> None:
    benchmark = open_benchmark(name)
    assert benchmark.layout
    assert benchmark.metrics
    with pytest.raises((UsageError, BadInput)):
        benchmark.samples(tmp_path / "nowhere")


def test_dpbench_numbers_of_both_engines_are_reproduced(shared_data: Path) -> None:
    folder = shared_data / "dpbench"
    for engine in ("docling", "markitdown"):
        stated = json.loads((folder / "prediction" / engine / "evaluation.json").read_text())
        scores = {row["document_id"]: row["scores"] for row in stated["documents"]}
        found = score_folder(DpBench(), folder, folder / "prediction" / engine / "markdown", workers=0)
        for result in found.results:
            for metric in ("nid", "nid_s", "teds", "teds_s", "mhs", "mhs_s", "overall"):
                expected = scores[result.id][metric]
                if expected is None:
                    assert metric not in result.scores
                else:
                    assert result.scores[metric] == pytest.approx(expected, abs=1e-6), (result.id, metric)


@pytest.mark.parametrize("place", ["", "images", "val", "images/val", "lists/val"])
def test_pictures_of_pubtabnet_are_found_beside_its_list(place: str, tmp_path: Path) -> None:
    pubtabnet(tmp_path)
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "PMC0.png").write_bytes(b"of another split")
    home = tmp_path / place.rpartition("/")[0] if place == "lists/val" else tmp_path
    for path in sorted((tmp_path / "val").glob("*.png")):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        path.rename(tmp_path / place / path.name)
    if home != tmp_path:
        (tmp_path / "PubTabNet_2.0.0.jsonl").rename(home / "PubTabNet_2.0.0.jsonl")
    samples = open_benchmark("pubtabnet").samples(tmp_path)
    assert [Path(sample.image) for sample in samples] == [tmp_path / place / f"PMC{n}.png" for n in (0, 1)]
    samples = open_benchmark("pubtabnet").samples(home / "PubTabNet_2.0.0.jsonl")
    assert [Path(sample.image) for sample in samples] == [tmp_path / place / f"PMC{n}.png" for n in (0, 1)]


def test_data_sets_that_are_here_are_read(shared_data: Path) -> None:
    assert len(open_benchmark("ocrbench").samples(shared_data / "ocrbench")) == 1000
    assert len(open_benchmark("pubtabnet").samples(shared_data / "pubtabnet_examples" / "examples")) == 20
    receipts = open_benchmark("nanonets-kie").samples(shared_data / "sroie_sample")
    assert len(receipts) == 12
    assert all(Path(sample.image).is_file() for sample in receipts)


def test_the_command_line_scores_compares_and_gates(pages: Path) -> None:
    runner = CliRunner()
    for folder in ("good", "bad"):
        call = [
            "score",
            "dpbench",
            str(pages / folder),
            "--data",
            str(pages / "truth"),
            "-o",
            str(pages / f"s-{folder}"),
        ]
        result = runner.invoke(app, [*call, "--workers", "0"])
        assert result.exit_code == 0, result.output
        assert "nid\t" in result.output
    assert (pages / "s-good" / "report.html").is_file()
    call = ["compare", str(pages / "s-good"), str(pages / "s-bad")]
    assert runner.invoke(app, call).exit_code == 0
    assert runner.invoke(app, [*call, "--fail-if", "worse"]).exit_code == 1
    assert runner.invoke(app, ["compare", call[2], call[1], "--fail-if", "worse"]).exit_code == 0
    assert len(json.loads(runner.invoke(app, ["list", "--json"]).output)) == len(BENCHMARKS)


def test_two_at_once_do_not_score_into_one_folder(pages: Path) -> None:
    out = pages / "out"
    call = ["score", "dpbench", str(pages / "good"), "--data", str(pages / "truth"), "-o", str(out)]
    with holding(out):
        assert isinstance(CliRunner().invoke(app, call).exception, OutLocked)
    assert CliRunner().invoke(app, call).exit_code == 0


def test_importing_the_command_loads_no_heavy_package() -> None:
    code = (
        "import sys, penstock_eval.cli\n"
        "heavy = {'bs4', 'scipy', 'lxml', 'rapidfuzz', 'pylatexenc', 'numpy'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
