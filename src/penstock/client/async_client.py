"""`penstock.AsyncClient`: what `penstock.Client` does, for programs with an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, Unpack

from penstock.client.client import Client, JobKind, ServiceJob
from penstock.client.results import PhotoResults, ServiceDocument
from penstock.client.settings import Given, ServiceParseSettings, ServicePhotoSettings
from penstock.retrieval.hits import NO_FILTERS, Filters, Hit

P = ParamSpec("P")
T = TypeVar("T")


class AsyncClient:
    """Calls a running `penstock serve` without blocking the loop: each request waits on a thread.

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(client.markdown(path)) for path in paths]
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", key: str | None = None) -> None:
        self._client = Client(url, key)

    async def parse(
        self, files: Given | Sequence[Given], **options: Unpack[ServiceParseSettings]
    ) -> list[ServiceDocument]:
        return await _on_thread(self._client.parse, files, **options)

    async def markdown(self, file: Given, **options: Unpack[ServiceParseSettings]) -> str:
        return await _on_thread(self._client.markdown, file, **options)

    async def volumes(
        self, photos: Given | Sequence[Given], **options: Unpack[ServicePhotoSettings]
    ) -> PhotoResults:
        return await _on_thread(self._client.volumes, photos, **options)

    async def search(self, question: str, *, top: int = 10, filters: Filters = NO_FILTERS) -> list[Hit]:
        return await _on_thread(self._client.search, question, top=top, filters=filters)

    async def extract(self, document: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        return await _on_thread(self._client.extract, document, fields)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return await _on_thread(self._client.embed, texts)

    async def submit(
        self,
        files: Given | Sequence[Given],
        kind: JobKind = "parse",
        idempotency_key: str | None = None,
        **options: Any,
    ) -> ServiceJob:
        return await _on_thread(self._client.submit, files, kind, idempotency_key, **options)

    async def job(self, id: str, wait: float = 0.0) -> ServiceJob:
        return await _on_thread(self._client.job, id, wait)

    async def jobs(self, start: int = 0, limit: int = 100) -> list[ServiceJob]:
        return await _on_thread(self._client.jobs, start, limit)

    async def wait(self, id: str) -> ServiceJob:
        return await _on_thread(self._client.wait, id)

    async def events(self, id: str) -> AsyncIterator[ServiceJob]:
        events = self._client.events(id)
        while (job := await _on_thread(next, events, None)) is not None:
            yield job

    async def cancel(self, id: str) -> ServiceJob:
        return await _on_thread(self._client.cancel, id)

    async def delete(self, id: str) -> None:
        await _on_thread(self._client.delete, id)

    async def result(self, id: str, format: str = "json") -> bytes:
        return await _on_thread(self._client.result, id, format)

    async def save(self, id: str, path: str | Path, format: str = "zip", of: Sequence[str] = ()) -> Path:
        return await _on_thread(self._client.save, id, path, format, of)

    async def health(self) -> dict[str, Any]:
        return await _on_thread(self._client.health)

    async def engines(self) -> dict[str, Any]:
        return await _on_thread(self._client.engines)


async def _on_thread(call: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    return await asyncio.to_thread(call, *given, **named)
