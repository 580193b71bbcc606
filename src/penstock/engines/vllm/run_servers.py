"""The model servers of a run: those the user named, or its own, which end with it."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.engines.chat.address import base_url
from penstock.engines.vllm.memory_budget import measures_its_card
from penstock.engines.vllm.presets import cards
from penstock.engines.vllm.server import ManagedServer
from penstock.engines.vllm.server_plan import reading_servers, requests_in_flight
from penstock.engines.vllm.starting_servers import StartingServers
from penstock.trace.server_metrics import announce


class RunServers(StartingServers):
    """The servers that a recogniser sends its requests to.

    `urls` are their addresses; `in_flight` requests at once keep them busy. `model` is what named servers
    call it, or what our own load. `others` is how many requests each server gets at once that someone else
    runs. Those that `measure_card` while they start count what another process takes meanwhile as their own.
    """

    def __init__(
        self,
        recogniser: str,
        named: Sequence[str],
        *,
        model: str,
        preset: str,
        dtype: str,
        memory: float | None = None,
        vision: str = "auto",
        max_model_len: int = 0,
        max_tokens: int = 0,
        in_flight: int,
        others: int,
    ) -> None:
        chosen = (
            []
            if named
            else reading_servers(
                recogniser,
                cards(),
                model=model,
                preset_name=preset,
                dtype=dtype,
                memory=memory,
                vision=vision,
                max_model_len=max_model_len,
                max_tokens=max_tokens,
            )
        )
        self.model = (model or None) if named else None  # None: the client asks them
        self.in_flight = in_flight or requests_in_flight(chosen) or others * len(named)
        for address in named:
            announce(base_url(address), in_flight=self.in_flight)
        self.measure_card = any(
            choice.gpu is not None and measures_its_card(choice.command()) for choice in chosen
        )
        super().__init__([choice.managed() for choice in chosen], self._announce)
        self.urls = list(named) or self.urls

    def _announce(self, server: ManagedServer) -> None:
        announce(server.url, server.command(), self.in_flight)
