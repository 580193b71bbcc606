"""Writes checkpoints that have a published model's shape and empty weights: a server fills them at random.

`vllm serve FOLDER --load-format dummy` starts with one. Its file of weights has the published size, which the
memory of a card is computed from, and takes no place on the disk. Tokenizers know single bytes to read, and a
word for every other number to write: what a model says at random can then be embedded and found.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from tests.with_vllm import checkpoints

from penstock.engines.vllm.model_shape import SHAPES, ModelShape

# zai-org/GLM-OCR, config.json
GLM_TEXT: dict[str, Any] = {
    "vocab_size": 59_392,
    "hidden_size": 1_536,
    "intermediate_size": 4_608,
    "num_hidden_layers": 16,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 131_072,
    "dtype": "bfloat16",
    "rope_parameters": {
        "rope_type": "default",
        "mrope_section": [16, 24, 24],
        "partial_rotary_factor": 1.0,
        "rope_theta": 10_000.0,
    },
}
GLM_VISION: dict[str, Any] = {
    "depth": 24,
    "hidden_size": 1_024,
    "num_heads": 16,
    "intermediate_size": 4_096,
    "out_hidden_size": 1_536,
}
# Qwen/Qwen3-VL-Embedding-2B, config.json
QWEN_TEXT: dict[str, Any] = {
    "vocab_size": 151_936,
    "hidden_size": 2_048,
    "intermediate_size": 6_144,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "dtype": "bfloat16",
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 5_000_000.0,
        "mrope_section": [24, 20, 20],
        "mrope_interleaved": True,
    },
}
QWEN_VISION: dict[str, Any] = {
    "depth": 24,
    "hidden_size": 1_024,
    "intermediate_size": 4_096,
    "num_heads": 16,
    "out_hidden_size": 2_048,
    "deepstack_visual_indexes": [5, 11, 17],
}

# PaddlePaddle/PaddleOCR-VL-1.5, config.json
PADDLE_TEXT: dict[str, Any] = {
    "vocab_size": 103_424,
    "hidden_size": 1_024,
    "intermediate_size": 3_072,
    "num_hidden_layers": 18,
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "head_dim": 128,
    "max_position_embeddings": 131_072,
    "rms_norm_eps": 1e-5,
    "use_bias": False,
    "tie_word_embeddings": False,
    "dtype": "bfloat16",
    "rope_parameters": {"rope_type": "default", "mrope_section": [16, 24, 24], "rope_theta": 500_000.0},
}
PADDLE_VISION: dict[str, Any] = {
    "hidden_size": 1_152,
    "intermediate_size": 4_304,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "num_channels": 3,
    "image_size": 384,
    "patch_size": 14,
    "hidden_act": "gelu_pytorch_tanh",
    "layer_norm_eps": 1e-6,
    "attention_dropout": 0.0,
    "spatial_merge_size": 2,
}


def glm_ocr(folder: Path) -> Path:
    checkpoints.glm_ocr(_made(folder))
    return _with_shape(folder, GLM_TEXT, GLM_VISION, SHAPES["zai-org/GLM-OCR"])


def paddleocr_vl(folder: Path) -> Path:
    checkpoints.paddleocr_vl(_made(folder), text_config=PADDLE_TEXT, vision_config=PADDLE_VISION)
    _name_all_tokens(folder / "tokenizer.json", PADDLE_TEXT["vocab_size"])
    return folder


def qwen3_vl_embedding_2b(folder: Path) -> Path:
    checkpoints.qwen3_vl(_made(folder))
    return _with_shape(folder, QWEN_TEXT, QWEN_VISION, SHAPES["Qwen/Qwen3-VL-Embedding-2B"])


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _with_shape(folder: Path, text: dict[str, Any], vision: dict[str, Any], shape: ModelShape) -> Path:
    """Gives a tiny checkpoint the shape of the real one, and weights that are a hole of the real size."""
    config = json.loads((folder / "config.json").read_text())
    config["text_config"] |= text
    config["vision_config"] |= vision
    config["dtype"] = "bfloat16"
    (folder / "config.json").write_text(json.dumps(config))
    for old in folder.glob("*.safetensors*"):
        old.unlink()
    _leave_hole(folder / "model.safetensors", shape.weights(2))
    _name_all_tokens(folder / "tokenizer.json", config["text_config"]["vocab_size"])
    return folder


def _leave_hole(path: Path, size: int) -> None:
    header = json.dumps({"none": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(file.tell() + size)


def _name_all_tokens(path: Path, count: int) -> None:
    """Gives each number below `count` that means nothing a word, with a space before it."""
    tokenizer = json.loads(path.read_text("utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary |= {token["content"]: token["id"] for token in tokenizer["added_tokens"]}  # they keep theirs
    known = set(vocabulary.values())
    vocabulary |= {f"Ġword{number}": number for number in range(count) if number not in known}
    path.write_text(json.dumps(tokenizer, ensure_ascii=False), "utf-8")
