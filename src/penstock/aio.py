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
from penstock.options.typed import ConvertSettings, RunSettings
from penstock.page import Page
from penstock.passes.in_order import OnProgress, Order


async def aconvert(
    source: Source,
    *,
    on_progress: OnProgress | None = None,
    **options: Unpack[ConvertSettings],
) -> Document:
    """Returns a document of which every page is read: asking it for something then takes little time.

    `on_progress` is called on the event loop. For several documents, use a `Reader`: it keeps models
    loaded between them.

        doc = await penstock.aconvert("report.pdf")
        print(doc.markdown)
    """
    work = partial(convert, source, on_progress=on_loop(on_progress), **options)
    document: Document = await read_whole(work)
    return document


async def aparse(
    inputs: Inputs,
    *,
    out: str | Path | None = None,
    order: Order = "source",
    on_progress: OnProgress | None = None,
    **options: Unpack[RunSettings],
) -> AsyncGenerator[Page, None]:
    """Yields what `parse` yields. A run that is left early ends after the page that it waits for.

    async for page in penstock.aparse("scans/", out="out"):
        print(page.document, page.number)
    """
    begin = partial(parse, inputs, out=out, order=order, on_progress=on_loop(on_progress), **options)
    with Waiting() as waiting:
        stream: Generator[Page, None, None] = await waiting.do(begin)
        try:
            while (page := await waiting.do(partial(next, stream, None))) is not None:
                yield page
        finally:
            waiting.later(stream.close)
