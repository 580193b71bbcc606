"""The run behind the service: its stages now, what failed and why, and trying again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request

from penstock.errors import Failure, UsageError
from penstock.passes.service import profile_now
from penstock.serve.errors import HttpRefusal
from penstock.serve.routes.context import Context
from penstock.serve.routes.documents import Name, status_row
from penstock.serve.routes.models import DocumentAnswer, FailureAnswer, RunAnswer, errors
from penstock.trace import report
from penstock.trace.profile import Profile
from penstock.trace.spans import StageState

MAX_FAILURES = 1_000  # of one answer


class RunRoutes:
    """One method for each path."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._service = context.service

    def add_to(self, app: FastAPI) -> None:
        app.get("/v1/run", response_model=RunAnswer)(self.get_run)
        app.get("/v1/failures", response_model=list[FailureAnswer])(self.list_failures)
        app.post(
            "/v1/retry", status_code=202, response_model=DocumentAnswer, responses=errors(404, 405, 409)
        )(self.retry_document)

    def get_run(self) -> dict[str, Any]:
        """How busy the stages are, and which one holds the others up."""
        run = self._service.run
        if run is None:
            return _run_row(self._kept(), (), is_live=False, waiting=0)
        depths = run.executor.depths()
        return _run_row(profile_now(run), depths, is_live=True, waiting=self._service.waiting)

    def list_failures(
        self, request: Request, limit: Annotated[int, Query(ge=1, le=MAX_FAILURES)] = 100
    ) -> list[dict[str, Any]]:
        """Pages and parts of pages that failed, latest document first, each with the reason."""
        return list(islice(self._failures(request), limit))

    def retry_document(self, request: Request, name: Name) -> dict[str, Any]:
        """Reads the failed pages of a document again."""
        self._context.check_takes()
        if not self._context.sees_document(request, name) or not self._service.was_sent(name):
            raise HttpRefusal(404, f"No document {name!r} was sent to this service.", "Send it.")
        return status_row(self._service.read_again(name))

    def _kept(self) -> Profile:
        try:
            return report.read(self._service.out)
        except UsageError:  # a run from Python leaves no profile
            return Profile()

    def _failures(self, request: Request) -> Iterator[dict[str, Any]]:
        for status in self._service.documents():
            if not status.failed or not self._context.sees_document(request, status.name):
                continue
            for part, place in self._service.catalogue.places(status.name).items():
                if not place.ok:
                    yield from self._failures_of(status.name, part)

    def _failures_of(self, name: str, part: int) -> Iterator[dict[str, Any]]:
        item = self._service.catalogue.page(name, part)
        if item is None:
            return
        found: list[tuple[str, Failure]] = [("", item.failure)] if item.failure else []
        for what, failure in [*found, *item.failed_parts()]:
            yield {
                "document": name,
                "page": part + 1,
                "part": what,
                "stage": failure.stage,
                "message": failure.message,
                "advice": failure.advice,
                "can_try_again": self._service.was_sent(name),
            }


def _run_row(
    profile: Profile, depths: tuple[StageState, ...], *, is_live: bool, waiting: int
) -> dict[str, Any]:
    now = {state.name: state for state in depths}
    stages = [
        {
            "name": stage.name,
            "workers": stage.workers,
            "waiting": now[stage.name].waiting if stage.name in now else 0,
            "running": now[stage.name].running if stage.name in now else 0,
            "done": stage.items,
            "failed": stage.failed,
            **{name: round(share, 4) for name, share in stage.shares.items()},
        }
        for stage in profile.stages
    ]
    return {
        "is_live": is_live,
        "done": profile.items,
        "failed": profile.failed,
        "waiting_pages": waiting,
        "finding": report.finding(profile),
        "advice": "" if is_live else report.advice(profile),  # a service that waits for work lacks nothing
        "bottleneck": profile.bottleneck,
        "stages": stages,
    }
