"""What a server is started with, by recipe, card and numbers."""

from __future__ import annotations

import pytest

from penstock.engines.vllm.embedding_presets import is_embedder
from penstock.engines.vllm.memory_budget import KV_FLAG, KV_SPARE, memory_budget
from penstock.engines.vllm.presets import Card
from penstock.engines.vllm.server import in_turns
from penstock.engines.vllm.server_plan import (
    ServerChoice,
    embedding_server,
    reading_servers,
    requests_in_flight,
    sharing_card,
)
from penstock.errors import UsageError
from penstock.stages.ground import Ground
from penstock.stages.recognise_remote import RecogniseRemote

B200 = Card(0, "NVIDIA B200", 192.0)
H200 = Card(0, "NVIDIA H200", 150.75)
L4 = Card(0, "NVIDIA L4", 24.0)
EMBEDDER = "Qwen/Qwen3-VL-Embedding-2B"


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


def kv_cache(choice: object) -> int:
    words = command(choice).split()
    assert words.count(KV_FLAG) == 1
    return int(words[words.index(KV_FLAG) + 1])


@pytest.mark.parametrize("name", ["glm-ocr", "paddleocr-vl"])
@pytest.mark.parametrize("memory", [None, 0.6])
def test_servers_of_one_card_are_given_a_cache_that_fits_their_share(name: str, memory: float | None) -> None:
    chosen = reading_servers(name, [B200], memory=memory)
    sizes = [kv_cache(choice) for choice in chosen]
    assert len(sizes) == 2 and len(set(sizes)) == 1
    plain = tuple(word for word in chosen[0].flags if word not in (KV_FLAG, str(sizes[0])))
    found = memory_budget(
        chosen[0].model, chosen[0].preset.command("m", port=1, extra_args=plain), round(192e9), servers=2
    )
    assert found is not None
    assert 2 * 2**30 <= found.kv - sizes[0] < 3 * 2**30


def test_a_cache_is_given_where_a_card_is_shared_and_the_model_known() -> None:
    assert kv_cache(reading_servers("glm-ocr", [L4])[0]) == 10 << 30  # with the layout network
    assert KV_FLAG not in command(reading_servers("deepseek-ocr", [L4])[0])
    small = Card(0, "NVIDIA GeForce RTX 4060", 8.6)  # what is to spare would be all of it
    assert KV_FLAG not in command(reading_servers("glm-ocr", [small])[0])
    assert KV_FLAG not in command(reading_servers("openai", [B200], model="some/model")[0])
    tight = reading_servers("glm-ocr", [B200], memory=0.1)  # vLLM says what does not fit
    assert KV_FLAG not in command(tight[0])
    [own, _] = reading_servers("glm-ocr", [B200], more_flags=[KV_FLAG, "9000000000"])
    assert kv_cache(own) == 9_000_000_000


def test_servers_start_at_once_unless_one_measures_the_card_of_another() -> None:
    def groups(chosen: list[ServerChoice]) -> list[int]:
        return [len(g) for g in in_turns(chosen, lambda c: c.gpu, lambda c: command(c).split())]

    two = [B200, Card(1, "NVIDIA B200", 192.0)]
    assert groups(reading_servers("glm-ocr", two)) == [1, 1, 1, 1]
    assert groups(reading_servers("openai", two, model="some/model")) == [2, 2]
    mixed = [*reading_servers("glm-ocr", [B200]), embedding_server("Qwen/Qwen3-VL-Embedding-2B", B200)]
    assert groups(mixed) == [3]


def test_the_embedder_has_the_card_to_itself() -> None:
    choice = embedding_server("Qwen/Qwen3-VL-Embedding-2B", B200)
    words = command(choice)
    assert "--runner pooling" in words and "--stream-interval 1 " in words
    assert "--gpu-memory-utilization 0.85" in words and "--dtype bfloat16" in words
    assert not choice.probe


@pytest.mark.parametrize(
    ("given", "flag"),
    [
        ({}, "--max-model-len 16384 "),
        ({"max_tokens": 8_192}, "--max-model-len 16384 "),
        ({"max_tokens": 16_384}, "--max-model-len 24576"),  # a picture fits beside so long an answer
        ({"max_model_len": 131_072, "max_tokens": 16_384}, "--max-model-len 131072"),
        ({"max_model_len": 4_096}, "--max-model-len 4096"),
    ],
)
def test_a_server_has_the_context_that_was_asked_for_or_that_an_answer_needs(
    given: dict[str, int], flag: str
) -> None:
    words = command(reading_servers("glm-ocr", [L4], **given)[0]) + " "  # type: ignore[arg-type]
    assert flag in words and words.count("--max-model-len") == 1


def test_a_context_that_cannot_be_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="more than the 8,192 tokens of deepseek-ocr"):
        reading_servers("deepseek-ocr", [L4], max_model_len=16_384)
    with pytest.raises(UsageError, match="An answer of 9,000 tokens does not fit a context of 9,000"):
        RecogniseRemote(max_model_len=9_000, max_tokens=9_000)
    with pytest.raises(UsageError, match="--server have their own"):
        RecogniseRemote(max_model_len=9_000, servers=("http://a:1",))
    with pytest.raises(UsageError, match="--engine hf has none"):
        Ground(recogniser="deepseek-ocr-2", engine="hf", max_model_len=4_096)


@pytest.mark.parametrize(
    ("model", "flags", "embeds"),
    [
        ("Qwen/Qwen3-VL-Embedding-2B", (), True),
        ("/models/qwen3-embedding", (), True),
        ("qwen3-vl-embedding", (), True),
        ("BAAI/bge-m3", ("--runner", "pooling"), True),
        ("BAAI/bge-m3", ("--runner=pooling",), True),
        ("BAAI/bge-m3", (), False),
        ("zai-org/GLM-OCR", (), False),
    ],
)
def test_a_model_that_embeds_is_known_by_its_name_or_its_flags(
    model: str, flags: tuple[str, ...], embeds: bool
) -> None:
    assert is_embedder(model, flags) is embeds


@pytest.mark.parametrize("card", [B200, H200])
def test_one_that_embeds_fits_a_large_card_beside_those_that_read(card: Card) -> None:
    size, readers = round(card.memory_gb * 1e9), reading_servers("glm-ocr", [card])
    chosen = sharing_card(embedding_server(EMBEDDER, card), readers, card, size)
    assert chosen is not None
    read = memory_budget(readers[0].model, readers[0].command(), size, len(readers))
    embeds = memory_budget(chosen.model, chosen.command(), size, layout=False)
    assert read is not None and embeds is not None
    assert embeds.fits and embeds.server <= read.left - KV_SPARE
    assert embeds.kv_tokens >= 2 * 32_768  # two steps


def test_one_that_embeds_waits_where_the_card_is_small_or_not_known() -> None:
    large, alone = 150_750_000_000, embedding_server(EMBEDDER, H200)
    readers = reading_servers("glm-ocr", [H200])
    assert sharing_card(alone, readers, H200, None) is None
    assert sharing_card(alone, readers, H200, large - (8 << 30)) is None  # someone else's
    unknown = reading_servers("openai", [H200], model="someones/model")
    assert sharing_card(alone, unknown, H200, large) is None
    small = embedding_server(EMBEDDER, L4)
    assert sharing_card(small, reading_servers("glm-ocr", [L4]), L4, 24_000_000_000) is None
    assert sharing_card(small, [], L4, 24_000_000_000) is not None  # others read elsewhere
