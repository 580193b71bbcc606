"""What fits a card: weights, activations and KV cache of its servers, and the layout network next to them.

    budget = memory_budget("zai-org/GLM-OCR", preset("l4").command(...), card_bytes=23_034 * 2**20)
    print("\n".join(budget.lines()))

Computed, not measured: weights and KV cache follow from the model's shape, activations are an estimate with
its reason. The server itself measures when it starts, and its log has the last word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from penstock.engines.vllm.embedding_presets import is_fp8
from penstock.engines.vllm.model_shape import NUMBER_BYTES, shape_of
from penstock.sizes import memory_size

# GLM-OCR on a B200: the KV cache became 17 GiB smaller for each 131,072 tokens that a step may hold (three
# servers, 131,072 to 524,288), and 0.7 GiB went to what does not grow: CUDA's own, graphs, the sampler.
ACTIVATION_BYTES_A_TOKEN = 17 * 2**30 // 131_072
ACTIVATION_REASON = (
    f"estimate: {memory_size(ACTIVATION_BYTES_A_TOKEN)} for each token of a step at GLM-OCR's width,"
    " which is what longer steps took from a B200's KV cache"
)
FIXED_BYTES = 7 * 2**30 // 10
# our vision towers' own graphs, measured on an H200; small cards have none (vllm_plugin/patch.py, MIN_MEMORY)
MIN_TOWER_CARD = 15_000_000_000
TOWER_BYTES: Mapping[str, int] = MappingProxyType(
    {
        "zai-org/GLM-OCR": 900_000_000,
        "PaddlePaddle/PaddleOCR-VL-1.5": 940_000_000,
        "deepseek-ai/DeepSeek-OCR": 642_000_000,
        "Qwen/Qwen3-VL-Embedding-2B": 369_000_000,
    }
)
ACTIVATION_WIDTH = 1_536  # GLM-OCR's; a wider model's activations are wider
LAYOUT_BYTES_A_PAGE = 6_100_000_000 // 64  # PP-DocLayoutV3, 64 pages of 300 dpi, measured on an H200
LAYOUT_BATCH = 16
SHARE = 0.9  # of a card, vLLM's own where no flag says otherwise
KV_FLAG = "--kv-cache-memory-bytes"
KV_SPARE = 2 * 2**30  # of a server whose cache we compute: four times what a B200's measured ones were off
CONTEXTS_HELD = 4  # by a server that shares its card: 65,536 tokens, two steps of the largest presets
# what nvidia-smi calls the memory of the smallest card of a preset, in MiB
CARD_MIB: Mapping[str, int] = MappingProxyType(
    {"b200": 183_359, "h200": 143_771, "a100": 40_960, "l4": 23_034, "rtx4090": 24_564, "rtx4060": 8_188}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBudget:
    """The memory of one card in bytes. What is of a server is of each of its `servers`."""

    card: int
    servers: int
    share: float  # of the card, for each server
    weights: int
    activations: int
    fixed: int
    kv_token: int
    context: int | None  # tokens of the longest request
    sequences: int | None
    layout: int
    kv_given: int | None = None  # by KV_FLAG, whatever the share says

    @property
    def server(self) -> int:
        return max(int(self.card * self.share), self.besides_kv + (self.kv_given or 0))

    @property
    def kv(self) -> int:
        """The KV cache of each server: as given, or what is left of its share; below zero it does not fit."""
        return self.server - self.besides_kv if self.kv_given is None else self.kv_given

    @property
    def besides_kv(self) -> int:
        return self.weights + self.activations + self.fixed

    @property
    def kv_tokens(self) -> int:
        return max(0, self.kv) // self.kv_token

    @property
    def left(self) -> int:
        """What the servers and the layout network leave of the card."""
        return self.card - self.servers * self.server - self.layout

    @property
    def fits(self) -> bool:
        """Returns whether the longest request fits each server, and the layout network the rest."""
        return self.left >= 0 and self.kv_tokens >= (self.context or 1)

    def facts(self) -> dict[str, int | float | bool | None]:
        """For programs: bytes, tokens and whether it fits."""
        return {
            "card": self.card, "servers": self.servers, "share": self.share, "weights": self.weights,
            "activations": self.activations, "fixed": self.fixed, "kv": self.kv, "kv_token": self.kv_token,
            "kv_tokens": self.kv_tokens, "layout": self.layout, "left": self.left, "fits": self.fits,
        }  # fmt: skip

    def lines(self) -> list[str]:
        """The sum for people, a line a part."""
        each = "the server's" if self.servers == 1 else f"each of {self.servers} servers'"
        return [
            f"card          {memory_size(self.card)}",
            f"{each} share {memory_size(self.server)} ({self.share:g})",
            f"  weights     {memory_size(self.weights)}",
            f"  activations {memory_size(self.activations)} ({ACTIVATION_REASON})",
            f"  other       {memory_size(self.fixed)} (CUDA, graphs, also the vision tower's)",
            f"  KV cache    {memory_size(self.kv)}: {self._room()}",
            *self._layout_line(),
            f"left          {memory_size(self.left)}" + ("" if self.fits else "  IT DOES NOT FIT"),
        ]

    def sentence(self) -> str:
        """One line: 'weights 2.1 GiB, KV cache 12.3 GiB (201,000 tokens), 3 GiB left'."""
        if not self.fits:
            sizes = f"weights {memory_size(self.weights)}, KV cache {memory_size(self.kv)}"
            return f"does not fit {memory_size(self.card)}: {sizes}"
        many = f"{self.servers} servers, each with " if self.servers > 1 else ""
        return (
            f"{many}weights {memory_size(self.weights)}, activations {memory_size(self.activations)},"
            f" KV cache {memory_size(self.kv)} ({self.kv_tokens:,} tokens);"
            f"{f' layout {memory_size(self.layout)},' if self.layout else ''} {memory_size(self.left)} left"
        )

    def _layout_line(self) -> list[str]:
        """Returns 0 for models that read whole pages: no layout network runs with them."""
        why = f"batches of {LAYOUT_BATCH} pages; 91 MiB a page were measured on an H200"
        return [f"layout        {memory_size(self.layout)} ({why})"] if self.layout else []

    def _room(self) -> str:
        """ "201,000 tokens of 64 KiB, 12 requests of 16,384 (128 sequences allowed)"."""
        tokens = f"{self.kv_tokens:,} tokens of {memory_size(self.kv_token)}"
        if not self.context:
            return tokens
        longest = f"{self.kv_tokens // self.context} requests of {self.context:,}"
        return f"{tokens}, {longest}" + (f" ({self.sequences:,} sequences allowed)" if self.sequences else "")


def memory_budget(
    model: str,
    command: Sequence[str],
    card_bytes: int,
    servers: int = 1,
    layout: bool = True,
    vision: str = "auto",
) -> MemoryBudget | None:
    """Returns the budget of `servers` with this `vllm serve` command and vision tower on a card.

    None for a model whose shape we do not know, or where there is no card.
    """
    shape, flags = shape_of(model), _flags(command)
    if shape is None or card_bytes <= 0:
        return None
    number = NUMBER_BYTES.get(flags.get("--dtype", "auto"), 2)
    packed = 1 if is_fp8(model) else NUMBER_BYTES.get(flags.get("--quantization", ""), number)
    cached = 1 if flags.get("--kv-cache-dtype", "").startswith("fp8") else number
    step = _whole(flags.get("--max-num-batched-tokens")) or 8_192  # vLLM's own on a large card
    return MemoryBudget(
        card=card_bytes,
        servers=servers,
        share=_share(flags.get("--gpu-memory-utilization")),
        weights=shape.weights(packed),
        activations=step * ACTIVATION_BYTES_A_TOKEN * shape.width // ACTIVATION_WIDTH,
        fixed=FIXED_BYTES + _tower(model, vision, card_bytes),
        kv_token=shape.kv_token(cached),
        context=_whole(flags.get("--max-model-len")),
        sequences=_whole(flags.get("--max-num-seqs")),
        layout=LAYOUT_BATCH * LAYOUT_BYTES_A_PAGE if layout else 0,
        kv_given=_whole(flags.get(KV_FLAG)),
    )


def shared_card_flags(
    model: str, command: Sequence[str], card_bytes: int, servers: int, vision: str
) -> tuple[str, ...]:
    """Returns the flag for the KV cache of one of a card's `servers`, or nothing for an unknown model.

    A server with this flag does not measure the card, so another server, or the layout network, may start at
    the same time.
    """
    budget = memory_budget(model, command, card_bytes, servers, vision=vision)
    cache = (budget.kv - KV_SPARE) >> 30 << 30 if budget else 0
    if budget is None or budget.kv_given is not None or cache < budget.kv_token * (budget.context or 1):
        return ()
    return (KV_FLAG, str(cache))


def flags_within(budget: MemoryBudget, room: int) -> tuple[str, ...]:
    """Returns the flags of a server that takes at most `room` bytes of its card; nothing if it cannot."""
    longest = budget.kv_token * (budget.context or 1)
    cache = min(room - budget.besides_kv - KV_SPARE, CONTEXTS_HELD * longest) >> 30 << 30
    if cache < longest:
        return ()
    share = (budget.besides_kv + cache) / budget.card
    return (KV_FLAG, str(cache), "--gpu-memory-utilization", f"{share:.3f}")


def measures_its_card(command: Sequence[str]) -> bool:
    """Returns whether a server sizes its KV cache by the free memory of its card at its start."""
    return KV_FLAG not in _flags(command)


def memory_of_card(memory_gb: float, preset: str) -> int:
    """Returns a card's memory; of one that is not here, the smallest of its preset."""
    return round(memory_gb * 1e9) or CARD_MIB[preset] << 20


def _tower(model: str, vision: str, card_bytes: int) -> int:
    """What the graphs of our vision tower take; vLLM's own tower has none."""
    return 0 if vision == "plain" or card_bytes < MIN_TOWER_CARD else TOWER_BYTES.get(model, 0)


def _flags(command: Sequence[str]) -> dict[str, str]:
    """The flags with a value, given as `--flag N` or `--flag=N`; the last one counts."""
    flat = [part for word in command for part in (word.split("=", 1) if word.startswith("--") else [word])]
    return {flag: value for flag, value in pairwise(flat) if flag.startswith("--")}


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


def _share(text: str | None) -> float:
    try:
        return float(text) if text else SHARE
    except ValueError:  # vLLM says what is wrong with it
        return SHARE
