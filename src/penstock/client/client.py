"""`penstock.Client`: documents to a service, results back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Unpack

from penstock.client.connection import FormParts, SentFile, ServiceConnection, ServiceError, Sleep
from penstock.client.results import PhotoResults, ServiceDocument, decoded, documents_in, hits_in, photos_in
from penstock.client.settings import Given, ServiceParseSettings, ServicePhotoSettings
from penstock.errors import UsageError
from penstock.retrieval.hits import NO_FILTERS, Filters, Hit

JSON = "application/json"
WAIT_S = 30.0  # that one question for a job's end takes at most
MIN_WAIT_S = 1.0
MAX_RESULT_BYTES = 1 << 30  # it is held in memory
MAX_FILE_BYTES = 16 << 30
ZIP_BEGINS = b"PK\x03\x04"  # a result that is several files
PHOTO_FILES = ("depths", "furniture")  # options of photos that are files

JobKind = Literal["parse", "volumes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceJob:
    """A job of the service, as it was when it was asked for."""

    id: str
    kind: str
    state: str
    files: tuple[str, ...]
    pages: int | None
    done: int
    failed: int
    created: datetime
    finished: datetime | None
    error: str
    results: tuple[str, ...]

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")


class Client:
    """Calls a running `penstock serve`.

        client = penstock.Client("http://gpu:8080", key="pk_...")
        print(client.markdown("report.pdf", lang="ko"))

        job = client.submit(["a.pdf", "b.pdf"])
        for state in client.events(job.id):
            print(state.done, "of", state.pages)
        client.save(job.id, "results.zip", "zip")

    Files are paths, bytes, or (name, bytes). Options are those of `penstock parse` that name no server.
    A service that is full is asked again for a while. Raises `ServiceError`.
    """

    def __init__(
        self, url: str = "http://127.0.0.1:8080", key: str | None = None, sleep: Sleep = time.sleep
    ) -> None:
        self._service = ServiceConnection(url, key, sleep)

    # in one call

    def parse(
        self, files: Given | Sequence[Given], **options: Unpack[ServiceParseSettings]
    ) -> list[ServiceDocument]:
        """Returns the documents with their pages and regions. Waits as long as it takes."""
        return documents_in(self.result(self._finished("parse", files, options).id))

    def markdown(self, file: Given, **options: Unpack[ServiceParseSettings]) -> str:
        """Returns one document as Markdown. Raises ServiceError for an archive of several."""
        found = self.result(self._finished("parse", [file], options).id, "markdown")
        if found.startswith(ZIP_BEGINS):
            raise ServiceError("The file holds several documents.", "Call parse: it returns all of them.")
        return found.decode()

    def volumes(
        self, photos: Given | Sequence[Given], **options: Unpack[ServicePhotoSettings]
    ) -> PhotoResults:
        """Returns what is on the photos, by photo, with totals.

        `depths` are files of depth maps, named after their photos; `furniture` is a CSV of sizes.
        """
        return photos_in(self.result(self._finished("volumes", photos, options).id))

    def search(self, question: str, *, top: int = 10, filters: Filters = NO_FILTERS) -> list[Hit]:
        """Returns pages that answer, best first, as `penstock.search` does."""
        lists = {name: list(getattr(filters, name)) for name in ("documents", "labels", "sections")}
        pages = {"pages": str(filters.pages)} if filters.pages is not None else {}
        body = json.dumps({"question": question, "top": top, **lists, **pages}).encode()
        return hits_in(self._service.json("POST", "/v1/search", body, JSON))

    def extract(self, document: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a document's `values` by a JSON Schema, and `fields` with the locators that prove them."""
        asked = json.dumps({"name": document, "fields": fields}).encode()
        found: dict[str, Any] = self._service.json("POST", "/v1/extract", asked, JSON)
        return found

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Returns a vector for each question, by the engine that embedded the service's run."""
        asked = json.dumps({"texts": list(texts)}).encode()
        vectors: list[list[float]] = self._service.json("POST", "/v1/embed", asked, JSON)["vectors"]
        return vectors

    # jobs

    def submit(
        self,
        files: Given | Sequence[Given],
        kind: JobKind = "parse",
        idempotency_key: str | None = None,
        **options: Any,
    ) -> ServiceJob:
        """Sends files. When it returns, the service has them on its disk."""
        files_of_photos = (
            {name: options.pop(name) for name in PHOTO_FILES if name in options} if kind == "volumes" else {}
        )
        others = [
            replace(file, into=name) for name, given in files_of_photos.items() for file in _files(given)
        ]
        form = FormParts(options, [*_files(files), *others])
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        with self._service.answer("POST", f"/v1/{kind}", form, headers=headers) as answer:
            return _job(answer.json())

    def job(self, id: str, wait: float = 0.0) -> ServiceJob:
        """Returns how far a job is; waits so many seconds for its end."""
        return _job(self._service.json("GET", f"/v1/jobs/{id}", wait=wait or None))

    def jobs(self, start: int = 0, limit: int = 100) -> list[ServiceJob]:
        """Returns your jobs, latest first."""
        return [_job(row) for row in self._service.json("GET", "/v1/jobs", start=start, limit=limit)]

    def wait(self, id: str) -> ServiceJob:
        """Returns a job when it is over."""
        while True:
            began = time.monotonic()
            if (job := self.job(id, WAIT_S)).is_over:
                return job
            if time.monotonic() - began < MIN_WAIT_S:  # a service that does not wait may not keep us busy
                self._service.sleep(MIN_WAIT_S)

    def events(self, id: str) -> Iterator[ServiceJob]:
        """Yields a job whenever it has moved, up to its end.

        A service with many streams may end this one early; then the job is asked for, and followed again.
        """
        while True:
            for row in self._rows(id):
                if not isinstance(row, dict) or "id" not in row:  # it was deleted
                    return
                yield (job := _job(row))
                if job.is_over:
                    return
            if (job := self.job(id, WAIT_S)).is_over:
                yield job
                return

    def _rows(self, id: str) -> Iterator[Any]:
        with self._service.answer("GET", f"/v1/jobs/{id}/events") as stream:
            for line in stream.lines():
                if line.startswith(b"data: "):
                    yield decoded(line[6:])

    def cancel(self, id: str) -> ServiceJob:
        return _job(self._service.json("POST", f"/v1/jobs/{id}/cancel", b""))

    def delete(self, id: str) -> None:
        """Deletes a job, its files and its results."""
        self._service.json("DELETE", f"/v1/jobs/{id}")

    def result(self, id: str, format: str = "json") -> bytes:
        """Returns what came of a job: json, markdown, docjson, chunks, searchable-pdf, zip, ..."""
        with self._service.answer("GET", f"/v1/jobs/{id}/result", format=format) as answer:
            return answer.read(MAX_RESULT_BYTES)

    def save(
        self,
        id: str,
        path: str | Path,
        format: str = "zip",
        of: Sequence[str] = (),
        max_bytes: int = MAX_FILE_BYTES,
    ) -> Path:
        """Writes a result to a file. `of` are the formats that a ZIP holds."""
        path, names = Path(path), ",".join(of) or None
        asked = self._service.answer("GET", f"/v1/jobs/{id}/result", format=format, of=names)
        with asked as answer, path.open("wb") as file:
            for piece in answer.pieces(max_bytes):
                file.write(piece)
        return path

    # the service

    def health(self) -> dict[str, Any]:
        """Returns how the service is. Raises ServiceError with the reason while it is not ready."""
        state: dict[str, Any] = self._service.json("GET", "/health")
        return state

    def engines(self) -> dict[str, Any]:
        """Returns what reads the documents: stages, servers, cards, and how much waits."""
        state: dict[str, Any] = self._service.json("GET", "/v1/engines")
        return state

    def _finished(
        self, kind: JobKind, files: Given | Sequence[Given], options: Mapping[str, Any]
    ) -> ServiceJob:
        job = self.wait(self.submit(files, kind, **options).id)
        if job.state != "done":
            raise ServiceError(job.error or f"The job {job.state}.", "Ask for its pages: client.result(id).")
        return job


def _files(given: Given | Sequence[Given]) -> list[SentFile]:
    several = isinstance(given, Sequence) and not isinstance(given, str | bytes) and not _is_named(given)
    files = [_file(one) for one in (given if several else [given])]  # type: ignore[union-attr, arg-type]
    if not files:
        raise UsageError("There is no file to send.")
    return files


def _is_named(given: object) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], bytes)


def _file(given: Given) -> SentFile:
    if isinstance(given, bytes):
        return SentFile("document", given)
    if isinstance(given, tuple):
        return SentFile(*given)
    path = Path(given)
    if not path.is_file():
        raise UsageError(f"{path} is no file.")
    return SentFile(path.name, path)


def _job(row: Any) -> ServiceJob:
    """Returns a job as the service shows it. Raises ServiceError for what is none."""
    known = {field.name for field in fields(ServiceJob)}
    try:
        known_values = {name: value for name, value in row.items() if name in known}
        lists = {"files": tuple(row["files"]), "results": tuple(row["results"])}
        times = {name: row[name] and datetime.fromisoformat(row[name]) for name in ("created", "finished")}
        return ServiceJob(**{**known_values, **lists, **times})
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise ServiceError("The service answered with what is no job.") from exc
