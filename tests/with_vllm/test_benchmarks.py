"""All eight benchmarks from their files to their scores, asked of a real vLLM with the tiny GLM-OCR.

A relay between the client and the server writes down what is sent, so that words and pictures are seen as the
server got them. The model knows nothing: what is checked is what it was asked, and that its own answers are
what was scored, under the official names.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock.engines.chat import recognisers
from penstock.engines.vllm.server import ManagedServer
from penstock.passes.scores import read_summary
from penstock.plan import Plan
from penstock.recipes.regions import regions
from penstock_eval.cli import app
from penstock_eval.results import read_samples
from tests.support import made_benchmarks as made
from tests.support.local_server import LocalServer
from tests.with_vllm.tiny import PLAIN

RECIPE = "tests.with_vllm.test_benchmarks:tiny"
GLM_FIELDS = "请按下列JSON格式输出图中信息:\n"
FIELDS = ('{\n    "company": "",\n    "total": ""\n}', '{\n    "date": "",\n    "주소": ""\n}')
PROMPTS: dict[str, list[str]] = {
    "omnidocbench": [],
    "dpbench": [],
    "ocrbench": [question for question, _ in made.QUESTIONS],
    "nanonets-kie": [GLM_FIELDS + fields for fields in FIELDS],
    "unimernet": ["Formula Recognition:"] * 4,
    "pubtabnet": ["Table Recognition:"] * 2,
    "teds-test": ["Table Recognition:"] * 2,
    "handwritten": ["Text Recognition:"] * 2,
}
OFFICIAL: dict[str, tuple[str, str]] = {
    "omnidocbench": ("OmniDocBench v1.5", "text_edit"),
    "dpbench": ("DP-Bench, opendataloader-bench rules", "overall"),
    "ocrbench": ("OCRBench v1, answer contained", "accuracy"),
    "nanonets-kie": ("ANLS, Nanonets rules (no threshold, case counts)", "anls"),
    "unimernet": ("UniMERNet edit and BLEU", "edit"),
    "pubtabnet": ("TEDS, PubTabNet metric", "teds"),
    "teds-test": ("TEDS, PubTabNet metric", "teds"),
    "handwritten": ("CER and WER, jiwer rules", "cer"),
}

SENSELESS = (
    "no JSON object",
    "has no table",
)  # what is said of a model that knows nothing; all else is a fault

pytestmark = pytest.mark.timeout(1_800)


def tiny(server: tuple[str, ...] = ()) -> Plan:
    """The recipe `glm-ocr` with the built-in layout network, for a model that never ends by itself."""
    return regions("tiny", server=server, layout="cdla")


@pytest.fixture(autouse=True)
def tiny_recogniser(monkeypatch: pytest.MonkeyPatch) -> None:
    short = replace(PLAIN, name="tiny", max_tokens=64)
    monkeypatch.setattr(recognisers, "RECOGNISERS", {**recognisers.RECOGNISERS, "tiny": short})


@dataclass
class Relay:
    """Passes everything on and keeps each question: its words, its picture and its answer."""

    target: str
    asked: list[tuple[str, bytes, str]] = field(default_factory=list)

    def passed_on(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        request = urllib.request.Request(self.target + path, body)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=300) as response:
                status, said = response.status, response.read()
        except urllib.error.HTTPError as exc:
            return exc.code, exc.read()
        if body is not None:
            self._keep(json.loads(body), said)
        return status, said

    def _keep(self, body: dict[str, Any], said: bytes) -> None:
        parts = {part["type"]: part for part in body["messages"][0]["content"]}
        picture = base64.b64decode(parts["image_url"]["image_url"]["url"].partition(",")[2])
        answer = json.loads(said)["choices"][0]["message"]["content"]
        self.asked.append((parts["text"]["text"], picture, answer.strip()))


@pytest.fixture
def relay(server: ManagedServer) -> Iterator[tuple[Relay, str]]:
    kept = Relay(server.url)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(*kept.passed_on(self.path, None))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(*kept.passed_on(self.path, body))

        def _answer(self, status: int, said: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with LocalServer(Handler) as local:
        yield kept, local.url


@pytest.mark.parametrize("bench", made.WRITERS)
def test_a_benchmark_from_its_files_to_its_scores(
    bench: str, relay: tuple[Relay, str], tmp_path: Path
) -> None:
    kept, url = relay
    pictures = made.WRITERS[bench](tmp_path / "data")
    command = ["run", bench, "--data", str(tmp_path / "data"), "-o", str(tmp_path / "out")]
    command += ["--recipe", RECIPE, "--server", url, "--workers", "0", "--json"]
    shown = CliRunner().invoke(app, command, catch_exceptions=False)
    assert shown.exit_code == 0, shown.output
    protocol, score = OFFICIAL[bench]
    summary = read_summary(tmp_path / "out")
    assert summary["protocol"] == protocol
    assert summary["scores"][score]["mean"] >= 0.0
    assert all(any(words in warning for words in SENSELESS) for warning in summary["warnings"])
    results = read_samples(tmp_path / "out")
    if pictures:
        _check_questions(kept.asked, bench, pictures)
        answers = {picture: answer for _, picture, answer in kept.asked}
        _check_predictions([result.prediction for result in results], [answers[p] for p in pictures], bench)
    else:
        assert {words for words, _, _ in kept.asked} <= set(PLAIN.prompts.values())
        assert all(answer in results[0].prediction for words, _, answer in kept.asked if "Text" in words)
        assert kept.asked


def _check_questions(asked: list[tuple[str, bytes, str]], bench: str, pictures: list[bytes]) -> None:
    """Every sample was asked once, with its own words and the bytes of its own file."""
    in_order = sorted(asked, key=lambda each: pictures.index(each[1]))
    assert [words for words, _, _ in in_order] == PROMPTS[bench]
    assert [picture for _, picture, _ in in_order] == pictures


def _check_predictions(scored: list[str], said: list[str], bench: str) -> None:
    """What was scored is what the server said, but for white space and dollars, which a benchmark ignores."""
    if bench == "unimernet":
        assert all(scored)
        return
    assert [" ".join(text.split()) for text in scored] == [" ".join(text.split()) for text in said]
