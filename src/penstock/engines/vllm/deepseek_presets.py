"""How to start a server for DeepSeek-OCR on each kind of card: what fits, and why.

The weights take 6.2 GiB in bfloat16 and a token of KV cache 60 KiB (12 layers, 10 heads of 128); a page is
about 2,000 tokens, 117 MiB. The context is 8,192. vLLM reads pages with at most six tiles whatever a preset
says, so there is nothing to choose there.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.engines.vllm.context import PAGE_CONTEXT
from penstock.engines.vllm.presets import Card, Flag, Preset, preset

_PROCESSOR = "vllm.model_executor.models.deepseek_ocr:NGramPerReqLogitsProcessor"
_COMMON = (
    Flag("--max-model-len", str(PAGE_CONTEXT), "the model's own; 16,384 is refused"),
    Flag("--logits-processors", _PROCESSOR, "the n-gram guard; without it one page in thirty loops"),
    Flag("--dtype", "bfloat16", "as the weights were published; float16 overflows in the vision tower"),
)
_ENV = (
    Flag(
        "VLLM_USE_V2_MODEL_RUNNER",
        "0",
        "vLLM 0.32's second model runner refuses the guard, which is written for the first",
    ),
)
FP8_CARDS = frozenset({"rtx4060"})
_FP8 = Flag("--quantization", "fp8", "6.2 GiB of weights leave no room for a page; in fp8 they take 3.4")
# sequences, share of the memory, tokens a step
_SIZES = {
    "rtx4090": (100, 0.9, 8_192, "24 GiB hold 13 GiB of KV cache: 115 pages of 2,000 tokens"),
    "rtx4060": (10, 0.8, 8_192, "in fp8 8 GiB hold 1.4 GiB of KV cache: 11 pages of 2,000 tokens"),
    "l4": (96, 0.9, 8_192, "as the 4090, with 22.5 GiB"),
    "a100": (192, 0.9, 16_384, "40 GiB hold 27 GiB of KV cache: 230 pages"),
    "h200": (512, 0.9, 32_768, "116 GiB of KV cache hold 1,000 pages of 2,000 tokens, so 512 always fit"),
    "b200": (512, 0.9, 32_768, "as the H200"),
}


def page_preset(name: str, card: Card | None) -> Preset:
    """Returns the preset for whole pages on a card. Raises UsageError for a card that is too small."""
    known = preset(name, card)
    if known.name not in _SIZES:  # the CPU: for tests, and for users who can wait
        return replace(known, flags=(*known.flags, _COMMON[0]), servers=1)
    seqs, share, tokens, why = _SIZES[known.name]
    flags = (
        *_COMMON,
        Flag("--gpu-memory-utilization", f"{share:g}", why),
        Flag("--max-num-seqs", str(seqs), why),
        Flag("--max-num-batched-tokens", str(tokens), "nine pages' pictures a step, or thirty-six"),
    )
    packed = (_FP8,) if known.name in FP8_CARDS else ()
    in_flight = seqs + seqs // 4
    return replace(known, servers=1, in_flight=in_flight, flags=(*flags, *packed), env=(*known.env, *_ENV))
