"""Reads regions with a vision-language model behind an OpenAI-compatible server.

Requests of all pages in flight go through one client with one limit, longest first, whatever page they
belong to; a page goes on when its last region has its answer. Without a server one is started with
the run and stopped with it. A region that gets no answer carries the reason.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from penstock.documents.formats.searchable_pdf import jpeg_shape
from penstock.item import Failure, Item, Region
from penstock.stage import Stage, tuning
from penstock.stages.tasks import Furniture, Task, task_of, token_budget

if TYPE_CHECKING:
    from penstock.engines.chat.client import Answer, ChatRequest
    from penstock.engines.vllm.server import ManagedServer
    from penstock.errors import EngineError

log = logging.getLogger(__name__)
OTHERS_LIMIT = 256  # requests in flight at each server that someone else runs; the client lowers it by itself
TOKENS_A_PICTURE = 28 * 28  # pixels of one picture token: what the longest-first order goes by


@dataclass(frozen=True, kw_only=True)
class Ask(Stage):
    """Text, tables and formulas by prompts. `servers` and `limit` change speed, never results."""

    name: ClassVar[str] = "recognise"
    reads: ClassVar[tuple[str, ...]] = ("regions",)
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    recogniser: str = "glm-ocr"
    model: str = ""  # as the server calls it, or what a managed server loads; the recogniser's own if empty
    furniture: Furniture = "drop"
    servers: tuple[str, ...] = tuning(())
    preset: str = tuning("auto")
    limit: int = tuning(0)  # requests in flight; 0: the preset's
    timeout_s: float = tuning(300.0)
    down_s: float = tuning(900.0)  # how long a server that went away is waited for: a restart's time
    api_key: str | None = tuning(None)

    def open(self) -> _Asker:
        return _Asker(self)


class _Asker:
    """Called by many threads at once, a page each; the client's own loop does the work."""

    def __init__(self, stage: Ask) -> None:
        from penstock.engines.chat.client import ChatClient
        from penstock.engines.chat.recognisers import recogniser
        from penstock.engines.chat.server import base_url
        from penstock.trace.server_metrics import announce

        self._furniture = stage.furniture
        self._recogniser = recogniser(stage.recogniser)
        self._servers = [] if stage.servers else _start_servers(stage)
        limit = stage.limit or OTHERS_LIMIT * len(stage.servers) or _limit_of(stage)
        self._client = ChatClient(
            stage.servers or [server.url for server in self._servers],
            self._recogniser,
            model=(stage.model or None) if stage.servers else None,
            limit=limit,
            timeout_s=stage.timeout_s,
            down_s=stage.down_s,
            api_key=stage.api_key,
        )
        if stage.servers:
            self._client.meet()
        for address in stage.servers:
            announce(base_url(address), in_flight=limit)
        for server in self._servers:
            announce(server.url, server.command(), limit)

    def __call__(self, items: list[Item]) -> list[Item]:
        requests: list[ChatRequest] = []
        places: list[tuple[int, int]] = []
        for row, item in enumerate(items):
            for place, region in enumerate(item.regions):
                task = task_of(region.label, self._furniture)
                if region.crop is not None and region.crop_path is None and task not in ("keep", "drop"):
                    requests.append(self._request(region, task))
                    places.append((row, place))
        answers = self._client.ask(requests)
        pages = [list(item.regions) for item in items]
        for (row, place), answer in zip(places, answers, strict=True):
            pages[row][place] = self._answered(pages[row][place], answer)
        return [replace(item, regions=_told(page)) for item, page in zip(items, pages, strict=True)]

    def close(self) -> None:
        log.info("recognise: %s", self._client.stats())
        self._client.close()
        for server in self._servers:
            server.stop()

    def _request(self, region: Region, task: Task) -> ChatRequest:
        from penstock.engines.chat.client import ChatRequest

        assert region.crop is not None
        shape = jpeg_shape(region.crop)
        budget = token_budget(task, shape.width, shape.height, self._recogniser.max_tokens)
        cost = shape.width * shape.height / TOKENS_A_PICTURE
        return ChatRequest(region.crop, self._recogniser.prompt(task), budget, cost)

    def _answered(self, region: Region, answer: Answer | EngineError) -> Region:
        from penstock.engines.chat.client import Answer

        bare = replace(region, crop=None)  # sent, and of no use to anyone after
        if not isinstance(answer, Answer):
            kind, message = type(answer).__name__, answer.message
            failure = Failure(stage="recognise", kind=kind, message=message, advice=answer.advice)
            return replace(bare, failure=failure)
        task = task_of(region.label, self._furniture)
        content = self._recogniser.read(task, answer.text)
        return replace(bare, content=content, reader=self._recogniser.name, note=" ".join(answer.notes))


def _told(regions: Sequence[Region]) -> tuple[Region, ...]:
    """Regions that turned out to say nothing are left out; those that failed or are kept stay."""
    kept = [r for r in regions if r.content or r.crop_path or r.failure is not None]
    return tuple(replace(region, index=index) for index, region in enumerate(kept))


def _limit_of(stage: Ask) -> int:
    from penstock.engines.vllm.presets import Card, cards, preset

    places: list[Card | None] = [*cards()] or [None]
    return sum(preset(stage.preset, card).in_flight for card in places)


def _start_servers(stage: Ask) -> list[ManagedServer]:
    """As many servers on every card as the preset says; one on the CPU where there is no card."""
    from penstock.engines.chat.recognisers import recogniser
    from penstock.engines.vllm.presets import Card, cards, preset
    from penstock.engines.vllm.server import ManagedServer, start_all

    known = recogniser(stage.recogniser)
    places: list[Card | None] = [*cards()] or [None]
    servers = [
        ManagedServer(
            stage.model or known.model,
            chosen,
            gpu=card.index if card else None,
            extra_args=known.server_flags,
        )
        for card, chosen in ((card, preset(stage.preset, card)) for card in places)
        for _ in range(chosen.servers)
    ]
    start_all(servers)
    return servers
