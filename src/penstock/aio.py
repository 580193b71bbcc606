"""`convert` and `parse` for programs with an event loop.

The run has threads and processes of its own. One more thread waits for its pages, so that the loop does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, Unpack

from penstock.api.documents import convert, parse
from penstock.api.inputs import Inputs
from penstock.converted.document import Document
from penstock.converted.inputs import Source
from penstock.page import Page
from penstock.passes.in_order import OnProgress, Order, ParseProgress
from penstock.passes.settings import ParseSettings
from penstock.plan import Plan
from penstock.sources import MAX_PAGES
from penstock.sources.page_range import Pages

Result = TypeVar("Result")


async def aconvert(
    source: Source,
    *,
    recipe: str | Plan = "documents",
    pages: Pages | None = None,
    executor: str = "local",
    on_progress: OnProgress | None = None,
    **options: Unpack[ParseSettings],
) -> Document:
    """Returns a document of which every page is read: asking it for something then takes little time.

    `on_progress` is called on the event loop. For several documents, call it once for each.

        doc = await penstock.aconvert("report.pdf")
        print(doc.markdown)
    """
    work = partial(
        convert,
        source,
        recipe=recipe,
        pages=pages,
        executor=executor,
        on_progress=_on_loop(on_progress),
        **options,
    )
    with _Waiting() as waiting:
        document: Document = await waiting.do(work)
        try:
            await waiting.do(partial(len, document.pages))
        except BaseException:
            waiting.later(document.close)
            raise
    return document


async def aparse(
    inputs: Inputs,
    *,
    out: str | Path | None = None,
    recipe: str | Plan = "documents",
    pages: Pages | None = None,
    max_pages: int = MAX_PAGES,
    order: Order = "source",
    executor: str = "local",
    retry_failed: bool = False,
    fresh: bool = False,
    image_column: str | None = None,
    id_column: str | None = None,
    on_progress: OnProgress | None = None,
    **options: Unpack[ParseSettings],
) -> AsyncGenerator[Page, None]:
    """Yields what `parse` yields. A run that is left early ends after the page that it waits for.

    async for page in penstock.aparse("scans/", out="out"):
        print(page.document, page.number)
    """
    begin = partial(
        parse, inputs, out=out, recipe=recipe, pages=pages, max_pages=max_pages, order=order,
        executor=executor, retry_failed=retry_failed, fresh=fresh, image_column=image_column,
        id_column=id_column, on_progress=_on_loop(on_progress), **options,
    )  # fmt: skip
    with _Waiting() as waiting:
        stream: Generator[Page, None, None] = await waiting.do(begin)
        try:
            while (page := await waiting.do(partial(next, stream, None))) is not None:
                yield page
        finally:
            waiting.later(stream.close)


class _Waiting:
    """One thread that waits in the loop's place. Its calls follow one another, also after it is left."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="aio")

    def __enter__(self) -> _Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=False)  # it ends by itself, after what it was given

    async def do(self, call: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def later(self, call: Callable[[], object]) -> None:
        """Does it when the calls before it have ended; nobody waits for that."""
        self._thread.submit(call)


def _on_loop(on_progress: OnProgress | None) -> Callable[[ParseProgress], Any] | None:
    """Returns a callback that may be called from any thread and runs on this loop."""
    if on_progress is None:
        return None
    loop = asyncio.get_running_loop()
    return lambda progress: loop.call_soon_threadsafe(on_progress, progress)
