"""`convert` and `parse` for programs with an event loop.

The run has threads and processes of its own. One more thread waits for its pages, so that the loop does not.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from functools import partial
from pathlib import Path
from typing import Unpack

from penstock.api.documents import parse
from penstock.api.inputs import Inputs
from penstock.api.reader import convert
from penstock.api.waiting import Waiting, on_loop, read_whole
from penstock.converted.document import Document
from penstock.converted.inputs import Source
from penstock.page import Page
from penstock.passes.in_order import OnProgress, Order
from penstock.passes.settings import ParseSettings
from penstock.plan import Plan
from penstock.sources import MAX_PAGES
from penstock.sources.page_range import Pages


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

    `on_progress` is called on the event loop. For several documents, use a `Reader`: it keeps models
    loaded between them.

        doc = await penstock.aconvert("report.pdf")
        print(doc.markdown)
    """
    work = partial(
        convert,
        source,
        recipe=recipe,
        pages=pages,
        executor=executor,
        on_progress=on_loop(on_progress),
        **options,
    )
    document: Document = await read_whole(work)
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
        id_column=id_column, on_progress=on_loop(on_progress), **options,
    )  # fmt: skip
    with Waiting() as waiting:
        stream: Generator[Page, None, None] = await waiting.do(begin)
        try:
            while (page := await waiting.do(partial(next, stream, None))) is not None:
                yield page
        finally:
            waiting.later(stream.close)
