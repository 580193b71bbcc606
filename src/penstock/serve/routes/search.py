"""Search in the run's index, and vectors for questions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Query, Request

from penstock.retrieval.hits import Filters
from penstock.serve.routes.context import Context, owner_of
from penstock.serve.routes.models import EmbedAnswer, EmbedQuestion, SearchHit, SearchQuestion, errors
from penstock.sources.page_range import PageRange


class SearchRoutes:
    """One method for each path."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def add_to(self, app: FastAPI) -> None:
        app.get("/v1/search", response_model=list[SearchHit], responses=errors(409))(self.search)
        app.post("/v1/search", response_model=list[SearchHit], responses=errors(409, 413))(
            self.search_with_filters
        )
        app.post("/v1/embed", response_model=EmbedAnswer, responses=errors(409, 413))(self.embed)

    async def search(
        self,
        request: Request,
        q: Annotated[str, Query(min_length=1, max_length=1000)],
        top: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> list[dict[str, Any]]:
        """Pages that answer the question, best first. Documents are found as soon as they are read."""
        return await self._found(request, SearchQuestion.model_validate({"question": q, "top": top}))

    async def search_with_filters(self, request: Request, asked: SearchQuestion) -> list[dict[str, Any]]:
        """Pages that answer the question among some documents, pages, labels or sections."""
        return await self._found(request, asked)

    async def embed(self, asked: EmbedQuestion) -> dict[str, Any]:
        """Vectors of questions, by the engine that embedded the run. Needs `penstock embed`."""
        engine, vectors = await self._context.search.vectors(asked.texts)
        return {"engine": engine, "vectors": vectors}

    async def _found(self, request: Request, asked: SearchQuestion) -> list[dict[str, Any]]:
        documents = tuple(asked.documents)
        if not owner_of(request).may("admin"):
            mine = self._context.jobs.documents_of(owner_of(request).name)
            documents = tuple(name for name in mine if not documents or name in documents)
            if not documents:
                return []
        pages = PageRange.parse(asked.pages) if asked.pages else None
        filters = Filters(
            documents=documents, pages=pages, labels=tuple(asked.labels), sections=tuple(asked.sections)
        )
        return await self._context.search(asked.question, asked.top, filters)
