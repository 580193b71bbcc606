"""Sends regions to model servers and puts the answers back.

Requests of all pages in flight go through one client with one limit, longest first, whatever page they
belong to; a page goes on when its last region has its answer. A region that gets no answer carries the
reason.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from penstock.documents.confidence.answers import answer_confidence, answer_signals
from penstock.documents.formats.jpeg import picture_size
from penstock.documents.pages.prompted_page import PromptedPage
from penstock.documents.tables.otsl import otsl_html
from penstock.engines.chat.client import Answer, ChatClient, ChatRequest
from penstock.engines.chat.prompts import prompt_for
from penstock.engines.chat.recognisers import recogniser
from penstock.engines.chat.region_tasks import Margins, Task, task_of, token_budget
from penstock.engines.vllm.run_servers import RunServers
from penstock.errors import EngineError, Failure
from penstock.page import Page
from penstock.region import Region
from penstock.stage import Worker
from penstock.stages.recognise_remote import RecogniseRemote
from penstock.workers.second_reader import SecondReader

log = logging.getLogger(__name__)
OTHERS_LIMIT = 256  # requests in flight at each server that someone else runs; the client lowers it by itself
TOKENS_A_PICTURE = 28 * 28  # pixels of one picture token: what the longest-first order goes by


@dataclass(frozen=True, slots=True)
class _Question:
    """A region that is sent, and where it belongs."""

    page: int
    place: int
    region: Region
    picture: bytes = field(repr=False)
    task: Task
    prompt: str


class RecogniseRemoteWorker(Worker[Page]):
    """Called by many threads at once, a page each; the client's own loop does the work."""

    def __init__(self, stage: RecogniseRemote) -> None:
        self._stage = stage
        known = recogniser(stage.recogniser)
        self._recogniser = replace(known, max_tokens=stage.max_tokens or known.max_tokens)
        self._servers = RunServers(
            stage.recogniser,
            stage.servers,
            model=stage.model,
            preset=stage.preset,
            dtype=stage.dtype,
            memory=stage.memory,
            vision=stage.vision,
            max_model_len=stage.max_model_len,
            max_tokens=stage.max_tokens,
            in_flight=stage.in_flight,
            others=OTHERS_LIMIT,
        )
        self._lock = threading.Lock()
        self._opened: ChatClient | None = None
        self._second = SecondReader(stage.second_reader)
        if stage.servers:
            self._client.meet()
        elif (
            not self._servers.measure_card
        ):  # else with the first page: then the layout network has its memory
            self._servers.begin()

    @property
    def _client(self) -> ChatClient:
        """The client of servers that are up: it gives up those that do not answer."""
        with self._lock:
            if self._opened is None:
                self._servers.await_ready()
                self._opened = self._open_client()
            return self._opened

    def _open_client(self) -> ChatClient:
        stage = self._stage
        return ChatClient(
            self._servers.urls,
            self._recogniser,
            model=self._servers.model,
            limit=self._servers.in_flight,
            timeout_s=stage.timeout_s,
            page_s=stage.page_s,
            down_s=stage.down_s,
            api_key=stage.api_key,
            logprobs=True,
        )

    def await_ready(self) -> None:
        if not self._servers.measure_card:
            self._servers.await_ready()

    def kill(self) -> None:
        self._servers.kill()

    def __call__(self, items: list[Page]) -> list[Page]:
        margins = self._stage.margins
        read = self.answered(items)
        return [
            replace(page, regions=_kept(regions, margins)) for page, regions in zip(items, read, strict=True)
        ]

    def answered(self, items: Sequence[Page]) -> list[list[Region]]:
        """Returns each page's regions, those with a request as the server read them.

        What a region held before is a second reader's text.
        """
        questions = list(self._questions(items))
        answers = self._client.ask([self._request(question) for question in questions])
        others = self._second.read([question.picture for question in questions])
        regions = [list(page.regions) for page in items]
        for question, answer, other in zip(questions, answers, others, strict=True):
            regions[question.page][question.place] = self._answered(question, answer, other)
        return regions

    def close(self) -> None:
        if self._opened is not None:
            log.info("requests: %s", self._opened.stats())
            self._opened.close()
        self._second.close()
        self._servers.close()

    def _questions(self, pages: Sequence[Page]) -> Iterator[_Question]:
        for number, page in enumerate(pages):
            for place, region in enumerate(page.regions):
                task, prompt = self._asked(page, region)
                if region.request is not None and task not in ("keep", "drop"):
                    yield _Question(number, place, region, region.request, task, prompt)

    def _asked(self, page: Page, region: Region) -> tuple[Task, str]:
        """What is asked about a region, and the words: its label's, unless the page has its own question."""
        if isinstance(page, PromptedPage) and page.asking is not None:
            return page.asking.task, prompt_for(page.asking, self._recogniser)
        task = task_of(region.label, self._stage.margins)
        return task, self._recogniser.prompt(task)

    def _request(self, question: _Question) -> ChatRequest:
        width, height = picture_size(question.picture)
        budget = token_budget(question.task, width, height, self._recogniser.max_tokens)
        return ChatRequest(question.picture, question.prompt, budget, width * height / TOKENS_A_PICTURE)

    def _answered(self, question: _Question, answer: Answer | EngineError, other: str | None) -> Region:
        bare = replace(question.region, request=None)  # sent, and of no use to anyone after
        if not isinstance(answer, Answer):
            return replace(bare, failure=Failure.of(answer, self._stage.name))
        content = answer.text.strip()
        if question.task == "table" and self._recogniser.table_marks == "otsl":
            content = otsl_html(content)
        sure = answer.sureness
        if bare.reader:  # it was read before
            other, reader = bare.content or "", bare.reader
        else:
            reader = self._second.name
        signals = answer_signals(content, answer.finish_reason, other, reader)
        if sure is not None:
            weakest = min(sure.lines)
            signals = replace(signals, probability=sure.mean, least_probability=sure.least, weakest=weakest)
        return replace(
            bare, content=content, reader=self._recogniser.name, note=" ".join(answer.notes), signals=signals,
            confidence=answer_confidence(signals),
        )  # fmt: skip


def _kept(regions: Sequence[Region], margins: Margins) -> tuple[Region, ...]:
    """Regions that turned out to say nothing are left out; pictures and those that failed stay."""
    kept = [r for r in regions if r.content or r.failure is not None or task_of(r.label, margins) == "keep"]
    return tuple(replace(region, index=index) for index, region in enumerate(kept))
