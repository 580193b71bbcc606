"""Pages of a job, whether the service's run reads it or a run of its own: progress, rows and pictures."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from penstock.errors import UsageError
from penstock.exports.overlays import MAX_SIDE
from penstock.page import Page
from penstock.photo import Photo
from penstock.photos.user_boxes import GivenBox
from penstock.serve.errors import HttpRefusal
from penstock.serve.jobs.drawn_boxes import with_drawn
from penstock.serve.jobs.jobs import JobState
from penstock.serve.jobs.results import item_row
from penstock.serve.reading.catalogue import Catalogue
from penstock.serve.reading.progress import Status
from penstock.serve.routes.context import Context
from penstock.serve.routes.documents import JPEG, Name, PageNumber, Side, jpeg_answer, parts_row, status_row
from penstock.serve.routes.jobs import job_row
from penstock.serve.routes.models import DocumentAnswer, DocumentPartsAnswer, DrawnBoxes, JobAnswer, errors

MAX_CATALOGUES = 16  # of jobs someone looked at last


class JobPageRoutes:
    """One method for each path."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._recent: OrderedDict[tuple[str, float | None], Catalogue] = OrderedDict()

    def add_to(self, app: FastAPI) -> None:
        one = "/v1/jobs/{id}"
        app.get(f"{one}/documents", response_model=list[DocumentAnswer], responses=errors(404))(
            self.list_job_documents
        )
        app.get(f"{one}/document", response_model=DocumentPartsAnswer, responses=errors(404))(
            self.get_job_document
        )
        app.get(f"{one}/page", responses=errors(404))(self.get_job_page)
        app.get(f"{one}/picture", response_class=Response, responses={**JPEG, **errors(404)})(
            self.get_job_picture
        )
        app.post(
            f"{one}/boxes", status_code=202, response_model=JobAnswer, responses=errors(404, 405, 409, 413)
        )(self.add_job_boxes)

    def list_job_documents(self, request: Request, id: str) -> list[dict[str, Any]]:
        """The job's documents and their progress."""
        state = self._context.job(request, id)
        return [status_row(self._status(state, name)) for name in self._names(state)]

    def get_job_document(self, request: Request, id: str, name: Name) -> dict[str, Any]:
        """A document's progress and its pages."""
        state = self._context.job(request, id)
        self._check(state, name)
        return parts_row(self._status(state, name), self._catalogue(state).places(name))

    def get_job_page(self, request: Request, id: str, name: Name, page: PageNumber) -> dict[str, Any]:
        """One page as in ocr_results.jsonl; a photo with its objects as in objects.jsonl."""
        return item_row(self._item(request, id, name, page)[0])

    async def get_job_picture(
        self,
        request: Request,
        id: str,
        name: Name,
        page: PageNumber,
        boxes: bool = True,
        side: Side = MAX_SIDE,
    ) -> Response:
        """The page as JPEG, with the boxes of its regions or objects."""
        item, out = await run_in_threadpool(self._item, request, id, name, page)
        return jpeg_answer(await self._context.pictures(item, boxes, side, out))

    def add_job_boxes(
        self, request: Request, id: str, name: Name, page: PageNumber, drawn: DrawnBoxes
    ) -> dict[str, Any]:
        """Measures a photo of /v1/volumes again, with the things it has and those that you drew."""
        photo, _ = self._item(request, id, name, page)
        state = self._context.job(request, id)
        if not isinstance(photo, Photo) or state.record.kind != "volumes":
            raise HttpRefusal(409, "Boxes are for photos of /v1/volumes.", "Send the photo there.")
        if not state.is_over:
            raise HttpRefusal(409, f"The job is {state.state}.", "Wait for its end.")
        self._context.check_takes("volumes")
        boxes = [GivenBox(photo.id, one.box, one.label) for one in drawn.boxes]
        try:
            options = with_drawn(state.record.options, photo, boxes)
            again = self._context.jobs.measure_again(id, options)
        except UsageError as exc:
            raise HttpRefusal(422, exc.message, exc.advice) from exc
        if again is None:
            raise HttpRefusal(404, f"There is no job {id!r}.")
        return job_row(again)

    def _item(self, request: Request, id: str, name: str, page: int) -> tuple[Page | Photo, Path]:
        state = self._context.job(request, id)
        self._check(state, name)
        item = self._catalogue(state).page(name, page - 1)
        if item is None:
            raise HttpRefusal(404, f"{name!r} has no page {page}, or it is not read yet.")
        return item, self._out(state)

    def _check(self, state: JobState, name: str) -> None:
        if name not in self._names(state):
            raise HttpRefusal(404, f"There is no document {name!r} in this job.")

    def _names(self, state: JobState) -> list[str]:
        record = state.record
        return self._catalogue(state).documents() if record.has_own_run else list(record.documents)

    def _status(self, state: JobState, name: str) -> Status:
        """How far a document is. Of a run of its own one knows the pages of a document at the run's end."""
        if not state.record.has_own_run:
            return self._context.service.status(name) or Status(name, None, 0, 0)
        places = self._catalogue(state).places(name).values()
        done = sum(place.ok for place in places)
        return Status(name, len(places) if state.is_over else None, done, len(places) - done)

    def _out(self, state: JobState) -> Path:
        return (
            self._context.jobs.out_of(state.record) if state.record.has_own_run else self._context.service.out
        )

    def _catalogue(self, state: JobState) -> Catalogue:
        if not state.record.has_own_run:
            return self._context.service.catalogue
        key = state.record.id, state.record.finished  # photos that are measured again have other rows
        with self._lock:
            found = self._recent[key] = self._recent.get(key) or Catalogue(self._out(state), follows=True)
            self._recent.move_to_end(key)
            while len(self._recent) > MAX_CATALOGUES:
                self._recent.popitem(last=False)
        return found
