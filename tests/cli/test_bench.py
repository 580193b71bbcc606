"""`penstock doctor --bench` measures what is here, and its figures name neither the machine nor its user."""

from __future__ import annotations

import getpass
import json
import platform
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pytest
from typer.testing import CliRunner

from penstock.api import machine_bench
from penstock.api.machine_bench import PartFigures, SampleRounds, measured_parts
from penstock.cli.app import app
from penstock.cli.running.bench import lines, public_report, without_places
from penstock.engines.vllm.presets import Card
from penstock.errors import UsageError
from penstock.passes.parse import parse_options
from penstock.testing.fake_server import FakeServer, serving


def test_a_run_on_the_sample_gives_figures_that_can_be_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_bench, "ROUNDS", 2)
    monkeypatch.setattr(machine_bench, "ROUNDS_S", 1e9)
    out = tmp_path / "bench.json"
    done = CliRunner().invoke(app, ["doctor", "--bench", "--sample", "1", "-o", str(out)])
    assert done.exit_code == 0, done.output
    text = out.read_text("utf-8")
    report = json.loads(text)
    parts = {part["part"]: part for part in report["parts"]}
    assert list(parts) == ["documents", "layout", "embedding"]
    read = parts["documents"]
    assert len(read["rounds"]) == 2 and read["failed"] == 0
    assert 0 < read["pages_per_s"]["least"] <= read["pages_per_s"]["median"] <= read["pages_per_s"]["most"]
    # the sample's four pages once, then two rounds of one
    assert {"load", "layout", "recognise"} <= {row["stage"] for row in read["stages"] if row["items"] == 6}
    assert report["versions"]["python"] == platform.python_version()
    assert set(report["versions"]) >= {"penstock", "onnxruntime", "torch", "vllm"}
    assert all(name in done.stdout for name in ("Machine ", "documents ", "pages/s", "ms a page: load"))
    private = [str(Path.home()), str(tmp_path), str(Path.cwd())]
    assert not [word for word in private if word != "/" and word in text]
    assert f'"{platform.node()}"' not in text and f'"{getpass.getuser()}"' not in text


def test_a_part_that_is_missing_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def absent(sample: SampleRounds) -> PartFigures:
        raise UsageError("It is not installed.", "Run: pip install it")

    [part] = machine_bench._measured({"embedding": (1, absent)})
    assert lines(part) == [
        "            embedding          not measured. It is not installed. Run: pip install it"
    ]
    report = public_report([part], {"recipe": "documents", "sample": 1})
    assert report["parts"] == [{"part": "embedding", "problem": "It is not installed. Run: pip install it"}]


def test_a_server_that_is_not_there_is_a_sentence_without_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: dict[str, Any] = {"recipe": "glm-ocr", "sample": 1, "server": ["http://card-of-mine:8000"]}
    part = PartFigures(
        name="glm-ocr", problem="No page was read: http://card-of-mine:8000 (card-of-mine) is away."
    )
    [told] = public_report([part], given)["parts"]
    assert told["problem"] == "No page was read: (left out) ((left out)) is away."


def test_a_server_is_asked_about_every_page_of_every_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_bench, "ROUNDS", 1)
    with serving(FakeServer()) as url:
        options = parse_options((), {"recipe": "glm-ocr", "server": (url,), "layout": "cdla"})
        part = machine_bench._reading(options, SampleRounds(tmp_path, 1))
    assert len(part.pages_per_s) == 1 and part.failed == 0
    assert {stage.items for stage in part.stages} == {5}


def test_a_server_that_does_not_answer_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.engines.chat.client.FIRST_CONTACT_S", 0.5)
    away = parse_options((), {"recipe": "glm-ocr", "server": ("http://127.0.0.1:9",), "layout": "cdla"})
    [part] = machine_bench._measured({"glm-ocr": (1, lambda sample: machine_bench._reading(away, sample))})
    assert "No model server answered" in part.problem and not part.pages_per_s


def test_with_a_card_and_torch_the_larger_layout_network_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [stage.name for stage in machine_bench.layout_plan()] == ["load", "layout"]
    monkeypatch.setattr(machine_bench, "cards", lambda: [Card(0, "NVIDIA L4", 24.1)])
    monkeypatch.setattr("penstock.recipes.regions.TORCH", ())
    assert [stage.name for stage in machine_bench.layout_plan()] == ["load", "doclayout"]


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("Cannot read '/home/ann/x.pdf': denied.", "Cannot read '(left out)': denied."),
        ("It is in C:\\Users\\ann and ~/models.", "It is in (left out) and (left out)"),
        ("Run: pip install 'penstock-pipeline[search]'", "Run: pip install 'penstock-pipeline[search]'"),
    ],
)
def test_paths_and_addresses_are_left_out(sentence: str, kept: str) -> None:
    assert without_places(sentence, []) == kept


def test_what_is_wrong_in_the_call_is_said_before_anything_is_measured() -> None:
    with pytest.raises(UsageError, match="does not take --server"):
        measured_parts(1, settings={"server": ("http://gpu:8000",)})
    with pytest.raises(UsageError, match="recipe"):
        measured_parts(1, "no-such-recipe")
    done = CliRunner().invoke(app, ["doctor", "-o", "bench.json"])
    assert isinstance(done.exception, UsageError) and "--bench" in str(done.exception)


def test_pages_of_all_rounds_differ(tmp_path: Path) -> None:
    sample = SampleRounds(tmp_path, 5)
    sizes = [page.get_size() for number in range(3) for page in pdfium.PdfDocument(sample.file(number))]
    assert len(sizes) == 4 + 5 + 5
    assert len(set(sizes)) == len(sizes)
    assert len({text for number in range(3) for text in sample.texts(number)}) == len(sizes)
