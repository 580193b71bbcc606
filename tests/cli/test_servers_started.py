"""What each command starts on which card, for every recipe and kind of numbers.

The expected numbers are written here by hand, from the cards' presets as documented: nothing is taken from
the code that decides. A stand-in `vllm` records what it is started with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.page import Page
from penstock.passes.service import served_options
from penstock.serve.reading.service import Service
from penstock.store import manifest
from penstock.store.ledger import ShardWriter
from penstock.store.schema import PAGES
from penstock.testing.fake_recipe import fake
from tests.support.stand_in_machine import Machine, Started, planned
from tests.support.waiting import wait_until

CARDS = {
    "NVIDIA B200": 183_359,
    "NVIDIA H200": 143_771,
    "NVIDIA L4": 23_034,
    "NVIDIA GeForce RTX 4090": 24_564,
}
MODELS = {
    "glm-ocr": "zai-org/GLM-OCR",
    "paddleocr-vl": "PaddlePaddle/PaddleOCR-VL-1.5",
    "deepseek-ocr": "deepseek-ai/DeepSeek-OCR",
    "deepseek-ocr-2": "deepseek-ai/DeepSeek-OCR-2",
}
RECIPES = {
    "glm-ocr": "glm-ocr",
    "paddleocr-vl": "paddleocr-vl",
    "grounded": "deepseek-ocr",
    "grounded-2": "deepseek-ocr-2",
}
# card: (servers, memory, sequences) of a reader of regions, then of a reader of whole pages
EXPECTED = {
    "NVIDIA B200": ((2, "0.42", "1024"), (1, "0.9", "512")),
    "NVIDIA H200": ((2, "0.42", "1024"), (1, "0.9", "512")),
    "NVIDIA L4": ((1, "0.8", "128"), (1, "0.9", "96")),
    "NVIDIA GeForce RTX 4090": ((1, "0.8", "192"), (1, "0.9", "100")),
}
GUARD = "vllm.model_executor.models.deepseek_ocr:NGramPerReqLogitsProcessor"


def engine_start(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["engine", "start", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("card", CARDS)
def test_every_model_gets_the_cards_own_numbers(
    card: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine(tmp_path / "bin", monkeypatch, [(card, CARDS[card])])
    for model, dtype in product(MODELS, ("auto", "bf16", "fp8")):
        told = planned(engine_start(model, "--ocr-dtype", dtype, "--dry-run", "--json"))
        servers, memory, sequences = EXPECTED[card][model.startswith("deepseek")]
        assert len(told) == servers
        for server in told:
            check_server(server, model, dtype, memory)
            assert server.value("--max-num-seqs") == sequences


def check_server(server: Started, model: str, dtype: str, memory: str) -> None:
    grounds = model.startswith("deepseek")
    assert server.words[:2] == ("serve", MODELS[model])
    assert server.value("--dtype") == "bfloat16"
    assert ("--quantization" in server.words) is (dtype == "fp8")
    assert dtype != "fp8" or server.value("--quantization") == "fp8"
    assert server.value("--max-model-len") == ("8192" if grounds else "16384")
    assert server.value("--gpu-memory-utilization") == memory
    assert ("--logits-processors" in server.words) is grounds
    assert not grounds or server.value("--logits-processors") == GUARD
    assert "--enforce-eager" not in server.words
    assert ("--trust-remote-code" in server.words) is (model == "paddleocr-vl")
    assert server.variables["CUDA_VISIBLE_DEVICES"] == "0"
    assert server.variables.get("VLLM_USE_V2_MODEL_RUNNER") == ("0" if grounds else None)


@pytest.mark.parametrize(
    ("verb", "recipe", "dtype"),
    [
        *(("parse", recipe, "fp8") for recipe in RECIPES),
        *(("run", recipe, "auto") for recipe in RECIPES),
        ("eval", "glm-ocr", "bf16"),
        ("eval", "grounded", "fp8"),
        ("serve", "glm-ocr", "fp8"),
        ("serve", "grounded-2", "auto"),
    ],
)
def test_every_command_starts_what_engine_start_would(
    verb: str, recipe: str, dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "bin", monkeypatch, [("NVIDIA L4", CARDS["NVIDIA L4"])])
    [wanted] = planned(engine_start(RECIPES[recipe], "--ocr-dtype", dtype, "--dry-run", "--json"))
    said = VERBS[verb](tmp_path, recipe, dtype)
    [started] = machine.started()
    assert same_but_name(started) == same_but_name(wanted)
    check_server(started, RECIPES[recipe], dtype, "0.9" if "grounded" in recipe else "0.8")
    assert "this stand-in never starts" in said


def test_the_vision_tower_is_the_one_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "bin", monkeypatch, [("NVIDIA L4", CARDS["NVIDIA L4"])])
    where = ["--output-dir", str(tmp_path / "run"), "--data-dir", str(tmp_path / "data")]
    for command in (
        ["parse", picture(tmp_path), "-o", str(tmp_path / "out"), "--recipe", "glm-ocr", "-q"],
        ["run", "pages", picture(tmp_path), *where, "--recipe", "glm-ocr"],
    ):
        told([*command, "--vision", "fp8"])
        [started] = machine.started()
        assert started.variables["PENSTOCK_VISION"] == "fp8"
    [wanted] = planned(engine_start("glm-ocr", "--vision", "fast", "--dry-run", "--json"))
    assert wanted.variables["PENSTOCK_VISION"] == "fast"
    assert "--vision quick is not known" in told(["engine", "start", "glm-ocr", "--vision", "quick"])


def test_engine_start_starts_what_its_dry_run_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path / "bin", monkeypatch, [("NVIDIA L4", CARDS["NVIDIA L4"])])
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))  # where running servers are written down
    [wanted] = planned(engine_start("deepseek-ocr", "--dry-run", "--json"))
    said = told(["engine", "start", "deepseek-ocr", "--port", "0"])
    [started] = machine.started()
    assert same_but_name(started) == same_but_name(wanted)
    assert "this stand-in never starts" in said


def test_engine_start_of_an_embedder_is_a_server_for_pooling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "bin", monkeypatch, [("NVIDIA L4", CARDS["NVIDIA L4"])])
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    for model in ("Qwen/Qwen3-VL-Embedding-2B", "qwen3-vl-embedding"):
        [wanted] = planned(engine_start(model, "--dry-run", "--json"))
        words, _ = same_but_name(wanted)
        assert words == [
            *("serve", "Qwen/Qwen3-VL-Embedding-2B", "--host", "127.0.0.1"),
            *("--max-model-len", "16384", "--limit-mm-per-prompt", '{"image":1,"video":0}'),
            *("--no-enable-prefix-caching", "--mm-processor-cache-gb", "0", "--stream-interval", "1"),
            *("--disable-uvicorn-access-log", "--dtype", "bfloat16", "--gpu-memory-utilization", "0.85"),
            *("--max-num-seqs", "128", "--max-num-batched-tokens", "16384", "--runner", "pooling"),
            *("--mm-processor-kwargs", '{"size": {"shortest_edge": 4096, "longest_edge": 1310720}}'),
        ]
    said = told(["engine", "start", "qwen3-vl-embedding", "--port", "0"])
    [started] = machine.started()
    assert same_but_name(started) == same_but_name(wanted)
    assert "this stand-in never starts" in said


@pytest.mark.parametrize("verb", ["parse", "run", "eval", "engine"])
def test_the_context_of_a_server_is_set_from_every_command(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "bin", monkeypatch, [("NVIDIA L4", CARDS["NVIDIA L4"])])
    context = ("--max-model-len", "12288")
    if verb == "engine":
        monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
        told(["engine", "start", "glm-ocr", "--port", "0", *context])
    else:
        VERBS[verb](tmp_path, "glm-ocr", "auto", *context, "--max-tokens", "4096")
    [started] = machine.started()
    assert started.value("--max-model-len") == "12288"


def test_an_embedder_on_8_gb_is_loaded_in_fp8_unless_bf16_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "bin", monkeypatch, [("NVIDIA GeForce RTX 4060", 8_188)])
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    for model in ("deepseek-ocr", "qwen3-vl-embedding"):
        [packed] = planned(engine_start(model, "--dry-run", "--json"))
        assert packed.value("--quantization") == "fp8"
        told(["engine", "start", model, "--port", "0", "--ocr-dtype", "bf16"])
        [started] = machine.started()
        assert "--quantization" not in started.words


def same_but_name(server: Started) -> tuple[list[str], dict[str, str]]:
    """The words without the port and the name a server goes by, which are each start's own."""
    words = list(server.words)
    for flag in ("--port", "--served-model-name"):
        if flag in words:
            del words[words.index(flag) : words.index(flag) + 2]
    return words, server.variables


