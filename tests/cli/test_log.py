"""What `--log` leaves in its file: how a run began and ended, and everything that went wrong on the way."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from typer.testing import CliRunner

from penstock import __version__
from penstock.cli.app import app
from penstock.cli.running.log_file import log_file, logging_from
from penstock.engines.chat.client import ChatClient, ChatRequest
from penstock.engines.chat.recognisers import RECOGNISERS
from penstock.engines.vllm.probe import sample_picture
from penstock.errors import WorkerDied
from penstock.item import Item
from penstock.plan import Plan
from penstock.runner import Runner
from penstock.stage import Stage, Worker
from penstock.stages.load import Load
from penstock.testing.fake_server import Asked, FakeServer, serving
from penstock.testing.fake_stages import FakeLayout, FakeRecognise

TREE = logging.getLogger("penstock")


def second_fails(password: str | None = None, api_key: str | None = None) -> Plan:
    """A recipe for `--recipe`: the second page of a document cannot be recognised."""
    return Plan(Load(dpi=36, workers=1), FakeLayout(), FakeRecognise(fails=(1,)), name="second_fails")


RECIPE = f"{__name__}:second_fails"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs over three pages: of `first` the log is x.log, of `second` x.jsonl."""
    folder = tmp_path_factory.mktemp("runs")
    made = pdfium.PdfDocument.new()
    for _ in range(3):
        made.new_page(100, 100)
    made.save(folder / "three.pdf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PENSTOCK_API_KEY", "key-from-the-environment")
        patch.setenv("PENSTOCK_EXPORT", "jsonl")
        words = ("parse", folder / "three.pdf", "--recipe", RECIPE, "--executor", "inline", "-q")
        secret = ("--password", "open-sesame", "--log", folder / "logs" / "x.log")
        assert penstock(patch, *words, "-o", folder / "first", *secret) == 1
        assert penstock(patch, *words, "-o", folder / "second", "--log", folder / "x.jsonl") == 1
    return folder


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """The lines of all that happens in this process while the test runs."""
    with logging_from("debug"), log_file(tmp_path / "test.log", {}):
        yield tmp_path / "test.log"


def penstock(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    typed = [str(argument) for argument in arguments]
    monkeypatch.setattr(sys, "argv", ["penstock", *typed])
    return CliRunner().invoke(app, typed).exit_code


def lines_with(path: Path, *words: str) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if all(word in line for word in words)]


def test_a_failed_page_is_there_with_its_id_its_stage_and_its_reason(runs: Path) -> None:
    [line] = lines_with(runs / "logs" / "x.log", " ERROR ")
    [row] = _rows(runs / "first" / "failures")
    assert str(row["id"]) in line
    assert "three.pdf page 2" in line
    assert "failed in fake_recognise: EngineError:" in line
    assert "was asked to fail. Take it out of `fails`." in line


def test_a_run_is_told_from_its_command_to_its_end(runs: Path) -> None:
    log, out = runs / "logs" / "x.log", runs / "first"
    told = log.read_text("utf-8").splitlines()
    assert (
        f"INFO penstock.cli.running.log_file penstock {__version__} begins: penstock parse {runs}" in told[0]
    )
    assert told[-1].endswith(" s") and "ended with exit code 1 after" in told[-1]
    order = [
        f"run of second_fails ({json.loads((out / 'run.json').read_text())['fingerprint']}) into {out}",
        "stage load process (dpi=36",
        "stage fake_recognise is open, worker 0",
        "committed 2 rows: items/",
        "committed 1 rows: failures/",
        f"run into {out} ended after",
        "exported jsonl: 2 files",
    ]
    places = [next(n for n, line in enumerate(told) if words in line) for words in order]
    assert places == sorted(places)
    assert lines_with(log, "done 2, failed 1, failed regions 0, skipped 0, failed before 0, listed 3")
    [shard] = [path.name for path in (out / "items").iterdir()]
    assert lines_with(log, f"items/{shard}")


