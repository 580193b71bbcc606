"""The grounded recipes through a real vLLM: both models, their language models tiny, their weights random."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import penstock
from penstock.documents.docjson import file as docjson_file
from penstock.engines.chat.deepseek.pages import ladder
from penstock.engines.vllm.deepseek_presets import page_preset
from penstock.engines.vllm.server import ManagedServer
from penstock.exports.export import export
from tests.with_vllm.tiny import ENV, ONE_PROCESS, START_S

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
SHAPE = Path(__file__).parents[2] / "benchmarks" / "gpu" / "deepseek_shape.py"
ASK_PROCESSOR = Path(__file__).with_name("resolutions.py")
SCHEMA = Path(docjson_file.__file__).with_name("docjson.schema.json")

pytestmark = pytest.mark.timeout(1_800)


# a view of 1024 pixels as each model's processor counts it, with the mark after it
VIEWS = {"grounded": 273, "grounded-2": 257}
TILED = {"grounded": 630, "grounded-2": 864}  # of two by three tiles, beside it
FOLDERS = {"grounded": "deepseek-ocr", "grounded-2": "deepseek-ocr-2"}


def run_there(checkpoints: Path, script: Path, *arguments: str) -> str:
    """What a script says to the Python that has vLLM."""
    python = checkpoints.parent / "bin" / "python"
    env = {**os.environ, "HF_HUB_OFFLINE": "1"}
    command = [str(python), str(script), *arguments]
    return subprocess.run(command, check=True, env=env, stdout=subprocess.PIPE, text=True, timeout=600).stdout


@pytest.fixture(scope="module")
def shapes(checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deepseek")
    run_there(checkpoints, SHAPE, str(folder), "--tiny")
    return folder


@pytest.fixture(scope="module")
def processed(checkpoints: Path, shapes: Path) -> list[dict[str, Any]]:
    """What the processors of both models make of a page. One process asks both: vLLM takes long to load."""
    said = run_there(checkpoints, ASK_PROCESSOR, *(str(shapes / name) for name in FOLDERS.values()))
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


@pytest.mark.parametrize("recipe", list(FOLDERS))
def test_vllm_has_no_resolution_but_gundam_and_leaves_small_pages_untiled(
    recipe: str, processed: list[dict[str, Any]]
) -> None:
    """Fails once vLLM can be asked for another: then engines/chat/deepseek/resolution.py may allow it."""
    rows = [row for row in processed if row["folder"] == FOLDERS[recipe]]
    assert len(rows) == 8
    for row in rows:
        # tokens are kept for gundam, whatever views were asked for and made
        assert row["kept"] == VIEWS[recipe] + (0 if row["small"] else TILED[recipe])
    usual = {row["small"]: (row["view"], row["tiles"]) for row in rows if row["name"] == "gundam"}
    assert usual == {False: (1024, [2, 3]), True: (1024, [1, 1])}
    assert {row["view"] for row in rows if row["name"] == "tiny"} == {512}  # for which 73 were right, or 65


@pytest.fixture(scope="module", params=list(FOLDERS))
def grounding(
    request: pytest.FixtureRequest, shapes: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, ManagedServer]]:
    made = ManagedServer(
        str(shapes / FOLDERS[request.param]),
        page_preset("cpu", None),
        extra_args=(*ONE_PROCESS, "--load-format", "dummy"),
        log_path=tmp_path_factory.mktemp("logs") / "server.log",
        env=ENV,
        probe=False,  # a picture takes the vision towers, which are the real model's, 15 s
        deadline_s=START_S,
    )
    with made:
        yield request.param, made


def test_a_real_server_reads_pages_and_ends_a_loop(
    grounding: tuple[str, ManagedServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # random weights repeat themselves and never end: two rungs are enough to see both ends of an answer
    monkeypatch.setattr("penstock.workers.ground.ladder", lambda *asked: ladder(*asked)[:2])
    recipe, server = grounding
    options = {"server": (server.url,), "resolution": "untiled", "max_tokens": 48, "in_flight": 2}
    pages = list(penstock.parse(SAMPLE, out=tmp_path, recipe=recipe, pages="1-2", **options))
    for page in pages:
        assert page.failure is None
        tried = list(page.attempts)
        assert [each.way for each in tried] == ["page", "other guard"]
        # at 144 dpi a page would have six tiles: untiled it has one view, and the prompt's some forty tokens
        assert all(VIEWS[recipe] < each.prompt_tokens < VIEWS[recipe] + 100 for each in tried)
        assert all(each.completion_tokens > 0 for each in tried)
        assert tried[-1].finish_reason == "repetition"  # the server's own detector, which we ask for
        assert tried[-1].completion_tokens < 48
    [path] = export(tmp_path, ["docjson"])
    said = json.loads(path.read_bytes())
    jsonschema.validate(said, json.loads(SCHEMA.read_text("utf-8")))
    assert [page["status"] for page in said["pages"]] == ["partial", "partial"]
    assert {block["page_no"] for block in said["blocks"]} == {1, 2}
