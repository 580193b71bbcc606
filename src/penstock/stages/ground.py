"""Reads whole pages with one call each to a grounded model, and asks again in other ways when that fails.

All pages in flight share one client, so the server always has as many as it can batch, whichever
document they belong to. Every attempt is kept with the page.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from penstock.errors import BadInput, EngineError, PlanError
from penstock.item import Failure, Item, Region
from penstock.stage import Stage, tuning

if TYPE_CHECKING:
    from penstock.documents.grounding.answer import Answer as Page
    from penstock.documents.grounding.attempts import Tried
    from penstock.engines.chat.client import Answer, ChatClient
    from penstock.engines.chat.deepseek import Guard, Way
    from penstock.engines.chat.deepseek_hf import HfClient, HfModel
    from penstock.engines.vllm.presets import Card
    from penstock.engines.vllm.server import ManagedServer
    from penstock.item import Pixels

SMALLEST_CROP = 28  # pixels: smaller pictures are dots, and some servers hang on them
CROPPED = frozenset({"image", "chart", "seal", "table"})
QUALITY = 92
IN_FLIGHT = 128  # pages at servers that others started: what one large card reads at once


@dataclass(frozen=True, kw_only=True)
class Ground(Stage):
    """One grounded call a page. `servers` and `in_flight` change speed, never results."""

    name: ClassVar[str] = "ground"
    reads: ClassVar[tuple[str, ...]] = ("image", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions", "markdown")
    recogniser: str = "deepseek-ocr"
    engine: Literal["vllm", "hf"] = "vllm"  # a server, or transformers in this process
    model: str = ""  # as the server calls it, or what is loaded; the recogniser's own if empty
    crops: bool = True
    servers: tuple[str, ...] = tuning(())
    preset: str = tuning("auto")
    in_flight: int = tuning(0)  # pages at the servers at once; 0: the preset's
    timeout_s: float = tuning(600.0)
    api_key: str | None = field(default=None, repr=False, metadata={"tuning": True})

    def __post_init__(self) -> None:
        from penstock.engines.chat.deepseek import page_recogniser

        page_recogniser(self.recogniser)
        if self.engine not in ("vllm", "hf"):
            raise PlanError(f"There is no engine {self.engine!r}.", "Choose from: vllm, hf.")
        if self.engine == "hf" and self.recogniser != "deepseek-ocr-2":
            raise PlanError(
                f"The engine 'hf' reads with deepseek-ocr-2, not {self.recogniser}.",
                "Use --recipe grounded-2.",
            )

    def open(self) -> _Grounder:
        return _Grounder(self)


class _Grounder:
    """Thread-safe: each of the stage's `overlap` threads waits for its own page."""

    def __init__(self, stage: Ground) -> None:
        from penstock.engines.vllm.presets import cards

        self._stage = stage
        alone = stage.engine == "hf" or bool(stage.servers)
        self._hf = _load(stage) if stage.engine == "hf" else None
        self._managed = [] if alone else _start(stage, cards())
        self._urls = list(stage.servers) or [server.url for server in self._managed]
        self._limit = stage.in_flight or sum(server.preset.in_flight for server in self._managed) or IN_FLIGHT
        self._clients: dict[Guard, ChatClient | HfClient] = {}
        self._lock = threading.Lock()
        if stage.servers and stage.engine != "hf":
            self._meet()

    def __call__(self, items: list[Item]) -> list[Item]:
        return [self._page(item) for item in items]

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        for server in self._managed:
            server.stop()
        if self._hf is not None:
            self._hf.close()

    def _meet(self) -> None:
        """A wrong address ends the run at once; every page would fail for it one after the other."""
        from penstock.engines.chat.client import ChatClient
        from penstock.engines.chat.deepseek import FIRST

        client = self._client(FIRST)
        assert isinstance(client, ChatClient)
        client.meet()

    def _client(self, guard: Guard) -> ChatClient | HfClient:
        """One client for each guard; the second opens when a page first needs it."""
        with self._lock:
            if guard not in self._clients:
                self._clients[guard] = self._open_client(guard)
            return self._clients[guard]

    def _open_client(self, guard: Guard) -> ChatClient | HfClient:
        if self._hf is not None:
            from penstock.engines.chat.deepseek_hf import HfClient

            return HfClient(self._hf, guard)
        from penstock.engines.chat.client import ChatClient
        from penstock.engines.chat.deepseek import page_recogniser

        stage = self._stage
        return ChatClient(
            self._urls,
            page_recogniser(stage.recogniser, guard),
            model=(stage.model or None) if stage.servers else None,
            limit=self._limit,
            timeout_s=stage.timeout_s,
            api_key=stage.api_key,
        )

    def _page(self, item: Item) -> Item:
        from penstock.documents.formats.markdown import page_markdown
        from penstock.documents.grounding.attempts import record_region

        if not item.image:
            raise BadInput("The page has no picture to show a model.")
        page, tried, failure = self._climb(item)
        regions = self._regions(item, page)
        record = replace(record_region(tried, failure), index=len(regions))
        return replace(item, regions=(*regions, record), markdown=page_markdown(regions))

    def _climb(self, item: Item) -> tuple[Page, list[Tried], Failure | None]:
        """Goes up the ladder until an answer ends well; else the best of what came."""
        from penstock.engines.chat.deepseek import LADDER

        tried: list[Tried] = []
        pages: list[Page] = []
        for way in LADDER:
            page, attempt, good = self._attempt(item, way)
            tried.append(attempt)
            pages.append(page)
            if good:
                return page, tried, None
        best = max(range(len(pages)), key=lambda place: _worth(pages[place]))
        ends = ", ".join(f"{each.way}: {each.finish_reason}" for each in tried)
        failure = Failure(
            stage="ground",
            kind="EngineError",
            message=f"No answer came to its end ({ends}); the page has what attempt {best + 1} said.",
            advice="Try a higher --dpi, or another model.",
        )
        return pages[best], tried, failure

    def _attempt(self, item: Item, way: Way) -> tuple[Page, Tried, bool]:
        from penstock.documents.grounding.answer import Answer as Page
        from penstock.documents.grounding.page import read_page, shifted

        pictures = _pictures(item.image or b"", way)
        answers = self._ask(way, pictures)
        share = 1 / len(answers)
        pages = [read_page(answer.text, item.width, round(item.height * share)) for answer in answers]
        if len(pages) == 1:
            page = pages[0]
        else:
            parts = [shifted(part.blocks, place * share, share) for place, part in enumerate(pages)]
            page = Page(pages[0].dialect, tuple(b for part in parts for b in part), _issues(pages))
        return page, _tried(way, answers, page), _is_good(way, answers, page)

    def _ask(self, way: Way, pictures: Sequence[bytes]) -> list[Answer]:
        from penstock.engines.chat.client import ChatRequest
        from penstock.engines.chat.deepseek import MAX_TOKENS

        client = self._client(way.guard)
        prompt = client.recogniser.prompt(way.task)
        outcomes = client.ask([ChatRequest(picture, prompt, MAX_TOKENS) for picture in pictures])
        answers = []
        for outcome in outcomes:
            if isinstance(outcome, EngineError):
                raise outcome  # the client has tried what helps; another prompt would not
            answers.append(outcome)
        return answers

    def _regions(self, item: Item, page: Page) -> tuple[Region, ...]:
        from penstock.documents.grounding.page import regions_of

        regions = regions_of(page, item.width, item.height, item.part == 0, self._stage.recogniser)
        if not self._stage.crops or not any(region.label in CROPPED for region in regions):
            return regions
        pixels = _decoded(item.image or b"")
        return tuple(_with_crop(region, pixels) for region in regions)


