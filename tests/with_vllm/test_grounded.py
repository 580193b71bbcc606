"""The grounded recipe through a real vLLM: DeepSeek-OCR-2, its language model tiny, its weights random."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

import penstock
from penstock.documents.docjson import file as docjson_file
from penstock.engines.chat import deepseek
from penstock.engines.vllm.deepseek_presets import page_preset
from penstock.engines.vllm.server import ManagedServer
from penstock.exports.export import export
from tests.with_vllm.tiny import ENV, START_S

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
SHAPE = Path(__file__).parents[2] / "benchmarks" / "gpu" / "deepseek_shape.py"
SCHEMA = Path(docjson_file.__file__).with_name("docjson.schema.json")

pytestmark = pytest.mark.timeout(1_800)


@pytest.fixture(scope="module")
def grounding(checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagedServer]:
    folder = tmp_path_factory.mktemp("deepseek")
    python = checkpoints.parent / "bin" / "python"
    env = {**os.environ, "HF_HUB_OFFLINE": "1"}
    subprocess.run([str(python), str(SHAPE), str(folder), "--tiny"], check=True, env=env)
    made = ManagedServer(
        str(folder / "deepseek-ocr-2"),
        page_preset("cpu", None),
        extra_args=("--load-format", "dummy"),
        log_path=folder / "server.log",
        env=ENV,
        probe=False,  # a picture takes the vision towers, which are the real model's, 15 s
        deadline_s=START_S,
    )
    with made:
        yield made


def test_a_real_server_reads_pages_and_ends_a_loop(
    grounding: ManagedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # random weights repeat themselves and never end: two rungs are enough to see both ends of an answer
    monkeypatch.setattr(deepseek, "MAX_TOKENS", 48)
    monkeypatch.setattr("penstock.workers.ground.MAX_TOKENS", 48)
    monkeypatch.setattr("penstock.workers.ground.LADDER", deepseek.LADDER[:2])
    # at 40 dpi a page is one view of 256 tokens and no tiles
    options = {"server": (grounding.url,), "dpi": 40, "in_flight": 2}
    pages = list(penstock.parse(SAMPLE, out=tmp_path, recipe="grounded-2", pages="1-2", **options))
    for page in pages:
        assert page.failure is None
        tried = list(page.attempts)
        assert [each.way for each in tried] == ["page", "other guard"]
        assert all(each.prompt_tokens > 257 and each.completion_tokens > 0 for each in tried)
        assert tried[-1].finish_reason == "repetition"  # the server's own detector, which we ask for
        assert tried[-1].completion_tokens < 48
    [path] = export(tmp_path, ["docjson"])
    said = json.loads(path.read_bytes())
    jsonschema.validate(said, json.loads(SCHEMA.read_text("utf-8")))
    assert [page["status"] for page in said["pages"]] == ["partial", "partial"]
    assert {block["page_no"] for block in said["blocks"]} == {1, 2}
