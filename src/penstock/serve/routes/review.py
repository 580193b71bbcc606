"""What a person should look at, and what they put right."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request

from penstock.addresses.locator import EXAMPLE, Locator
from penstock.errors import UsageError
from penstock.exports.correct import history, history_row, keep
from penstock.exports.review import worst
from penstock.page import Page
from penstock.serve.errors import HttpRefusal
from penstock.serve.routes.context import Context, owner_of, pages_of
from penstock.serve.routes.models import CorrectionAnswer, ReviewAnswer, TypedCorrection, errors
from penstock.store.out import Out

MAX_PAGES = 5_000  # that one request looks through: some 10 s
Place = Annotated[str, Query(max_length=4000, examples=[EXAMPLE])]


class ReviewRoutes:
    """One method for each path."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._service = context.service
        self._out = Out(context.service.out)

    def add_to(self, app: FastAPI) -> None:
        app.get("/v1/review", response_model=list[ReviewAnswer], responses=errors(404))(self.review)
        path = "/v1/corrections"
        app.get(path, response_model=list[CorrectionAnswer], responses=errors(404))(self.list_corrections)
        app.post(path, response_model=CorrectionAnswer, responses=errors(404, 409, 413))(self.correct)

    async def review(
        self,
        request: Request,
        name: Annotated[str | None, Query(description="Of this document alone.")] = None,
        top: Annotated[int, Query(ge=1, le=1000)] = 50,
    ) -> list[dict[str, Any]]:
        """The places that a person should look at, worst first; of a large run, of its first 5,000 pages."""
        there = self._service.catalogue.documents()
        names = [one for one in there if name is None or one == name]
        mine = [one for one in names if self._context.sees_document(request, one)]
        if name is not None and not mine:
            raise HttpRefusal(404, f"There is no document {name!r}.")
        found = await self._context.exporting(partial(worst, pages_of(self._service, mine, MAX_PAGES), top))
        return [place.row() for place in found]

    def list_corrections(self, request: Request, locator: Place) -> list[dict[str, Any]]:
        """What was corrected at an address and below it, oldest first."""
        self._seen(request, _parsed(locator))
        return [history_row(one) for one in history(self._out, locator)]

    def correct(self, request: Request, typed: TypedCorrection) -> dict[str, Any]:
        """Keeps a text as what stands at a region, a line or a cell. Every export uses it from then on.

        With `before`, it is refused where someone else was faster.
        """
        at = _parsed(typed.locator)
        self._seen(request, at)
        page = None if at.page is None else self._service.catalogue.page(at.document, at.page - 1)
        if not isinstance(page, Page):
            raise HttpRefusal(404, f"No page that can be corrected is at {at}.")
        who = owner_of(request).name or typed.who
        try:
            return history_row(keep(self._out, page, at, typed.text, who=who, before=typed.before))
        except UsageError as exc:
            raise HttpRefusal(409, exc.message, exc.advice) from exc

    def _seen(self, request: Request, at: Locator) -> None:
        if not self._context.sees_document(request, at.document):
            raise HttpRefusal(404, f"There is no document {at.document!r}.")


def _parsed(locator: str) -> Locator:
    try:
        return Locator.parse(locator)
    except UsageError as exc:
        raise HttpRefusal(404, exc.message, exc.advice) from exc
