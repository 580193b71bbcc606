"""What a server is started with, by recipe, card and numbers."""

from __future__ import annotations

import pytest

from penstock.engines.vllm.choice import embedding_server, reading_servers, requests_in_flight
from penstock.engines.vllm.presets import Card
from penstock.errors import UsageError

B200 = Card(0, "NVIDIA B200", 192.0)
L4 = Card(0, "NVIDIA L4", 24.0)


def command(choice: object) -> str:
    return " ".join(choice.managed().command(["vllm"]))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("recogniser", "card", "model", "servers", "flags"),
    [
        ("glm-ocr", B200, "zai-org/GLM-OCR", 2, "--gpu-memory-utilization 0.42 --max-num-seqs 1024"),
        ("glm-ocr", L4, "zai-org/GLM-OCR", 1, "--gpu-memory-utilization 0.8 --max-num-seqs 128"),
        ("paddleocr-vl", B200, "PaddlePaddle/PaddleOCR-VL-1.5", 2, "--trust-remote-code"),
        ("deepseek-ocr", B200, "deepseek-ai/DeepSeek-OCR", 1, "--max-model-len 8192"),
        ("deepseek-ocr-2", L4, "deepseek-ai/DeepSeek-OCR-2", 1, "--max-num-seqs 96"),
    ],
)
def test_a_card_gets_its_own_preset_and_the_recipes_own_model(
    recogniser: str, card: Card, model: str, servers: int, flags: str
) -> None:
    chosen = reading_servers(recogniser, [card])
    assert [choice.model for choice in chosen] == [model] * servers
    for choice in chosen:
        words = command(choice)
        assert f"serve {model} " in words and flags in words and "--dtype bfloat16" in words
        assert "float32" not in words and "--enforce-eager" not in words
        assert words.count("--max-model-len") == 1
        assert choice.managed().environment()["CUDA_VISIBLE_DEVICES"] == "0"


def test_without_a_card_the_cpu_computes_in_float32() -> None:
    [choice] = reading_servers("glm-ocr", [])
    assert "--dtype float32 --enforce-eager" in command(choice)
    assert "CUDA_VISIBLE_DEVICES" not in choice.managed().environment()


@pytest.mark.parametrize(
    ("dtype", "flags"),
    [("auto", "--dtype bfloat16"), ("bf16", "--dtype bfloat16"), ("fp8", "--quantization fp8")],
)
def test_numbers_are_chosen_by_name(dtype: str, flags: str) -> None:
    words = command(reading_servers("glm-ocr", [B200], dtype=dtype)[0])
    assert flags in words and words.count("--dtype") == 1


def test_numbers_that_cannot_be_are_a_sentence() -> None:
    with pytest.raises(UsageError, match="--ocr-dtype int3 is not known"):
        reading_servers("glm-ocr", [B200], dtype="int3")
    with pytest.raises(UsageError, match="fp8 needs a GPU"):
        reading_servers("glm-ocr", [], dtype="fp8")
    with pytest.raises(UsageError, match="no model of its own"):
        reading_servers("openai", [B200])


def test_servers_of_one_card_share_the_memory_that_is_given() -> None:
    chosen = reading_servers("glm-ocr", [B200], memory=0.8)
    assert all("--gpu-memory-utilization 0.4" in command(choice) for choice in chosen)
    assert requests_in_flight(chosen) == 1_024


def test_the_embedder_has_the_card_to_itself() -> None:
    choice = embedding_server("Qwen/Qwen3-VL-Embedding-2B", [B200])
    words = command(choice)
    assert "--runner pooling" in words and "--stream-interval 1 " in words
    assert "--gpu-memory-utilization 0.85" in words and "--dtype bfloat16" in words
    assert not choice.probe
