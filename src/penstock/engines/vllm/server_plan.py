"""Decides which vLLM servers read or embed on this machine: model, preset, card and flags.

The one place that decides, for every verb: `parse`, `run`, `eval run`, `serve` and `engine start`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.choices import check_choice
from penstock.engines.chat.deepseek.pages import MODELS as PAGE_MODELS
from penstock.engines.chat.recognisers import recogniser
from penstock.engines.vllm.context import context_flags
from penstock.engines.vllm.deepseek_presets import page_preset
from penstock.engines.vllm.embedding_presets import EMBEDDING, embedding_preset, is_fp8
from penstock.engines.vllm.memory_budget import (
    LAYOUT_BATCH,
    LAYOUT_BYTES_A_PAGE,
    flags_within,
    measures_its_card,
    memory_budget,
    memory_of_card,
    shared_card_flags,
)
from penstock.engines.vllm.plugin import check_vision
from penstock.engines.vllm.presets import Card, Preset, preset
from penstock.engines.vllm.server import ManagedServer
from penstock.errors import UsageError

# what replaces the preset's own numbers; "auto" leaves them, because fp8 was slower where it was measured
DTYPES: dict[str, tuple[str, ...]] = {
    "auto": (),
    "bf16": ("--dtype", "bfloat16"),
    "fp8": ("--quantization", "fp8"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChoice:
    """One server to start. `probe`: whether it is asked about a picture before it counts as up."""

    model: str
    preset: Preset
    gpu: int | None
    flags: tuple[str, ...] = ()
    prompt: str = "Text Recognition:"
    probe: bool = True
    vision: str = "auto"

    def managed(self, port: int = 0, niceness: int = 0) -> ManagedServer:
        return ManagedServer(
            self.model,
            self.preset,
            gpu=self.gpu,
            port=port,
            niceness=niceness,
            extra_args=self.flags,
            prompt=self.prompt,
            probe=self.probe,
            vision=self.vision,
        )

    def command(self) -> list[str]:
        """Returns its command without the port."""
        return self.preset.command(self.model, port=0, extra_args=self.flags)


def reading_servers(
    name: str,
    found: Sequence[Card],
    *,
    model: str = "",
    preset_name: str = "auto",
    dtype: str = "auto",
    memory: float | None = None,
    vision: str = "auto",
    max_model_len: int = 0,
    max_tokens: int = 0,
    more_flags: Sequence[str] = (),
) -> list[ServerChoice]:
    """Returns the servers for a recogniser by its name: as many on every card as its preset says.

    Without a card it is one on the CPU. `memory` is the share of a card that its servers have together;
    `max_model_len` is the context, 0 for one that holds a picture and `max_tokens` of an answer;
    `more_flags` are a user's own and replace ours.
    """
    known = PAGE_MODELS[name] if name in PAGE_MODELS else recogniser(name)
    if not (model or known.model):
        raise UsageError(f"{name!r} has no model of its own.", "Name the model to serve instead.")
    check_vision(vision)
    context = context_flags(name, max_model_len, max_tokens)
    choices: list[ServerChoice] = []
    places: list[Card | None] = [*found] or [None]
    for card in places:
        chosen = _in_dtype(preset_for(name, preset_name, card), dtype, model)
        own = (*known.server_flags, *dtype_flags(dtype, chosen), *_memory_flags(memory, chosen), *context)
        served = model or known.model
        is_alone = chosen.servers == 1 and name in PAGE_MODELS  # on the card: no layout network either
        cache = () if is_alone else _own_cache(served, chosen, (*own, *more_flags), card, vision)
        choice = ServerChoice(
            model=served,
            preset=chosen,
            gpu=card.index if card else None,
            flags=(*own, *cache, *more_flags),
            prompt=known.prompt("text"),
            vision=vision,
        )
        choices += [choice] * chosen.servers
    return choices


def embedding_server(
    model: str,
    card: Card | None,
    *,
    preset_name: str = "auto",
    dtype: str = "auto",
    memory: float | None = None,
    max_model_len: int = 0,
    more_flags: Sequence[str] = (),
    vision: str = "auto",
) -> ServerChoice:
    """Returns the one server that embeds on a card, which it has to itself, or on the CPU."""
    chosen = _in_dtype(preset_for(EMBEDDING, preset_name, card), dtype, model)
    context = ("--max-model-len", str(max_model_len)) if max_model_len else ()
    own = (*dtype_flags(dtype, chosen), *_memory_flags(memory, chosen), *context)
    gpu = card.index if card else None
    flags = (*own, *more_flags)
    return ServerChoice(model=model, preset=chosen, gpu=gpu, flags=flags, probe=False, vision=vision)


def sharing_card(
    alone: ServerChoice, readers: Sequence[ServerChoice], card: Card, free: int | None
) -> ServerChoice | None:
    """Returns the server that embeds, made for what `readers` and the layout network leave of its card.

    `free` are the bytes of the card that are free before the readers start. None where too little is
    left, or where that cannot be known: a server that measures the card would measure the others.
    """
    size = memory_of_card(card.memory_gb, alone.preset.name)
    others = [reader for reader in readers if reader.gpu == alone.gpu]
    own = memory_budget(alone.model, alone.command(), size, layout=False, vision=alone.vision)
    taken = _taken(others, size)
    if own is None or taken is None or free is None:
        return None
    flags = flags_within(own, free - taken)
    return replace(alone, flags=(*alone.flags, *flags)) if flags else None


def _taken(readers: Sequence[ServerChoice], size: int) -> int | None:
    """Returns the bytes of a card that its readers will hold, and the layout network; None if unknown."""
    if not readers:
        return LAYOUT_BATCH * LAYOUT_BYTES_A_PAGE
    one, command = readers[0], readers[0].command()
    budget = memory_budget(one.model, command, size, len(readers), vision=one.vision)
    return None if budget is None or measures_its_card(command) else budget.card - budget.left


def preset_for(name: str, preset_name: str, card: Card | None) -> Preset:
    """Returns the preset of a recogniser or of EMBEDDING: some have numbers of their own."""
    if name == EMBEDDING:
        return embedding_preset(preset_name, card)
    return page_preset(preset_name, card) if name in PAGE_MODELS else preset(preset_name, card)


def requests_in_flight(choices: Sequence[ServerChoice]) -> int:
    """Returns how many requests keep these servers busy: a preset's number is for its whole card."""
    by_card = {choice.gpu: choice.preset.in_flight for choice in choices}
    return sum(by_card.values())