def test_json_lines_by_the_name_of_the_file(runs: Path) -> None:
    rows = [json.loads(line) for line in (runs / "x.jsonl").read_text("utf-8").splitlines()]
    assert {"time", "level", "logger", "message"} <= set(rows[0])
    [failed] = [row for row in rows if row["level"] == "error"]
    assert (failed["stage"], failed["kind"], failed["place"]) == (
        "fake_recognise",
        "EngineError",
        "three.pdf page 2",
    )
    [end] = [row for row in rows if "finished" in row]
    assert (end["done"], end["failed"], end["finished"]) == (2, 1, True)
    assert rows[-1]["exit_code"] == 1


def test_no_secret_gets_in(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = runs / "logs" / "x.log"
    assert lines_with(log, "--password ***")
    assert lines_with(log, "options from a file or the environment: {'export': 'jsonl'}")
    assert not lines_with(log, "open-sesame")
    assert not lines_with(log, "from-the-environment")
    monkeypatch.setenv("HF_TOKEN", "hf_from_the_environment")
    log = tmp_path / "x.log"
    with logging_from("info"), log_file(log, {"api_key": "key-from-the-environment"}):
        TREE.info("http://me:hunter22@host:8000 said: hf_from_the_environment, key-from-the-environment\nno")
    assert lines_with(log, "http://***@host:8000 said: ***, *** | no")
    assert not lines_with(log, "hunter22")


def test_what_ends_a_command_is_there_and_nothing_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, before = tmp_path / "x.log", list(TREE.handlers)
    penstock(monkeypatch, "index", tmp_path / "no-run", "--log", log)
    assert lines_with(log, " INFO ", "begins: penstock index")
    assert lines_with(log, " ERROR ", "ended after", str(tmp_path / "no-run"))
    assert TREE.handlers == before


def test_the_level_decides_what_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "x.log"
    penstock(monkeypatch, "index", tmp_path / "no-run", "--log", log, "--log-level", "error")
    assert [line.split()[1] for line in log.read_text("utf-8").splitlines()] == ["ERROR"]
    assert penstock(monkeypatch, "index", tmp_path / "no-run", "--log-level", "loud") == 2


@pytest.mark.parametrize("verb", ["parse", "volumes", "enrich", "embed", "index", "run", "serve", "export"])
def test_every_verb_that_works_over_items_has_a_log(verb: str) -> None:
    told = CliRunner().invoke(app, [verb, "--help"]).stdout
    assert "--log " in told and "--log-level" in told


def test_a_request_that_is_sent_again_is_a_retry(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.engines.chat.dispatcher.FIRST_BACKOFF_S", 0.01)

    def first_breaks(asked: Asked) -> str | None:
        return "500" if asked.number == 0 else None

    with (
        serving(FakeServer(fault=first_breaks)) as url,
        ChatClient([url], RECOGNISERS["glm-ocr"]) as client,
    ):
        client.ask([ChatRequest(sample_picture(), "x", 16)])
    assert lines_with(log, " INFO ", f"server {url} answers as fake")
    assert len(lines_with(log, " INFO ", "retry: a request is sent again in", "500")) == 1


class _DiesOnce(Worker[Item]):
    """Dies at its first call, as a process does when memory is short."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, items: list[Item]) -> list[Item]:
        self.calls += 1
        if self.calls == 1:
            raise WorkerDied("load-0 died: killed by SIGKILL.")
        return items


@dataclass(frozen=True, kw_only=True)
class _Anything(Stage):
    name = "anything"


def test_a_page_that_is_tried_again_is_a_retry(log: Path) -> None:
    [item] = Runner(_Anything(), _DiesOnce())([Item(id="doc/00001", uri="doc.pdf", document="doc.pdf")])
    assert item.failure is None
    assert lines_with(log, " WARNING ", "retry: anything tries it again", "SIGKILL", "doc/00001")


def test_who_imports_us_sees_nothing_on_the_terminal() -> None:
    program = "import logging, penstock; logging.getLogger('penstock.driver').error('a page failed')"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "", "")


def _rows(folder: Path) -> list[dict[str, object]]:
    import pyarrow.parquet as pq

    return [row for shard in folder.glob("*.parquet") for row in pq.read_table(shard).to_pylist()]
