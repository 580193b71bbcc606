"""Writes tiny checkpoints with random weights that a real server loads, without a hub or a network.

    .venv-vllm/bin/python tests/with_vllm/checkpoints.py FOLDER   # FOLDER/tiny-glm-ocr, FOLDER/tiny-qwen3-vl

Two layers each, 64 wide, float32, a byte tokenizer with the real model's special tokens. The output
layer is zero except for printable ASCII, so greedy text is readable, the same every time, and ends only
at max_tokens. What the shapes must obey, or the server does not start:

- vLLM's CPU attention knows head sizes 32, 64, 80, 96, 112, 128 and up: we take 32;
- the sections of the multimodal rotary embedding add up to half the head size;
- GLM-OCR's patch merger is as wide as the text model's MLP in vLLM and three times the vision
  output in transformers: 192 = 3 * 64 pleases both.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    GlmOcrConfig,
    GlmOcrForConditionalGeneration,
    PaddleOCRVLConfig,
    PaddleOCRVLImageProcessor,
    PaddleOCRVLProcessor,
    PreTrainedTokenizerFast,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
)

VOCABULARY = 320  # 256 bytes and room for the special tokens
CONTEXT = 32768
LAYERS = 2
WIDTH = 64
ROTARY = {"rope_type": "default", "mrope_section": [4, 6, 6], "rope_theta": 10000.0}

GLM_TOKENS = [
    "<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>", "<|system|>", "<|user|>",
    "<|assistant|>", "<|observation|>", "<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>",
    "<|end_of_video|>", "<|image|>", "<|video|>",
]  # fmt: skip
PADDLE_TOKENS = ["<|endoftext|>", "<|IMAGE_START|>", "<|IMAGE_PLACEHOLDER|>", "<|IMAGE_END|>"]
QWEN_TOKENS = [
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
    "<|image_pad|>", "<|video_pad|>",
]  # fmt: skip


def template(before: str, after: str, image: str, answer: str) -> str:
    """A chat template: each message between `before` and `after`, pictures as the `image` tokens."""
    part = (
        "{% if part.type in ('image', 'image_url') %}" + image + "{% elif part.type == 'text' %}"
        "{{ part.text }}{% endif %}"
    )
    content = (
        "{% if message.content is string %}{{ message.content }}{% else %}"
        "{% for part in message.content %}" + part + "{% endfor %}{% endif %}"
    )
    loop = "{% for message in messages %}" + before + content + after + "{% endfor %}"
    return loop + "{% if add_generation_prompt %}" + answer + "{% endif %}"


def write_tokenizer(folder: Path, special: list[str], end: str, chat: str) -> PreTrainedTokenizerFast:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_only = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    bytes_only.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bytes_only,
        eos_token=end,
        pad_token="<|endoftext|>",
        model_max_length=CONTEXT,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = chat
    tokenizer.save_pretrained(folder)
    return tokenizer


def write_model(folder: Path, model: Any, tokenizer: PreTrainedTokenizerFast) -> None:
    torch.manual_seed(0)
    printable = torch.zeros(VOCABULARY, dtype=torch.bool)
    printable[[tokenizer.convert_tokens_to_ids(chr(code)) for code in range(33, 127)]] = True
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.08)  # wide enough that two pictures give two texts
        model.get_output_embeddings().weight[~printable] = 0
    model.float().save_pretrained(folder)
    generation = {"eos_token_id": [tokenizer.eos_token_id], "pad_token_id": tokenizer.pad_token_id}
    write_json(folder / "generation_config.json", {**generation, "do_sample": False})


def write_processor(folder: Path, common: dict[str, Any], image: str, video: str, video_size: Any) -> None:
    write_json(folder / "preprocessor_config.json", {**common, "image_processor_type": image})
    video_settings = {**common, "video_processor_type": video, "size": video_size}
    write_json(folder / "video_preprocessor_config.json", video_settings)


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1))


def text_shape(**more: Any) -> dict[str, Any]:
    return {
        "vocab_size": VOCABULARY,
        "hidden_size": WIDTH,
        "intermediate_size": 3 * WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "max_position_embeddings": CONTEXT,
        "dtype": "float32",
        **more,
    }


def vision_shape(patch: int, **more: Any) -> dict[str, Any]:
    return {
        "depth": LAYERS,
        "hidden_size": WIDTH,
        "num_heads": 2,
        "intermediate_size": 2 * WIDTH,
        "out_hidden_size": WIDTH,
        "patch_size": patch,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        **more,
    }


def glm_ocr(folder: Path) -> None:
    chat = "[gMASK]<sop>" + template(
        "<|{{ message.role }}|>\n", "", "<|begin_of_image|><|image|><|end_of_image|>", "<|assistant|>\n"
    )
    tokenizer = write_tokenizer(folder, GLM_TOKENS, "<|endoftext|>", chat)
    number = tokenizer.convert_tokens_to_ids
    config = GlmOcrConfig(
        text_config=text_shape(
            pad_token_id=number("<|endoftext|>"),
            eos_token_id=[number("<|endoftext|>"), number("<|user|>")],
            rope_parameters={**ROTARY, "partial_rotary_factor": 1.0},
        ),
        vision_config=vision_shape(14, image_size=336),
        image_token_id=number("<|image|>"),
        video_token_id=number("<|video|>"),
        image_start_token_id=number("<|begin_of_image|>"),
        image_end_token_id=number("<|end_of_image|>"),
        video_start_token_id=number("<|begin_of_video|>"),
        video_end_token_id=number("<|end_of_video|>"),
    )
    write_model(folder, GlmOcrForConditionalGeneration(config), tokenizer)
    # the sizes of the published checkpoint: a picture has at most 9633792 / 2 / 28 / 28 = 6144 tokens
    size = {"shortest_edge": 12544, "longest_edge": 9633792}
    common = {
        "size": size,
        "patch_size": 14,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "do_rescale": True,
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
        "processor_class": "Glm46VProcessor",
    }
    write_processor(folder, common, "Glm46VImageProcessor", "Glm46VVideoProcessor", size)


def paddleocr_vl(folder: Path, **shape: Any) -> None:
    """Without weights: a server fills them. `shape` goes into the config as it is."""
    image = "<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>"
    tokenizer = write_tokenizer(folder, PADDLE_TOKENS, "<|endoftext|>", template("", "", image, "\n"))
    number = tokenizer.convert_tokens_to_ids
    named = {"extra_special_tokens": {"image_token": "<|IMAGE_PLACEHOLDER|>"}}
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder, **named)  # the processor asks it by this name
    tokenizer.save_pretrained(folder)
    config = PaddleOCRVLConfig(
        image_token_id=number("<|IMAGE_PLACEHOLDER|>"),
        vision_start_token_id=number("<|IMAGE_START|>"),
        vision_end_token_id=number("<|IMAGE_END|>"),
        architectures=["PaddleOCRVLForConditionalGeneration"],
        **shape,
    )
    config.save_pretrained(folder)
    # the sizes of the published checkpoint: a picture has 130 to 1,280 tokens
    size = {"shortest_edge": 130 * 28 * 28, "longest_edge": 1_280 * 28 * 28}
    processor = PaddleOCRVLProcessor(PaddleOCRVLImageProcessor(size=size), tokenizer)
    processor.save_pretrained(folder)
    write_json(folder / "generation_config.json", {"eos_token_id": number("<|endoftext|>")})


def qwen3_vl(folder: Path) -> None:
    chat = template(
        "<|im_start|>{{ message.role }}\n",
        "<|im_end|>\n",
        "<|vision_start|><|image_pad|><|vision_end|>",
        "<|im_start|>assistant\n",
    )
    tokenizer = write_tokenizer(folder, QWEN_TOKENS, "<|im_end|>", chat)
    number = tokenizer.convert_tokens_to_ids
    config = Qwen3VLConfig(
        text_config=text_shape(rope_parameters={**ROTARY, "mrope_interleaved": True}),
        vision_config=vision_shape(16, num_position_embeddings=2304, deepstack_visual_indexes=[0]),
        image_token_id=number("<|image_pad|>"),
        video_token_id=number("<|video_pad|>"),
        vision_start_token_id=number("<|vision_start|>"),
        vision_end_token_id=number("<|vision_end|>"),
        tie_word_embeddings=False,
    )
    write_model(folder, Qwen3VLForConditionalGeneration(config), tokenizer)
    common = {
        "size": {"shortest_edge": 65536, "longest_edge": 16777216},
        "patch_size": 16,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
        "processor_class": "Qwen3VLProcessor",
    }
    video_size = {"shortest_edge": 4096, "longest_edge": 25165824}
    write_processor(folder, common, "Qwen2VLImageProcessorFast", "Qwen3VLVideoProcessor", video_size)


def main() -> None:
    root = Path(sys.argv[1])
    for name, write in (("tiny-glm-ocr", glm_ocr), ("tiny-qwen3-vl", qwen3_vl)):
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        write(folder)
        print(folder, sum(file.stat().st_size for file in folder.iterdir()), "bytes")


if __name__ == "__main__":
    main()