def parse(root: Path, recipe: str, dtype: str, *more: str) -> str:
    where = ["-o", str(root / "out"), "-q"]
    return told(["parse", picture(root), *where, "--recipe", recipe, "--ocr-dtype", dtype, *more])


def run(root: Path, recipe: str, dtype: str, *more: str) -> str:
    where = ["--output-dir", str(root / "out"), "--data-dir", str(root / "data")]
    return told(["run", "pages", picture(root), *where, "--recipe", recipe, "--ocr-dtype", dtype, *more])


def eval_run(root: Path, recipe: str, dtype: str, *more: str) -> str:
    lines = root / "iam" / "data"
    lines.mkdir(parents=True)
    rows = {"image": [{"bytes": Path(picture(root)).read_bytes(), "path": "0.png"}], "text": ["a line"]}
    parquet.write_table(pa.table(rows), lines / "test-00000.parquet")
    where = ["--data", str(root / "iam"), "-o", str(root / "scores")]
    return told(["eval", "run", "handwritten", *where, "--recipe", recipe, "--ocr-dtype", dtype, *more])


def serve(root: Path, recipe: str, dtype: str) -> str:
    """The service itself, with the plan of the command: listening is not what this is about."""
    options = served_options(root / "served", recipe, {"ocr_dtype": dtype}, {})
    assert options is not None
    plan = options.plan()
    with Service(root / "served", plan) as service:
        with service.incoming() as arrived:
            arrived.write_bytes(Path(picture(root)).read_bytes())
            service.accept(arrived, "page.png", "its digest")
        wait_until(lambda: service.error is not None)
    return str(service.error)


