"""Claims about the grounded recipe, against a scripted server that answers as DeepSeek-OCR does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest

import penstock
from penstock.cli.app import app
from penstock.documents.docjson import file as docjson_file
from penstock.documents.docjson.model import DocJSON
from penstock.engines.chat.deepseek.pages import OTHER, ladder, page_recogniser
from penstock.engines.vllm.deepseek_presets import page_preset
from penstock.errors import MissingModel, PlanError, UsageError
from penstock.exports.export import export
from penstock.exports.page_rows import page_text
from penstock.testing.fake_server import Asked, FakeServer, serving
from tests.support.json_schema import check_schema
from tests.support.scripted_server import page_answer, sample_truth

typer_testing = pytest.importorskip("typer.testing")
SAMPLE = str(files("penstock") / "sample" / "sample.pdf")


class Script:
    """Answers the pages of the sample by the order in which their pictures are first seen."""

    def __init__(self) -> None:
        truth = sample_truth()
        width, height = truth["size"]
        self.answers = [page_answer(page, width, height) for page in truth["pages"]]
        self._seen: dict[int, int] = {}
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> str:
        with self._lock:
            place = self._seen.setdefault(asked.checksum, len(self._seen))
        return self.answers[place % len(self.answers)]


@pytest.fixture
def server() -> Iterator[tuple[FakeServer, str]]:
    fake = FakeServer(max_model_len=32_768, encoder_tokens=32_768)
    with serving(fake) as url:
        yield fake, url


def parse(url: str, out: Path, **options: object) -> list[penstock.Item]:
    # one core renders one page at a time, so pictures are seen in the order of the pages
    return list(
        penstock.parse(SAMPLE, out=out, recipe="grounded", server=(url,), cores=1, in_flight=1, **options)
    )


def test_the_sample_becomes_valid_docjson_with_its_sections(
    server: tuple[FakeServer, str], tmp_path: Path
) -> None:
    fake, url = server
    fake.says = Script()
    fake.model = "deepseek-ai/DeepSeek-OCR"
    call = [
        "parse",
        SAMPLE,
        "-o",
        str(tmp_path / "out"),
        "--recipe",
        "grounded",
        "--server",
        url,
        "--cores",
        "1",
    ]
    result = typer_testing.CliRunner().invoke(
        app, [*call, "--in-flight", "1", "-q", "--export", "docjson,md"]
    )
    assert result.exit_code == 0, result.output
    path = tmp_path / "out" / "docjson" / "sample.json"
    schema = Path(docjson_file.__file__).with_name("docjson.schema.json")
    check_schema(json.loads(path.read_text("utf-8")), schema)
    _check_sample(docjson_file.read(path))


def _check_sample(doc: DocJSON) -> None:
    assert doc.title == "The Pipe That Feeds the Turbines"
    assert [(s.level, s.title) for s in doc.sections] == [
        (1, "Pages are a kind of water"),
        (1, "물길을 읽는 법"),
        (2, "1. 수압관이란 무엇인가"),
        (2, "2. 좁은 곳이 속도를 정한다"),
        (2, "3. 종이도 물처럼 흐른다"),
        (1, "Head, Flow and Power"),
        (2, "Two numbers are enough"),
        (2, "굵은 관, 조용한 관"),
        (1, "From the Gate Keeper's Log"),
    ]
    blocks = {block.id: block for block in doc.blocks}
    truth = sample_truth()
    for page in truth["pages"]:
        told = [block for block in doc.blocks if block.page_no == page["page"]]
        assert len(told) == len(page["blocks"])
    captions = {
        blocks[r.source].text.split(".")[0]: blocks[r.target].category
        for r in doc.relations
        if r.type == "caption_of"
    }
    assert captions == {"Figure 1": "graph", "그림 2": "graph", "Table 1": "table", "Table 2": "table"}
    assert all(page.status == "ok" and len(page.attempts) == 1 for page in doc.pages)
    assert all(page.raw_output_path.startswith("raw/") for page in doc.pages)


def test_requests_keep_special_tokens_and_ask_for_the_guard(
    server: tuple[FakeServer, str], tmp_path: Path
) -> None:
    fake, url = server
    fake.says = Script()
    parse(url, tmp_path)
    body = fake.asked[0].body
    assert body["skip_special_tokens"] is False
    assert body["temperature"] == 0.0
    assert body["vllm_xargs"] == {
        "ngram_size": 30,
        "window_size": 90,
        "whitelist_token_ids": [128821, 128822],
    }
    assert fake.asked[0].prompt == "<|grounding|>Convert the document to markdown."
    assert len(fake.asked) == 4


def test_the_ladder_is_climbed_until_an_answer_ends_and_every_attempt_is_kept(
    server: tuple[FakeServer, str], tmp_path: Path
) -> None:
    fake, url = server
    script = Script()
    fake.says = lambda asked: "# Plain\n\nbody text" if asked.prompt == "Free OCR." else script(asked)
    # everything but plain reading runs on for ever
    fake.fault = lambda asked: None if asked.prompt == "Free OCR." else "loop"
    items = parse(
        url,
        tmp_path,
    )
    assert all(item.failure is None for item in items)
    export(tmp_path, ["docjson"])
    doc = docjson_file.read(tmp_path / "docjson" / "sample.json")
    for page in doc.pages:
        assert [attempt.way for attempt in page.attempts] == ["page", "other guard", "smaller", "text only"]
        assert [attempt.finish_reason for attempt in page.attempts][:3] == ["repetition"] * 3
    others = [asked.body for asked in fake.asked if "repetition_detection" in asked.body]
    assert others[0]["vllm_xargs"]["window_size"] == OTHER.window
    raw = json.loads((tmp_path / doc.pages[0].raw_output_path).read_text("utf-8"))
    assert len(raw) == 4 and raw[3]["text"].startswith("# Plain")


@pytest.mark.slow
def test_a_page_that_never_ends_is_partial_and_reopened(
    server: tuple[FakeServer, str], tmp_path: Path
) -> None:
    fake, url = server
    fake.says = Script()
    fake.fault = lambda asked: "length"
    [first, *_] = sorted(parse(url, tmp_path), key=lambda item: item.part)
    assert first.shortfall is not None and "No answer came to its end" in first.shortfall.message
    assert "The answer" not in first.markdown and len(first.regions) > 5  # the best of what was said
    fake.fault = lambda asked: None
    again = parse(url, tmp_path, retry_failed=True)
    assert len(again) == 4 and all(item.regions[-1].failure is None for item in again)


def test_presets_say_what_fits() -> None:
    small = {flag.name: flag.value for flag in page_preset("rtx4060", None).flags}
    assert (small["--max-num-seqs"], small["--gpu-memory-utilization"]) == (
        "10",
        "0.8",
    )  # with fp8 weights, by the sum of memory_budget
    large = {flag.name: flag.value for flag in page_preset("rtx4090", None).flags}
    assert (large["--max-num-seqs"], large["--gpu-memory-utilization"]) == ("100", "0.9")
    assert small["--max-model-len"] == "8192"


def test_an_unknown_model_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="no grounded recogniser"):
        page_recogniser("tesseract")
    assert [way.name for way in ladder()] == ["page", "other guard", "smaller", "text only", "halves"]


def test_what_is_kept_of_a_page_is_not_what_it_says(server: tuple[FakeServer, str], tmp_path: Path) -> None:
    fake, url = server
    fake.says = Script()
    [item, *_] = parse(url, tmp_path)
    assert "finish_reason" not in item.markdown
    assert "finish_reason" not in page_text(item)


def test_transformers_runs_the_first_models_code_only_where_that_is_trusted() -> None:
    from penstock import recipes

    with pytest.raises(PlanError, match=r"code that comes with its weights.*--trust-remote-code"):
        recipes.build("grounded", {"engine": "hf"})
    assert recipes.build("grounded", {"engine": "hf", "trust_remote_code": True}).stages[-1].overlap == 1
    for name, options in (("grounded-2", {"engine": "hf"}), ("grounded", {"engine": "vllm"})):
        with pytest.raises(PlanError, match="--trust-remote-code is for"):
            recipes.build(name, {**options, "trust_remote_code": True})
    assert recipes.build("grounded-2", {"engine": "hf"}).stages[-1].overlap == 1
    if find_spec("torch") is None:
        with pytest.raises(MissingModel, match="needs torch"):
            recipes.build("grounded-2", {"engine": "hf"}).stages[-1].open()


def test_the_published_rows_hold_only_regions_of_the_page(
    server: tuple[FakeServer, str], tmp_path: Path
) -> None:
    fake, url = server
    fake.says = Script()
    pages = parse(url, tmp_path)
    [results, _] = export(tmp_path, ["jsonl"])
    rows = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    blocks = [len(page["blocks"]) for page in sample_truth()["pages"]]
    assert [len(row["regions"]) for row in rows] == blocks
    assert {region["reader"] for row in rows for region in row["regions"]} == {"deepseek-ocr"}
    assert all(len(page.attempts) == 1 and page.raw_answer is not None for page in pages)
