"""Reads whole pages with one call each to a grounded model, and tries other ways when that fails.

All pages in flight share one client, so the server always has as many as it can batch, whichever
document they belong to. Every attempt is kept with the page.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from penstock.box import Pixels
from penstock.documents.formats.markdown import page_markdown
from penstock.documents.grounding.answer import GroundedAnswer
from penstock.documents.grounding.page import raw_answer, read_page, regions_of, shifted
from penstock.engines.chat.client import Answer, ChatClient, ChatRequest
from penstock.engines.chat.deepseek.hf import HfClient, open_reader
from penstock.engines.chat.deepseek.pages import NgramGuard, Way, ladder, page_recogniser
from penstock.engines.chat.deepseek.prompts import is_grounded, names_words
from penstock.engines.chat.deepseek.resolution import max_side
from penstock.engines.image.codec import decode_rgb, encode_jpeg
from penstock.engines.vllm.run_servers import RunServers
from penstock.errors import BadInput, EngineError, Failure
from penstock.page import Page, PageAttempt
from penstock.region import Region
from penstock.stage import Worker
from penstock.stages.ground import Ground
from penstock.workers.crop import with_crop

MIN_CROP = 28  # pixels: smaller pictures are dots, and some servers hang on them
CROPPED = frozenset({"image", "chart", "seal", "table"})
QUALITY = 92
IN_FLIGHT = 128  # pages at servers that others started: what one large card reads at once


@dataclass(frozen=True, slots=True)
class _Try:
    """One attempt at a page: what was understood of the answer, its record, and the answer itself."""

    answer: GroundedAnswer
    attempt: PageAttempt
    text: str
    good: bool


class GroundWorker(Worker[Page]):
    """Thread-safe: each of the stage's `overlap` threads waits for its own page."""

    def __init__(self, stage: Ground) -> None:
        self._stage = stage
        self._hf = (
            open_reader(stage.recogniser, stage.model, stage.resolution) if stage.engine == "hf" else None
        )
        self._servers = None if self._hf else _servers(stage)
        self._ways = ladder(stage.prompt, stage.guard)
        self._max_side = max_side(stage.resolution, stage.recogniser)
        self._clients: dict[NgramGuard, ChatClient | HfClient] = {}
        self._lock = threading.Lock()
        if stage.servers and self._servers:
            self._meet()
        elif self._servers:
            self._servers.begin()

    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(item) for item in items]

    def await_ready(self) -> None:
        if self._servers is not None:
            self._servers.await_ready()

    def kill(self) -> None:
        if self._servers is not None:
            self._servers.kill()

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        for opened in (self._servers, self._hf):
            if opened is not None:
                opened.close()

    def _meet(self) -> None:
        """A wrong address ends the run at once; every page would fail for it one after the other."""
        client = self._client(self._stage.guard)
        assert isinstance(client, ChatClient)
        client.meet()

    def _client(self, guard: NgramGuard) -> ChatClient | HfClient:
        """One client for each guard; the second opens when a page first needs it."""
        with self._lock:
            if guard not in self._clients:
                self._clients[guard] = self._open_client(guard)
            return self._clients[guard]

    def _open_client(self, guard: NgramGuard) -> ChatClient | HfClient:
        stage = self._stage
        if self._hf is not None:
            return HfClient(self._hf, stage.recogniser, guard, stage.max_tokens)
        assert self._servers is not None
        servers = self._servers
        return ChatClient(
            servers.urls,
            page_recogniser(stage.recogniser, guard, stage.max_tokens),
            model=servers.model,
            limit=servers.in_flight,
            timeout_s=stage.timeout_s,
            page_s=stage.timeout_s,
            api_key=stage.api_key,
        )

    def _page(self, page: Page) -> Page:
        if not page.image:
            raise BadInput("The page has no picture to show a model.")
        tries = self._climb(page)
        best = tries[-1] if tries[-1].good else max(tries, key=lambda each: _worth(each.answer))
        regions = self._regions(page, best.answer)
        return replace(
            page,
            regions=regions,
            markdown=page_markdown(regions),
            attempts=tuple(each.attempt for each in tries),
            raw_answer=raw_answer([(each.attempt, each.text) for each in tries]),
            shortfall=None if best.good else self._shortfall(tries, best),
        )

    def _climb(self, page: Page) -> list[_Try]:
        """Goes up the ladder until an answer ends well. The last try is the good one, if any is."""
        tries: list[_Try] = []
        for way in self._ways:
            tries.append(self._try(page, way))
            if tries[-1].good:
                break
        return tries

    def _shortfall(self, tries: Sequence[_Try], best: _Try) -> Failure:
        ends = ", ".join(f"{each.attempt.way}: {each.attempt.finish_reason}" for each in tries)
        said = f"the page has what attempt {tries.index(best) + 1} said"
        return Failure(
            stage=self._stage.name,
            kind="EngineError",
            message=f"No answer came to its end ({ends}); {said}.",
            advice="Try a higher --dpi, or another model.",
        )

    def _try(self, page: Page, way: Way) -> _Try:
        answers = self._ask(way, _pictures(page.image or b"", way, self._max_side))
        share = 1 / len(answers)
        height, words = round(page.height * share), names_words(way.prompt)
        read = [read_page(answer.text, page.width, height, words) for answer in answers]
        whole = read[0] if len(read) == 1 else _stacked(read, share)
        text = "\n\n".join(answer.text for answer in answers)
        return _Try(whole, _attempt(way, answers, whole), text, _is_good(way, answers, whole))

    def _ask(self, way: Way, pictures: Sequence[bytes]) -> list[Answer]:
        client = self._client(way.guard)
        limit = self._stage.max_tokens
        outcomes = client.ask([ChatRequest(picture, way.prompt, limit) for picture in pictures])
        answers = []
        for outcome in outcomes:
            if isinstance(outcome, EngineError):
                raise outcome  # the client has tried what helps; another prompt would not
            answers.append(outcome)
        return answers

    def _regions(self, page: Page, answer: GroundedAnswer) -> tuple[Region, ...]:
        regions = regions_of(answer, page.width, page.height, page.part == 0, self._stage.recogniser)
        if not self._stage.crops or not any(region.label in CROPPED for region in regions):
            return regions
        pixels = _decoded(page.image or b"")
        return tuple(_with_crop(region, pixels) for region in regions)


