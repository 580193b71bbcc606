"""Writes folders that make a server or transformers build DeepSeek-OCR in its real shape, without weights.

    python benchmarks/gpu/deepseek_shape.py FOLDER            # needs tokenizers and transformers
    python benchmarks/gpu/deepseek_shape.py FOLDER --tiny     # the language model small, for a CPU

FOLDER/deepseek-ocr and FOLDER/deepseek-ocr-2 are for `vllm serve ... --load-format dummy`;
FOLDER/deepseek-ocr-2-hf is the second model as transformers spells it, for weights drawn there.
The sizes are those of the published configurations. Random weights say nothing, but take as long: the
tokenizer has a word for each of the ids, so that answers have the length of real ones, and the special
tokens stand where they stand in the real one. A vLLM builds the vision towers from constants of its
own, so those are large in the tiny shape too.
"""

from __future__ import annotations

import argparse
import itertools
import json
import string
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

BEGIN, END, PAD = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>"
SPECIAL = (
    "<image>", "<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>", "<|grounding|>",
    "<td>", "</td>", "<tr>", "</tr>", "<|User|>", "<|Assistant|>",
)  # fmt: skip
FIRST_SPECIAL = 128_815  # the id of <image>; <td> is then 128,821, which requests name
VOCABULARY = 129_280
CONTEXT = 8_192

LANGUAGE = {
    "vocab_size": VOCABULARY, "hidden_size": 1280, "intermediate_size": 6848, "num_hidden_layers": 12,
    "num_attention_heads": 10, "num_key_value_heads": 10, "n_routed_experts": 64, "num_experts_per_tok": 6,
    "moe_intermediate_size": 896, "n_shared_experts": 2, "n_group": 1, "topk_group": 1,
    "topk_method": "greedy", "max_position_embeddings": CONTEXT, "bos_token_id": 0, "eos_token_id": 1,
}  # fmt: skip
TINY = {
    "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 2, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
}  # fmt: skip


def tokenizer() -> Tokenizer:
    """Bytes, then words of three letters that only decoding uses, then the special tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    letters = itertools.product(string.ascii_letters, repeat=3)
    words = itertools.chain((BEGIN, END, PAD), alphabet, ("Ġ" + "".join(three) for three in letters))
    vocabulary = {word: number for number, word in enumerate(itertools.islice(words, FIRST_SPECIAL))}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(token, special=True) for token in (BEGIN, END, PAD, *SPECIAL)])
    assert made.token_to_id("<image>") == FIRST_SPECIAL
    return made


def write_tokenizer(folder: Path) -> None:
    tokenizer().save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BEGIN,
        "eos_token": END,
        "pad_token": PAD,
        "model_max_length": CONTEXT,
        "clean_up_tokenization_spaces": False,
    }
    write_json(folder / "tokenizer_config.json", settings)
    write_json(folder / "generation_config.json", {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2})


def write_for_vllm(folder: Path, architecture: str, projector: int, language: dict[str, Any]) -> None:
    """`projector` is how wide the pictures' features are: SAM's and CLIP's, or the second encoder's."""
    no_latent = {"kv_lora_rank": None, "q_lora_rank": None, "use_mla": False}  # plain attention heads
    no_latent |= dict.fromkeys(("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"), 0)
    config = {
        "architectures": [architecture],
        "model_type": "deepseek_vl_v2",
        "dtype": "bfloat16",
        "tile_tag": "2D",
        "global_view_pos": "head",
        "candidate_resolutions": [[1024, 1024]],
        "bos_token_id": 0,
        "eos_token_id": 1,
        "language_config": {
            "architectures": ["DeepseekV2ForCausalLM"],
            "first_k_dense_replace": 1,
            "dtype": "bfloat16",
            **no_latent,
            **language,
        },
        "projector_config": {
            "model_type": "mlp_projector",
            "projector_type": "linear",
            "input_dim": projector,
            "n_embed": language["hidden_size"],
        },
        "vision_config": {"model_type": "vision", "model_name": "deeplip_b_l", "image_size": 1024},
    }
    write_json(folder / "config.json", config)
    processor = {
        "processor_class": "DeepseekVLV2Processor",
        "candidate_resolutions": [[1024, 1024]],
        "patch_size": 16,
        "downsample_ratio": 4,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
        "image_token": "<image>",
        "pad_token": PAD,
        "sft_format": "deepseek",
    }
    write_json(folder / "processor_config.json", processor)
    write_tokenizer(folder)


def write_for_transformers(folder: Path, language: dict[str, Any], tiny: bool) -> None:
    from transformers import (
        DeepseekOcr2Config,
        DeepseekOcr2ImageProcessor,
        DeepseekOcr2Processor,
        PreTrainedTokenizerFast,
    )

    write_tokenizer(folder)
    encoder = {
        "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 2 if tiny else 24,
        "num_attention_heads": 14, "num_key_value_heads": 2,
    }  # fmt: skip
    layers = ["dense"] + ["sparse"] * (language["num_hidden_layers"] - 1)
    config = DeepseekOcr2Config(
        vision_config={"sam_config": {"num_hidden_layers": 3} if tiny else {}, "encoder_config": encoder},
        text_config={**language, "mlp_layer_types": layers},
        image_token_id=FIRST_SPECIAL,
        architectures=["DeepseekOcr2ForConditionalGeneration"],
    )
    config.save_pretrained(folder)
    words = PreTrainedTokenizerFast.from_pretrained(folder)
    DeepseekOcr2Processor(DeepseekOcr2ImageProcessor(), words).save_pretrained(folder)


def write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    language = {**LANGUAGE, **(TINY if args.tiny else {})}
    first, second, third = (args.folder / f"deepseek-ocr{end}" for end in ("", "-2", "-2-hf"))
    for folder in (first, second, third):
        folder.mkdir(parents=True, exist_ok=True)
    write_for_vllm(first, "DeepseekOCRForCausalLM", 2048, language)
    write_for_vllm(second, "DeepseekOCR2ForCausalLM", 896, language)
    write_for_transformers(third, language, args.tiny)
    print(*(str(folder) for folder in (first, second, third)), sep="\n")


if __name__ == "__main__":
    main()