VERBS: dict[str, Callable[..., str]] = {"parse": parse, "run": run, "eval": eval_run, "serve": serve}


def told(arguments: Sequence[str]) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code != 0
    return done.output + str(done.exception)


def picture(root: Path) -> str:
    from PIL import Image

    path = root / "page.png"
    Image.new("RGB", (60, 80), "white").save(path)
    return str(path)


def test_the_pipelines_embedder_gets_the_card_and_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "bin", monkeypatch, [("NVIDIA B200", CARDS["NVIDIA B200"])])
    writer = ShardWriter(tmp_path / "out", PAGES)
    writer.add(Page(id="a/00000", uri="a.pdf", document="a.pdf", width=10, height=10, markdown="words"))
    writer.commit()
    manifest.write(tmp_path / "out", fake())
    where = ["--output-dir", str(tmp_path / "out"), "--data-dir", str(tmp_path)]
    said = told(["run", "pages", "nothing.pdf", *where, "--recipe", "glm-ocr", "--step", "embed"])
    [started] = machine.started()
    assert started.words[:2] == ("serve", "Qwen/Qwen3-VL-Embedding-2B")
    assert started.value("--runner") == "pooling"
    assert started.value("--dtype") == "bfloat16"
    assert started.value("--gpu-memory-utilization") == "0.85"
    assert started.value("--stream-interval") == "1"
    assert "--enforce-eager" not in started.words
    assert "this stand-in never starts" in said


def test_without_a_card_the_cpu_computes_in_float32(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path / "bin", monkeypatch, [])
    parse(tmp_path, "glm-ocr", "auto")
    [started] = machine.started()
    assert started.value("--dtype") == "float32"
    assert "--enforce-eager" in started.words
    assert "CUDA_VISIBLE_DEVICES" not in started.variables
