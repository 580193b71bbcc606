"""Each benchmark asks what it means: the words and picture that a server is sent, and what scores are called.

Prompts are written out here as the models' cards have them, not taken from the code.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from penstock.errors import UsageError
from penstock.executors import make_executor
from penstock.passes.scores import read_summary
from penstock.recipes import build
from penstock.stages.recognise_remote import RecogniseRemote
from penstock.testing.fake_server import Asked, FakeServer, serving
from penstock_eval import benchmark_run, recogniser_answers
from penstock_eval.benchmark_run import run_benchmark
from penstock_eval.benchmarks import open_benchmark
from penstock_eval.cli import app
from penstock_eval.results import read_samples
from penstock_eval.single_region import single_region_plan
from tests.support import made_benchmarks as made
from tests.support.waiting import wait_until

GLM_FIELDS = "请按下列JSON格式输出图中信息:\n"
FIELDS = ('{\n    "company": "",\n    "total": ""\n}', '{\n    "date": "",\n    "주소": ""\n}')
PROMPTS: dict[str, list[str]] = {
    "ocrbench": ["what is written in the image?", "What is the total?"],
    "nanonets-kie": [GLM_FIELDS + fields for fields in FIELDS],
    "unimernet": ["Formula Recognition:"] * 4,
    "pubtabnet": ["Table Recognition:"] * 2,
    "teds-test": ["Table Recognition:"] * 2,
    "handwritten": ["Text Recognition:"] * 2,
}
ANSWERS: dict[str, list[str]] = {
    "ocrbench": ["It says Centre.", "The total is 41."],
    "nanonets-kie": [
        '```json\n{"company": "Mill & Co", "total": "42.00"}\n```',
        '{"date": "2026-11-16", "주소": "서울"}',
    ],
    "unimernet": ["$$x+1$$", r"\frac{a}{b}", "y^{2}", r"\sqrt{z}"],
    "pubtabnet": [f"<table><tbody><tr><td>{a}</td><td>{b}</td></tr></tbody></table>" for a, b in made.TABLES],
    "teds-test": [f"<table><tr><td>{a}</td><td>{b}</td></tr></table>" for a, b in made.TABLES],
    "handwritten": list(made.LINES),
}
OFFICIAL: dict[str, tuple[str, dict[str, float]]] = {
    "ocrbench": ("OCRBench v1, answer contained", {"accuracy": 0.5}),
    "nanonets-kie": ("ANLS, Nanonets rules (no threshold, case counts)", {"anls": 1.0}),
    "unimernet": ("UniMERNet edit and BLEU", {"edit": 0.0}),
    "pubtabnet": ("TEDS, PubTabNet metric", {"teds": 1.0, "teds_s": 1.0}),
    "teds-test": ("TEDS, PubTabNet metric", {"teds": 1.0, "teds_s": 1.0}),
    "handwritten": ("CER and WER, jiwer rules", {"cer": 0.0, "wer": 0.0}),
}


@pytest.fixture
def in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """No processes: what is sent is the same, and a test takes no second."""
    monkeypatch.setattr(
        recogniser_answers, "make_executor", lambda name, trace: make_executor("inline", trace)
    )


def sent_picture(asked: Asked) -> bytes:
    """The bytes of the picture in a request."""
    parts = {part["type"]: part for part in asked.body["messages"][0]["content"]}
    return base64.b64decode(parts["image_url"]["image_url"]["url"].partition(",")[2])


def answering(answers: dict[bytes, str]) -> FakeServer:
    """A server that knows the answer to each picture."""
    return FakeServer(model="glm-ocr", says=lambda asked: answers[sent_picture(asked)])


def run(bench: str, data: Path, out: Path, url: str, recipe: str = "glm-ocr", **options: Any) -> Any:
    return run_benchmark(
        open_benchmark(bench), out, data, recipe=recipe, options={"server": (url,), **options}, workers=0
    ).summary


@pytest.mark.parametrize("bench", PROMPTS)
@pytest.mark.usefixtures("in_one_thread")
def test_each_sample_is_asked_with_its_own_words_and_picture(bench: str, tmp_path: Path) -> None:
    pictures = made.WRITERS[bench](tmp_path / "data")
    server = answering(dict(zip(pictures, ANSWERS[bench], strict=True)))
    with serving(server) as url:
        run(bench, tmp_path / "data", tmp_path / "out", url)
    asked = sorted(server.asked, key=lambda each: pictures.index(sent_picture(each)))
    assert [each.prompt for each in asked] == PROMPTS[bench]
    assert [sent_picture(each) for each in asked] == pictures
    summary = read_summary(tmp_path / "out")
    protocol, scores = OFFICIAL[bench]
    assert summary["protocol"] == protocol
    assert {name: summary["scores"][name]["mean"] for name in scores} == pytest.approx(scores)
    assert "asked" in summary["method"]


@pytest.mark.usefixtures("in_one_thread")
def test_other_models_get_a_general_prompt_for_fields_and_their_own_for_tables(tmp_path: Path) -> None:
    made.nanonets_kie(tmp_path / "kie")
    made.teds_test(tmp_path / "tables")
    server = FakeServer()
    with serving(server) as url:
        run("nanonets-kie", tmp_path / "kie", tmp_path / "a", url, "openai")
        run("teds-test", tmp_path / "tables", tmp_path / "b", url, "openai")
    fields, tables = server.asked[:2], server.asked[2:]
    assert sorted(each.prompt.partition("\n")[2] for each in fields) == sorted(FIELDS)
    assert all("JSON object" in each.prompt for each in fields)
    assert all("HTML <table>" in each.prompt for each in tables)


@pytest.mark.usefixtures("in_one_thread")
def test_a_thin_line_gets_white_around_it_and_a_huge_picture_is_scaled(tmp_path: Path) -> None:
    (tmp_path / "thin.txt").write_text("thin")
    (tmp_path / "thin.png").write_bytes(made.picture("thin", 200, 12))
    (tmp_path / "huge.txt").write_text("huge")
    (tmp_path / "huge.png").write_bytes(made.picture("huge", 2_500, 2_400))
    server = FakeServer(encoder_tokens=7_000)
    with serving(server) as url:
        run("handwritten", tmp_path, tmp_path / "out", url)
    thin, huge = sorted(server.asked, key=lambda each: each.width)
    assert (thin.width, thin.height) == (200, 28)
    decoded = cv2.imdecode(np.frombuffer(sent_picture(thin), np.uint8), cv2.IMREAD_COLOR)
    original = cv2.imread(str(tmp_path / "thin.png"))
    assert (decoded[8:20] == original).all()  # every pixel is there
    assert huge.width * huge.height <= 4_816_896  # the most GLM-OCR's preprocessor takes


@pytest.mark.usefixtures("in_one_thread")
def test_a_broken_picture_fails_alone_and_is_asked_again_next_time(tmp_path: Path) -> None:
    pictures = made.teds_test(tmp_path / "data")
    (tmp_path / "data" / "t0.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    server = answering({pictures[1]: ANSWERS["teds-test"][1], pictures[0]: ANSWERS["teds-test"][0]})
    with serving(server) as url:
        first = run("teds-test", tmp_path / "data", tmp_path / "out", url)
        assert [result.scores["teds"] for result in read_samples(tmp_path / "out")] == [0.0, 1.0]
        assert len(server.asked) == 1
        assert any(words.startswith("t0: ") for words in first.warnings)
        (tmp_path / "data" / "t0.png").write_bytes(pictures[0])
        again = run("teds-test", tmp_path / "data", tmp_path / "out", url)
    assert len(server.asked) == 2  # the good one was not asked twice
    assert again.scores["teds"].mean == 1.0
    assert again.warnings == ()


@pytest.mark.usefixtures("in_one_thread")
def test_a_request_that_a_server_refuses_fails_alone(tmp_path: Path) -> None:
    pictures = made.ocrbench(tmp_path / "data")
    server = answering(dict(zip(pictures, ANSWERS["ocrbench"], strict=True)))
    server.encoder_tokens = 1  # nothing it is sent is small enough
    with serving(server) as url:
        refused = run("ocrbench", tmp_path / "data", tmp_path / "out", url)
        assert refused.scores["accuracy"].mean == 0.0
        assert len(refused.warnings) == 2
        server.encoder_tokens = 6_144
        assert run("ocrbench", tmp_path / "data", tmp_path / "out", url).scores["accuracy"].mean == 0.5


@pytest.mark.usefixtures("in_one_thread")
def test_another_question_about_the_same_picture_is_asked(tmp_path: Path) -> None:
    [first, _] = made.ocrbench(tmp_path / "data")
    server = FakeServer()
    with serving(server) as url:
        run("ocrbench", tmp_path / "data", tmp_path / "out", url)
        file = tmp_path / "data" / "OCRBench.json"
        file.write_text(file.read_text().replace("what is written in the image?", "which word is it?"))
        run("ocrbench", tmp_path / "data", tmp_path / "out", url)
    assert Counter(each.prompt for each in server.asked) == {
        "what is written in the image?": 1,
        "What is the total?": 1,
        "which word is it?": 1,
    }
    assert sent_picture(server.asked[-1]) == first


@pytest.mark.usefixtures("in_one_thread")
def test_a_question_with_half_a_character_is_asked_too(tmp_path: Path) -> None:
    made.ocrbench(tmp_path / "data")
    file = tmp_path / "data" / "OCRBench.json"
    file.write_text(file.read_text().replace("what is written", "what \\ud83d is written"))
    server = FakeServer()
    with serving(server) as url:
        run("ocrbench", tmp_path / "data", tmp_path / "out", url)
    assert {each.prompt for each in server.asked} == {"what ? is written in the image?", "What is the total?"}


@pytest.mark.usefixtures("in_one_thread")
def test_answers_of_one_recipe_are_not_scored_as_anothers(tmp_path: Path) -> None:
    made.handwritten(tmp_path / "data")
    with serving(FakeServer()) as url:
        run("handwritten", tmp_path / "data", tmp_path / "out", url)
        with pytest.raises(UsageError, match="recipe 'glm-ocr' read"):
            run("handwritten", tmp_path / "data", tmp_path / "out", url, "paddleocr-vl")


def test_a_recipe_that_only_reads_pages_is_never_called_by_the_official_name(tmp_path: Path) -> None:
    pictures = made.ocrbench(tmp_path / "data")
    server = FakeServer(says=lambda asked: "Total 42 Sum 17")
    with serving(server) as url:
        command = ["run", "ocrbench", "--data", str(tmp_path / "data"), "-o", str(tmp_path / "out")]
        shown = CliRunner().invoke(
            app, [*command, "--recipe", "grounded", "--server", url, "--workers", "0"], catch_exceptions=False
        )
    assert len(pictures) == 2
    head, score, right = shown.stdout.splitlines()[:3]
    assert head.startswith("ocrbench, answer found in page text (not the official OCRBench v1")
    assert score.startswith("accuracy (page text)\t0.5000")
    assert right == "right (page text)\t1.0000"
    summary = read_summary(tmp_path / "out")
    assert summary["method"] == "answer found in page text"
    assert list(summary["scores"]) == ["accuracy (page text)"]


def test_fields_of_a_recipe_that_only_reads_pages_are_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is about fields, and the recipe 'documents' reads pages only"):
        run_benchmark(open_benchmark("nanonets-kie"), tmp_path / "out", tmp_path / "nothing is looked for")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("recipe", "task", "stages"),
    [
        ("glm-ocr", "question", "load > whole_picture > recognise_remote"),
        ("paddleocr-vl", "table", "load > whole_picture > recognise_remote"),
        ("documents", "table", "load > whole_picture > recognise"),
        ("documents", "text", "load > whole_picture > recognise"),
        ("documents", "formula", None),
        ("documents", "question", None),
        ("grounded", "text", None),
    ],
)
def test_who_can_be_asked(recipe: str, task: Any, stages: str | None) -> None:
    plan = single_region_plan(build(recipe, {}), task)
    assert (plan and " > ".join(stage.name for stage in plan)) == stages


def test_the_recogniser_is_asked_by_the_recipes_own_stage() -> None:
    settings = {"server": ("http://a:1",), "model": "a-model", "in_flight": 7, "api_key": "k"}
    recipe = build("glm-ocr", settings)
    plan = single_region_plan(recipe, "question")
    assert plan is not None
    [own] = [stage for stage in recipe if isinstance(stage, RecogniseRemote)]
    assert replace(plan.stages[-1], batch=own.batch) == own


def test_server_options_of_the_command_line_reach_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def stop(*arguments: Any, **options: Any) -> None:
        given.update(options)
        raise UsageError("Enough is known.")

    monkeypatch.setattr(benchmark_run, "run_benchmark", stop)
    words = "run ocrbench -o out --recipe glm-ocr --server http://a:1 --server http://b:2 --ocr-model folder"
    shown = CliRunner().invoke(app, [*words.split(), "--preset", "l4", "--in-flight", "9", "--api-key", "k"])
    assert isinstance(shown.exception, UsageError)
    assert given["recipe"] == "glm-ocr"
    assert given["options"] == {
        "server": ("http://a:1", "http://b:2"),
        "model": "folder",
        "preset": "l4",
        "in_flight": 9,
        "api_key": "k",
    }


@pytest.mark.slow
@pytest.mark.usefixtures("in_one_thread")
def test_the_built_in_table_network_reads_the_whole_picture(tmp_path: Path) -> None:
    """Ruled by hand, with words that no layout network is asked about."""
    pixels = np.full((200, 480, 3), 255, np.uint8)
    for y in (20, 80, 140):
        cv2.line(pixels, (20, y), (460, y), (0, 0, 0), 2)
    for x in (20, 240, 460):
        cv2.line(pixels, (x, 20), (x, 140), (0, 0, 0), 2)
    for place, word in enumerate(("Name", "Size", "Wheel", "Large")):
        at = (50 + 220 * (place % 2), 62 + 60 * (place // 2))
        cv2.putText(pixels, word, at, cv2.FONT_HERSHEY_SIMPLEX, 1, (0, 0, 0), 2)
    cv2.imwrite(str(tmp_path / "t.png"), pixels)
    rows = "<tr><td>Name</td><td>Size</td></tr><tr><td>Wheel</td><td>Large</td></tr>"
    (tmp_path / "t.html").write_text(f"<table>{rows}</table>")
    found = run_benchmark(open_benchmark("teds-test"), tmp_path / "out", tmp_path, workers=0).summary
    assert found.scores["teds"].mean > 0.8
    assert found.protocol == "TEDS, PubTabNet metric"


@pytest.mark.slow
def test_a_killed_run_goes_on_and_asks_each_sample_once_more_at_most(tmp_path: Path) -> None:
    """`kill -9` in the middle, then the same command: every answer is one row, and no sample is missing."""
    data = tmp_path / "lines"
    data.mkdir()
    for number in range(60):
        (data / f"{number:02d}.txt").write_text(f"line {number}")
        (data / f"{number:02d}.png").write_bytes(made.picture(f"line {number}", 300, 48))
    server = FakeServer(delay_s=0.5)
    with serving(server) as url:
        command = [sys.executable, "-m", "penstock", "eval", "run", "handwritten", "--data", str(data)]
        command += ["-o", str(tmp_path / "out"), "--recipe", "glm-ocr", "--server", url, "--in-flight", "1"]
        command += ["--workers", "0", "--json"]
        killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        rows = tmp_path / "out" / "answers" / "items"
        wait_until(lambda: list(rows.glob("*.parquet")))
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        before = len(server.asked)
        assert 0 < before < 60
        server.delay_s = 0.0
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["count"] == 60
    assert len({each.checksum for each in server.asked}) == 60
    assert len(server.asked) < before + 60  # what was kept was not asked again