def _servers(stage: Ground) -> RunServers:
    return RunServers(
        stage.recogniser,
        stage.servers,
        model=stage.model,
        preset=stage.preset,
        dtype=stage.dtype,
        memory=stage.memory,
        vision=stage.vision,
        max_model_len=stage.max_model_len,
        in_flight=stage.in_flight,
        others=IN_FLIGHT,
    )


def _with_crop(region: Region, pixels: Pixels) -> Region:
    x0, y0, x1, y1 = region.box
    if region.label not in CROPPED or min(x1 - x0, y1 - y0) < MIN_CROP:
        return region
    return with_crop(region, pixels)


def _is_good(way: Way, answers: Sequence[Answer], page: GroundedAnswer) -> bool:
    """A clean end that says something. A page without a word is believed when plain reading finds none."""
    ended = all(answer.finish_reason == "stop" for answer in answers) and not page.looped
    return ended and (bool(page.blocks) or not is_grounded(way.prompt))


def _worth(page: GroundedAnswer) -> tuple[bool, int]:
    boxes = sum(bool(block.boxes) for block in page.blocks)
    return boxes > 0, sum(len(block.content) for block in page.blocks)


def _stacked(halves: Sequence[GroundedAnswer], share: float) -> GroundedAnswer:
    """The answers about parts of a page, one above the other, as one."""
    parts = [shifted(part.blocks, place * share, share) for place, part in enumerate(halves)]
    issues = tuple(dict.fromkeys(issue for part in halves for issue in part.issues))
    return GroundedAnswer(halves[0].dialect, tuple(block for part in parts for block in part), issues)


def _attempt(way: Way, answers: Sequence[Answer], page: GroundedAnswer) -> PageAttempt:
    issues = [*page.issues, *(issue for block in page.blocks for issue in block.issues)]
    worst = next((answer.finish_reason for answer in answers if answer.finish_reason != "stop"), "stop")
    return PageAttempt(
        way=way.name,
        finish_reason="repetition" if page.looped else worst,
        prompt_tokens=sum(answer.prompt_tokens for answer in answers),
        completion_tokens=sum(answer.completion_tokens for answer in answers),
        ms=round(1000 * max(answer.seconds for answer in answers), 1),
        issues=tuple(issues),
    )


def _pictures(image: bytes, way: Way, max_side: int = 0) -> list[bytes]:
    """The page as a way of asking wants it: as it is, smaller, or its upper and lower half.

    None of them has a side longer than `max_side`, where that is not 0.
    """
    if way.scale == 1.0 and not way.halves and not max_side:
        return [image]
    pixels = _decoded(image)
    middle = pixels.shape[0] // 2
    parts = [pixels[:middle], pixels[middle:]] if way.halves else [pixels]
    return [encode_jpeg(_scaled(part, way.scale, max_side), QUALITY) for part in parts]


def _scaled(pixels: Pixels, scale: float, max_side: int) -> Pixels:
    longest = max(pixels.shape[:2])
    scale *= min(1.0, max_side / longest) if max_side else 1.0
    if scale == 1.0:
        return pixels
    width, height = (max(1, round(scale * side)) for side in (pixels.shape[1], pixels.shape[0]))
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def _decoded(image: bytes) -> Pixels:
    pixels = decode_rgb(image)
    if pixels is None:
        raise BadInput("The page's picture cannot be decoded.")
    return pixels
