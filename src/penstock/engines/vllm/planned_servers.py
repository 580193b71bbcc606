"""Puts together the servers that `penstock engine start` leaves running: cards, names, ports, memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.engines.chat.deepseek.pages import MODELS as PAGE_MODELS
from penstock.engines.chat.recognisers import RECOGNISERS
from penstock.engines.vllm import daemon, detached
from penstock.engines.vllm.compiled import compiled_environment
from penstock.engines.vllm.detached import DetachedServer
from penstock.engines.vllm.embedding_presets import EMBEDDING, is_embedder
from penstock.engines.vllm.embedding_presets import NAMES as EMBEDDERS
from penstock.engines.vllm.memory_budget import CARD_MIB, MemoryBudget, memory_budget, memory_of_card
from penstock.engines.vllm.presets import Card, cards
from penstock.engines.vllm.server import find_vllm, free_port
from penstock.engines.vllm.server_plan import ServerChoice, embedding_server, reading_servers
from penstock.errors import MissingModel, UsageError
from penstock.vllm_plugin import VARIABLE

ANY_MODEL = "openai"  # the recogniser that asks any model in plain words


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedServers:
    """Which model to serve, how, and on which cards. `extra` are flags for `vllm serve`."""

    model: str
    preset: str = "auto"
    dtype: str = "auto"
    vision: str = "auto"
    max_model_len: int = 0  # 0: the preset's own
    extra: tuple[str, ...] = ()
    gpu: str = ""  # "0,1"; all of them if empty
    port: int = 0  # of the first; 0: any that is free
    name: str = ""  # the model's if empty

    @property
    def settings(self) -> dict[str, Any]:
        """What a server's plan takes."""
        return {
            "preset_name": self.preset,
            "dtype": self.dtype,
            "vision": self.vision,
            "max_model_len": self.max_model_len,
            "more_flags": list(self.extra),
        }


def planned_servers(wanted: WantedServers, dry_run: bool = False) -> list[DetachedServer]:
    """Returns the servers, one or more for each card. A dry run needs neither the cards nor vLLM."""
    kind, chosen = _chosen(wanted.model, wanted.settings, _cards(wanted.gpu, wanted.preset, dry_run))
    model = wanted.model
    title = wanted.name or (model if kind and "/" not in model else Path(model).name.lower())
    executable = _executable(dry_run)
    return [
        _detached(choice, kind, title, number if len(chosen) > 1 else 0, wanted.port, executable)
        for number, choice in enumerate(chosen, 1)
    ]


def variables_of(server: DetachedServer) -> dict[str, str]:
    """Returns the environment of a server."""
    own = daemon.planned_preset(server).environment(server.gpu)
    return {**own, **compiled_environment({**os.environ, **own}), VARIABLE: server.vision}


def budget_of(server: DetachedServer, all_servers: Sequence[DetachedServer]) -> MemoryBudget | None:
    """Returns how a card's memory is divided; None on the CPU, and for a model of an unknown kind."""
    if server.preset not in CARD_MIB:
        return None
    known = {card.index: card.memory_gb for card in cards()}
    card = memory_of_card(known.get(server.gpu if server.gpu is not None else -1, 0.0), server.preset)
    sharing = sum(other.gpu == server.gpu for other in all_servers)
    has_layout = server.recogniser not in (*PAGE_MODELS, EMBEDDING)
    return memory_budget(server.model, server.command, card, sharing, has_layout, server.vision)


def _chosen(model: str, settings: dict[str, Any], found: list[Card]) -> tuple[str, list[ServerChoice]]:
    """Returns the servers of a model and whose presets they have: a recogniser's, EMBEDDING's, or ""."""
    if is_embedder(model, settings["more_flags"]):
        places: list[Card | None] = [*found] or [None]
        return EMBEDDING, [embedding_server(EMBEDDERS.get(model, model), card, **settings) for card in places]
    known = RECOGNISERS.get(model) or PAGE_MODELS.get(model)
    if known:
        return known.name, reading_servers(known.name, found, **settings)
    return "", reading_servers(ANY_MODEL, found, model=model, **settings)


def _detached(
    choice: ServerChoice, kind: str, title: str, number: int, port: int, executable: list[str]
) -> DetachedServer:
    own = f"{title}-{number}" if number else title
    at = port + max(0, number - 1) if port else free_port()
    command = choice.preset.command(
        choice.model, port=at, served_name=title, extra_args=choice.flags, executable=executable
    )
    return DetachedServer(
        name=own,
        model=choice.model,
        preset=choice.preset.name,
        gpu=choice.gpu,
        port=at,
        served_name=title,
        prompt=choice.prompt,
        extra_args=choice.flags,
        log=str(detached.folder() / f"{own}.log"),
        command=tuple(command),
        recogniser=kind,
        vision=choice.vision,
    )


def _executable(dry_run: bool) -> list[str]:
    try:
        return find_vllm()
    except MissingModel:
        if dry_run:  # what would run can be shown where it cannot run
            return ["vllm"]
        raise


def _cards(gpu: str, preset_name: str, dry_run: bool) -> list[Card]:
    """Returns the cards to start on, none for the CPU. A dry run may be about cards that are elsewhere."""
    if preset_name == "cpu":
        return []
    here = cards()
    if not gpu:
        if not here and dry_run and preset_name != "auto":
            return [Card(0, preset_name, 0.0)]
        if not here and preset_name != "auto":
            raise UsageError(f"There is no GPU here for preset {preset_name!r}.", "Use --preset cpu.")
        return here
    by_number = {card.index: card for card in here}
    if not all(word.strip().isdigit() for word in gpu.split(",")):
        raise UsageError(f"--gpu {gpu!r} is not a list of numbers.", "Write it like 0,1.")
    numbers = [int(word) for word in gpu.split(",")]
    if missing := [number for number in numbers if number not in by_number and not dry_run]:
        raise UsageError(f"There is no GPU {missing[0]} here.", f"There are: {sorted(by_number) or 'none'}.")
    return [by_number.get(number) or Card(number, preset_name, 0.0) for number in numbers]
