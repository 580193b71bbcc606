"""Search and vectors for a service: the index and the embedder stay open between two questions."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from penstock.addresses.locator import Locator, is_locator
from penstock.errors import PenstockError, UsageError
from penstock.exports.located import located
from penstock.passes.questions import Questions
from penstock.passes.search import hit_at, hit_at_address
from penstock.retrieval.embedded_by import embedded_by
from penstock.retrieval.hits import NO_FILTERS, Filters
from penstock.retrieval.index_folder import FOLDER
from penstock.retrieval.searcher import Searcher
from penstock.serve.answers.bounded_calls import BoundedCalls
from penstock.serve.answers.kept_index import KeptIndex, NothingRead
from penstock.serve.errors import HttpRefusal
from penstock.serve.reading.service import Service
from penstock.store.out import Out

log = logging.getLogger(__name__)


class ServedSearch:
    """Opens the index at the first question, and again after it was rebuilt.

    What was read since the last question is indexed first.
    """

    def __init__(self, service: Service) -> None:
        self.opened = ExitStack()
        self._service = service
        self._out = service.out
        self._index = KeptIndex(service)
        self._bounded = BoundedCalls()
        self._current: tuple[Searcher, Questions] | None = None
        self._stamp = -1
        self.opened_embedder = ExitStack()
        self._embedder: Questions | None = None

    async def __call__(self, question: str, top: int, filters: Filters = NO_FILTERS) -> list[dict[str, Any]]:
        return await self._bounded(partial(self._answers, question, top, filters))

    async def vectors(self, texts: Sequence[str]) -> tuple[str, list[list[float]]]:
        """Returns the engine's name and a vector for each text, as questions are embedded."""
        return await self._bounded(partial(self._embedded, texts))

    def _answers(self, question: str, top: int, filters: Filters) -> list[dict[str, Any]]:
        if is_locator(question):
            return self._at(Locator.parse(question), filters.documents)
        try:
            self._index.update()
            searcher, questions = self._up_to_date()
            vector = questions.vector(question)
        except NothingRead:
            return []
        except PenstockError as exc:
            # its words are for the operator: they name folders of this machine and commands for its shell
            log.error("no search: %s %s", exc.message, exc.advice)
            raise HttpRefusal(503, "Search does not work here now.", "The service's log says why.") from exc
        found = searcher.search(question, vector, top=top, filters=filters)
        # what was deleted is in the index until it is brought up to date
        return [hit.row() for hit in found if self._service.status(hit.document) is not None]

    def _at(self, wanted: Locator, among: Collection[str]) -> list[dict[str, Any]]:
        """Returns what stands at an address, and nothing where its document is not among these."""
        name = wanted.document
        if (among and name not in among) or self._service.status(name) is None:
            return []
        if wanted.page is not None:
            page = self._service.catalogue.page(name, wanted.page - 1)
            return [hit_at(located(page, wanted), page.id).row()] if page else []
        with suppress(UsageError):  # it would name other documents
            return [hit_at_address(Out(self._out), wanted).row()]
        return []

    def _embedded(self, texts: Sequence[str]) -> tuple[str, list[list[float]]]:
        engine = embedded_by(Out(self._out).path).get("engine")
        if engine is None:
            raise UsageError("This run has no vectors.", "Its operator can make them: penstock embed.")
        if self._embedder is None:
            self._embedder = self.opened_embedder.enter_context(Questions(self._out))
        return str(engine), [self._embedder.vector(text).tolist() for text in texts]

    def _up_to_date(self) -> tuple[Searcher, Questions]:
        folder = self._out / FOLDER
        stamp = folder.stat().st_mtime_ns if folder.is_dir() else 0
        if self._current is None or stamp != self._stamp:
            self.opened.close()
            self._current = None  # there may be no index: the next question looks for it again
            searcher = self.opened.enter_context(Searcher(Out(self._out)))
            self._current = searcher, self.opened.enter_context(Questions(self._out))
            self._stamp = stamp
        return self._current
