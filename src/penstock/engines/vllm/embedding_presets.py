"""How to start a server that embeds texts and pictures (Qwen3-VL-Embedding) on each kind of card.

These numbers are for a card that it has to itself; on one that it shares it has less (server_plan.py).
A token of KV cache takes 112 KiB, and the weights 4.0 GiB in bfloat16 or 2.3 GiB in fp8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from penstock.engines.vllm.presets import Card, Flag, Preset, preset

EMBEDDING = "embedding"  # what `preset_for` calls these servers, apart from recognisers' names
MODEL = "Qwen/Qwen3-VL-Embedding-2B"
NAMES = {"qwen3-vl-embedding": MODEL}  # for people
SHARE = 0.85  # of the card's memory
FP8_CARDS = frozenset({"rtx4060"})

_POOLING = (
    Flag("--runner", "pooling", "vectors are asked of it, not words"),
    Flag("--stream-interval", "1", "with more, vLLM 0.32 dies of its first pooling request"),
    Flag(
        "--mm-processor-kwargs",
        '{"size": {"shortest_edge": 4096, "longest_edge": 1310720}}',
        "pictures are capped where the model's training was",
    ),
)
_CONTEXT = Flag("--max-model-len", "16384", "24,000 characters of Korean, the longest text that is sent")
_SHARE = Flag("--gpu-memory-utilization", f"{SHARE:g}", "it has the card to itself")
_FP8 = Flag("--quantization", "fp8", "in bfloat16 the weights leave no room for a text of full length")
POOLING_FLAGS = tuple(word for flag in _POOLING for word in flag.words)


def embedding_preset(name: str, card: Card | None) -> Preset:
    """Returns the preset of a card with the flags for pooling: one server that has it to itself."""
    known = preset(name, card)
    own = () if known.name == "cpu" else (_SHARE, *((_FP8,) if known.name in FP8_CARDS else ()))
    return replace(known, servers=1, flags=(*known.flags, _CONTEXT, *_POOLING, *own))


def is_embedder(model: str, flags: Sequence[str] = ()) -> bool:
    """Whether a model makes vectors: by its name, its folder, or the flags a user gives for it."""
    given = {word for word in flags if "=" in word} | {f"{a}={b}" for a, b in pairwise(flags)}
    named = model in NAMES or "embedding" in Path(model).name.lower()
    return named or "--runner=pooling" in given or (Path(model) / "modules.json").is_file()


def is_fp8(model: str) -> bool:
    """Whether a model was published with weights in eight bits, which no flag may ask for once more."""
    return Path(model).name.lower().endswith("-fp8")
