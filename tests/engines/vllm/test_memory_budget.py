"""What fits a card: sums made again by hand from GLM-OCR's published config.json and nvidia-smi's sizes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.app import app as penstock
from penstock.cli.engine import app
from penstock.engines.vllm.memory_budget import CARD_MIB, MemoryBudget, memory_budget
from penstock.engines.vllm.model_shape import SHAPES, shape_of
from penstock.engines.vllm.presets import PRESETS, Card
from penstock.engines.vllm.server import in_turns
from penstock.engines.vllm.server_plan import ServerChoice, embedding_server, reading_servers

GLM = "zai-org/GLM-OCR"
EMBEDDER = "Qwen/Qwen3-VL-Embedding-2B"
# zai-org/GLM-OCR's config.json: text_config, vision_config
VOCABULARY, WIDTH, INNER, LAYERS, HEADS, KV_HEADS, HEAD = 59_392, 1_536, 4_608, 16, 16, 8, 128
SEES, SEES_INNER, DEPTH, SEES_OUT, PATCH = 1_024, 4_096, 24, 1_536, 14


def parameters_by_hand() -> int:
    attention = WIDTH * HEADS * HEAD * 2 + WIDTH * KV_HEADS * HEAD * 2
    layer = attention + 3 * WIDTH * INNER + 4 * WIDTH
    text = 2 * VOCABULARY * WIDTH + LAYERS * layer + WIDTH  # the table of words is not shared with the output
    block = 2 * SEES + 4 * SEES * SEES + 4 * SEES + 2 * 64 + 3 * SEES * SEES_INNER + 2 * SEES_INNER + SEES
    merger = SEES_OUT * SEES_OUT + 2 * SEES_OUT + 3 * SEES_OUT * 3 * SEES_OUT
    smaller = SEES * SEES_OUT * 4 + SEES_OUT
    vision = 3 * 2 * PATCH * PATCH * SEES + SEES + DEPTH * block + merger + smaller + SEES
    return text + vision


def budget(card: str, *flags: str, servers: int = 1, vision: str = "auto") -> MemoryBudget:
    command = PRESETS[card].command(GLM, port=1, extra_args=flags)
    found = memory_budget(GLM, command, CARD_MIB[card] << 20, servers, vision=vision)
    assert found is not None
    return found


def test_the_parameters_are_those_of_the_config() -> None:
    shape = shape_of(GLM)
    assert shape is not None
    assert shape.parameters == parameters_by_hand()
    assert shape.kv_token(2) == 16 * 8 * 128 * 2 * 2 == 64 * 1024


def test_the_graphs_of_our_vision_tower_are_counted_where_they_are_made() -> None:
    command = PRESETS["h200"].command(GLM, port=1)
    size = CARD_MIB["h200"] << 20
    ours, plain = (memory_budget(GLM, command, size, vision=mode) for mode in ("auto", "plain"))
    assert ours and plain and plain.kv - ours.kv == 900_000_000
    deepseek = "deepseek-ai/DeepSeek-OCR"
    left, taken = (memory_budget(deepseek, command, size, vision=mode) for mode in ("plain", "auto"))
    assert left and taken and left.kv - taken.kv == 642_000_000
    small = CARD_MIB["rtx4060"] << 20
    assert memory_budget(GLM, command, small) == memory_budget(GLM, command, small, vision="plain")


def test_glm_ocr_on_an_l4() -> None:
    found = budget("l4")
    share = 0.8 * 23_034 * 2**20
    weights = 2 * parameters_by_hand()
    steps = 16_384 * 136 * 1024
    assert found.weights == weights == pytest.approx(2.21e9, rel=0.01)
    assert found.activations == steps == pytest.approx(2.28e9, rel=0.01)
    assert found.kv == pytest.approx(share - weights - steps - 0.7 * 2**30 - 0.9e9, abs=10)
    assert found.kv == pytest.approx(13.17e9, rel=0.01)
    assert found.kv_tokens == pytest.approx(found.kv / 65_536, abs=1)
    assert found.left == pytest.approx(0.2 * 23_034 * 2**20 - 16 * 6.1e9 / 64, abs=100)
    assert found.fits


def test_glm_ocr_on_a_b200_in_two_servers() -> None:
    found = budget("b200", servers=2)
    share = 0.42 * 183_359 * 2**20
    assert found.server == pytest.approx(share, abs=1)
    assert found.kv == pytest.approx(
        share - 2 * parameters_by_hand() - 32_768 * 139_264 - 0.7 * 2**30 - 0.9e9, abs=10
    )
    assert found.kv_tokens > 1_024 * 930  # all sequences of the preset, at the mean length of a crop
    assert found.left == pytest.approx(0.16 * 183_359 * 2**20 - 16 * 6.1e9 / 64, abs=100)


@pytest.mark.parametrize(("step", "gib"), [(131_072, 142.15), (262_144, 125), (524_288, 91)])
def test_a_b200_of_others_had_this_much_kv_cache(step: int, gib: float) -> None:
    """What vLLM printed in a profile by others: GLM-OCR in fp8 at 0.9 of a B200; first 2,329,040 tokens."""
    flags = ("--gpu-memory-utilization", "0.9", "--quantization", "fp8", f"--max-num-batched-tokens={step}")
    found = budget("b200", *flags, vision="plain")
    assert found.kv / 2**30 == pytest.approx(gib, abs=0.5)
    if step == 131_072:
        assert found.kv_tokens == pytest.approx(2_329_040, rel=0.002)


def served(name: str, card: str, dtype: str) -> tuple[list[ServerChoice], MemoryBudget]:
    """Returns the servers of a model on the smallest card of a preset, and their sum."""
    size = CARD_MIB[card] << 20
    here = Card(0, card, size / 1e9)
    if name in (EMBEDDER, f"{EMBEDDER}-FP8"):
        chosen = [embedding_server(name, here, preset_name=card, dtype=dtype)]
    else:
        chosen = reading_servers(name, [here], preset_name=card, dtype=dtype)
    command = chosen[0].managed().command(["vllm"])
    has_layout = name in ("glm-ocr", "paddleocr-vl")
    found = memory_budget(chosen[0].model, command, size, len(chosen), has_layout)
    assert found is not None
    return chosen, found


@pytest.mark.parametrize("dtype", ["auto", "fp8"])
@pytest.mark.parametrize("card", [name for name in PRESETS if name != "cpu"])
@pytest.mark.parametrize(
    "name", ["glm-ocr", "paddleocr-vl", "deepseek-ocr", "deepseek-ocr-2", EMBEDDER, f"{EMBEDDER}-FP8"]
)
def test_every_preset_fits_its_smallest_card_with_what_stands_beside_it(
    card: str, name: str, dtype: str
) -> None:
    chosen, found = served(name, card, dtype)
    assert found.fits, found.lines()
    words = chosen[0].managed().command(["vllm"])
    twice = name.endswith("-FP8") and dtype == "auto"
    assert not (twice and "--quantization" in words)


def test_on_8_gb_bfloat16_is_the_users_own_choice_and_does_not_fit() -> None:
    for name in ("deepseek-ocr", EMBEDDER):
        chosen, found = served(name, "rtx4060", "bf16")
        assert "--quantization" not in chosen[0].managed().command(["vllm"])
        assert not found.fits


def test_a_model_too_large_for_its_card_is_told() -> None:
    found = memory_budget("deepseek-ai/DeepSeek-OCR", ["vllm", "serve", "--max-model-len", "8192"], 6 << 30)
    assert found is not None
    assert not found.fits
    assert "IT DOES NOT FIT" in found.lines()[-1]
    assert found.sentence().startswith("does not fit 6 GiB: weights 6.2 GiB")
    assert memory_budget("a/stranger", [], 24 << 30) is None
    assert memory_budget(GLM, [], 0) is None


def test_a_folder_tells_its_own_shape(tmp_path: Path) -> None:
    assert shape_of(str(tmp_path)) is None
    text = {"num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 64, "num_hidden_layers": 3,
            "vocab_size": 100}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps({"text_config": text, "dtype": "float32"}))
    assert shape_of(str(tmp_path)) is None  # a description without weights
    (tmp_path / "model.safetensors").write_bytes(b"\0" * 400_000)
    shape = shape_of(str(tmp_path))
    assert shape is not None
    assert (shape.parameters, shape.layers, shape.kv_heads, shape.head_dim) == (100_000, 3, 2, 16)
    (tmp_path / "config.json").write_text('["not a model"]')
    assert shape_of(str(tmp_path)) is None


def test_a_model_without_weights_yet_is_counted_by_its_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = {"num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "hidden_size": WIDTH,
            "num_hidden_layers": LAYERS, "vocab_size": VOCABULARY, "head_dim": HEAD,
            "intermediate_size": INNER}  # fmt: skip
    vision = {
        "hidden_size": SEES,
        "depth": DEPTH,
        "intermediate_size": SEES_INNER,
        "out_hidden_size": SEES_OUT,
    }
    snapshot = tmp_path / "models--mine--GLM-OCR" / "snapshots" / "a1"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text(json.dumps({"text_config": text, "vision_config": vision}))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    for name in ("mine/GLM-OCR", str(snapshot)):
        shape = shape_of(name)
        assert shape is not None
        assert shape.parameters == pytest.approx(parameters_by_hand(), rel=0.01)
        assert shape.kv_token(2) == SHAPES[GLM].kv_token(2)
    h200 = Card(0, "NVIDIA H200", CARD_MIB["h200"] * 2**20 / 1e9)
    two = reading_servers("glm-ocr", [h200], model="mine/GLM-OCR")
    assert len(in_turns(two, lambda choice: choice.gpu, ServerChoice.command)) == 2  # at the same time
    index = {"metadata": {"total_size": 2_000_000}}
    (snapshot / "model.safetensors.index.json").write_text(json.dumps(index))
    shape = shape_of(str(snapshot))  # of which not all files are here
    assert shape is not None and shape.parameters == 1_000_000
    (snapshot / "model.safetensors.index.json").unlink()
    experts = {**text, "n_routed_experts": 64}
    (snapshot / "config.json").write_text(json.dumps({"text_config": experts}))
    assert shape_of(str(snapshot)) is None


def test_a_dry_run_prints_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.engines.vllm.planned_servers.cards", list)
    told = CliRunner().invoke(app, ["start", "glm-ocr", "--preset", "l4", "--dry-run"]).stdout
    for words in ("card          22.5 GiB", "weights     2.1 GiB", "KV cache    10 GiB: 163,", "64 KiB"):
        assert words in told
    [row] = json.loads(
        CliRunner().invoke(app, ["start", "glm-ocr", "--preset", "l4", "--dry-run", "--json"]).stdout
    )
    assert row["memory"]["weights"] == 2 * parameters_by_hand()
    assert row["memory"]["fits"] is True
    told = CliRunner().invoke(app, ["start", "glm-ocr", "--preset", "cpu", "--dry-run"]).stdout
    assert "KV cache  " not in told


def test_doctor_tells_what_the_card_would_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text("#!/bin/sh\necho '0, NVIDIA L4, 23034'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    told = CliRunner().invoke(penstock, ["doctor"]).stdout
    [line] = [line for line in told.splitlines() if "glm-ocr " in line and "weights" in line]
    assert "weights 2.1 GiB, activations 2.1 GiB, KV cache 10 GiB (163," in line
    assert "deepseek-ocr" in told
