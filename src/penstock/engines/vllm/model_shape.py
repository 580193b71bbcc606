"""What of a model its memory follows from: how many parameters it has, and what a token's cache takes.

Of a model that we do not know by name, its folder says it, or the one where the Hub's clients keep it: by the
size of the weights, or, where those are not there or have another form, counted from config.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from penstock.engines.vllm.embedding_presets import is_fp8
from penstock.engines.weights.hub_cache import snapshot_of

NUMBER_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "half": 2, "bf16": 2, "auto": 2, "fp8": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """What memory follows from. `embeddings` are the parameters that fp8 leaves as they are."""

    parameters: int
    embeddings: int
    width: int
    layers: int
    kv_heads: int
    head_dim: int
    origin: str

    def weights(self, number_bytes: int) -> int:
        kept = self.embeddings * max(2, number_bytes)
        return (self.parameters - self.embeddings) * number_bytes + kept

    def kv_token(self, number_bytes: int) -> int:
        """Bytes of KV cache for one token: a key and a value in each layer."""
        return self.layers * self.kv_heads * self.head_dim * 2 * number_bytes


_DEEPSEEK = ModelShape(
    parameters=3_336_000_000,
    embeddings=2 * 129_280 * 1_280,
    width=1_280,
    layers=12,
    kv_heads=10,
    head_dim=128,
    origin="6.2 GiB of published bfloat16 weights; 12 layers of 10 heads",
)
SHAPES: Mapping[str, ModelShape] = MappingProxyType(
    {
        "zai-org/GLM-OCR": ModelShape(
            parameters=1_107_405_824,
            embeddings=2 * 59_392 * 1_536,
            width=1_536,
            layers=16,
            kv_heads=8,
            head_dim=128,
            origin="counted from its config.json",
        ),
        "PaddlePaddle/PaddleOCR-VL-1.5": ModelShape(
            parameters=959_000_000,
            embeddings=103_424 * 1_024,
            width=1_024,
            layers=18,
            kv_heads=2,
            head_dim=128,
            origin="0.9 B as published; its config.json",
        ),
        "deepseek-ai/DeepSeek-OCR": _DEEPSEEK,
        "deepseek-ai/DeepSeek-OCR-2": _DEEPSEEK,
        "Qwen/Qwen3-VL-Embedding-2B": ModelShape(
            parameters=2_127_532_032,
            embeddings=151_936 * 2_048,
            width=2_048,
            layers=28,
            kv_heads=8,
            head_dim=128,
            origin="counted from its config.json",
        ),
    }
)


def shape_of(model: str) -> ModelShape | None:
    """Returns the shape of a model that we know by name, or whose folder is here; None for others."""
    published = model[: -len("-FP8")] if is_fp8(model) else model  # the same shape in other numbers
    if published in SHAPES:
        return SHAPES[published]
    folder = Path(model) if Path(model).is_dir() else snapshot_of(model)
    try:
        return _shape_in(folder) if folder is not None else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # not a model's
        return None


def _shape_in(folder: Path) -> ModelShape | None:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    text = config.get("text_config") or config.get("language_config") or config
    dtype = config.get("dtype") or config.get("torch_dtype") or text.get("dtype") or "bfloat16"
    heads, width = int(text["num_attention_heads"]), int(text["hidden_size"])
    tables = 1 if config.get("tie_word_embeddings", text.get("tie_word_embeddings")) else 2
    embeddings = tables * int(text["vocab_size"]) * width
    shape = ModelShape(
        parameters=_stored_bytes(folder) // NUMBER_BYTES.get(str(dtype), 2),
        embeddings=embeddings,
        width=width,
        layers=int(text["num_hidden_layers"]),
        kv_heads=int(text.get("num_key_value_heads") or heads),
        head_dim=int(text.get("head_dim") or width // heads),
        origin="its folder's config.json and weights",
    )
    if shape.parameters:
        return shape
    if any("expert" in name for name in text):  # which layers have how many of them has no common name
        return None
    counted = embeddings + _text_parameters(shape, heads, text) + _vision_parameters(config)
    return replace(shape, parameters=counted, origin="counted from its folder's config.json")


def _stored_bytes(folder: Path) -> int:
    """Returns the size of a folder's weights: as their index says, since some may not be here yet."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        return int(json.loads(index.read_text("utf-8"))["metadata"]["total_size"])
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))


def _text_parameters(shape: ModelShape, heads: int, text: Mapping[str, Any]) -> int:
    """Counts the layers of a transformer whose inner products are gated, as those of all that we know."""
    attention = 2 * shape.width * shape.head_dim * (heads + shape.kv_heads)
    return shape.layers * (attention + 3 * shape.width * int(text["intermediate_size"]))


def _vision_parameters(config: Mapping[str, Any]) -> int:
    """Counts the tower, and roughly what takes its pictures to the text's width."""
    vision = config.get("vision_config") or {}
    if not vision:
        return 0
    width, depth = int(vision["hidden_size"]), int(vision.get("depth") or vision["num_hidden_layers"])
    out = int(vision.get("out_hidden_size") or width)
    layer = 4 * width * width + 3 * width * int(vision["intermediate_size"])
    return depth * layer + 4 * width * out + 10 * out * out