def check_dtype(dtype: str) -> None:
    """Raises UsageError for numbers we do not know."""
    check_choice("--ocr-dtype", dtype, DTYPES)


def dtype_flags(dtype: str, chosen: Preset) -> tuple[str, ...]:
    """Returns the flags for `--ocr-dtype`. Raises UsageError for one we do not know or the CPU cannot do."""
    check_dtype(dtype)
    if dtype != "auto" and chosen.name == "cpu":
        raise UsageError(f"--ocr-dtype {dtype} needs a GPU.", "Leave it out: a CPU computes in float32.")
    return DTYPES[dtype]


def _in_dtype(chosen: Preset, dtype: str, model: str) -> Preset:
    """Returns the preset without its own fp8, where bf16 is asked for or the weights are in fp8 already."""
    if dtype != "bf16" and not is_fp8(model):
        return chosen
    kept = tuple(flag for flag in chosen.flags if flag.name != "--quantization")
    return replace(chosen, flags=kept)


def _own_cache(
    model: str, chosen: Preset, flags: tuple[str, ...], card: Card | None, vision: str
) -> tuple[str, ...]:
    """Returns what a server with these flags needs besides, to start while others take memory of its card."""
    if card is None:
        return ()
    command = chosen.command(model, port=0, extra_args=flags)
    size = memory_of_card(card.memory_gb, chosen.name)
    return shared_card_flags(model, command, size, chosen.servers, vision)


def _memory_flags(memory: float | None, chosen: Preset) -> tuple[str, ...]:
    if memory is None or chosen.name == "cpu":
        return ()
    return ("--gpu-memory-utilization", f"{memory / chosen.servers:g}")