def _load(stage: Ground) -> HfModel:
    from penstock.engines.chat.deepseek_hf import HfModel

    return HfModel(stage.model)


def _start(stage: Ground, found: Sequence[Card]) -> list[ManagedServer]:
    """One server a card, or one on the CPU; loaded once for however many documents."""
    from penstock.engines.chat.deepseek import MODELS
    from penstock.engines.vllm.deepseek_presets import page_preset
    from penstock.engines.vllm.server import ManagedServer, start_all

    model = stage.model or MODELS[stage.recogniser].model
    places: list[Card | None] = [*found] or [None]
    servers = [
        ManagedServer(model, page_preset(stage.preset, card), gpu=card.index if card else None)
        for card in places
    ]
    start_all(servers)
    return servers


def _with_crop(region: Region, pixels: Pixels) -> Region:
    from penstock.stages.crop import with_crop

    x0, y0, x1, y1 = region.box
    if region.label not in CROPPED or min(x1 - x0, y1 - y0) < SMALLEST_CROP:
        return region
    return with_crop(region, pixels)


def _is_good(way: Way, answers: Sequence[Answer], page: Page) -> bool:
    """A clean end that says something. A page without a word is believed when plain reading finds none."""
    ended = all(answer.finish_reason == "stop" for answer in answers) and not page.looped
    return ended and (bool(page.blocks) or way.task != "page")


def _worth(page: Page) -> tuple[bool, int]:
    boxes = sum(bool(block.boxes) for block in page.blocks)
    return boxes > 0, sum(len(block.content) for block in page.blocks)


def _issues(pages: Sequence[Page]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(issue for page in pages for issue in page.issues))


def _tried(way: Way, answers: Sequence[Answer], page: Page) -> Tried:
    from penstock.documents.grounding.attempts import Tried

    issues = [*page.issues, *(issue for block in page.blocks for issue in block.issues)]
    worst = next((answer.finish_reason for answer in answers if answer.finish_reason != "stop"), "stop")
    return Tried(
        way=way.name,
        finish_reason="repetition" if page.looped else worst,
        prompt_tokens=sum(answer.prompt_tokens for answer in answers),
        completion_tokens=sum(answer.completion_tokens for answer in answers),
        ms=round(1000 * max(answer.seconds for answer in answers), 1),
        issues=tuple(issues),
        text="\n\n".join(answer.text for answer in answers),
    )


def _pictures(image: bytes, way: Way) -> list[bytes]:
    """The page as a way of asking wants it: as it is, smaller, or its upper and lower half."""
    if way.scale == 1.0 and not way.halves:
        return [image]
    import cv2

    pixels = _decoded(image)
    if way.halves:
        middle = pixels.shape[0] // 2
        return [_jpeg(pixels[:middle]), _jpeg(pixels[middle:])]
    smaller = cv2.resize(pixels, None, fx=way.scale, fy=way.scale, interpolation=cv2.INTER_AREA)
    return [_jpeg(smaller)]  # type: ignore[arg-type]


def _decoded(image: bytes) -> Pixels:
    import cv2
    import numpy as np

    pixels = cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise BadInput("The page's picture cannot be decoded.")
    return np.ascontiguousarray(pixels[:, :, ::-1], dtype=np.uint8)


def _jpeg(pixels: Pixels) -> bytes:
    import cv2

    return bytes(cv2.imencode(".jpg", pixels[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1])
