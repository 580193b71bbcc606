"""Reads documents as Python objects: `Reader` stays open between them, `convert` is one for a single call."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self, Unpack, overload

from penstock.api.waiting import Waiting, on_loop, read_whole
from penstock.converted.collection import Documents
from penstock.converted.convert import Counter, ReadPages, convert_many, convert_one
from penstock.converted.document import Document
from penstock.converted.inputs import Source
from penstock.converted.notebook import notebook_bar
from penstock.converted.python_terms import in_python_terms
from penstock.converted.shared_run import SharedRun, closed_error, read_once
from penstock.executors import make_executor
from penstock.options.running import RECIPE
from penstock.options.typed import ConvertSettings, ReaderSettings
from penstock.page import Page
from penstock.passes.in_order import OnProgress, PageStream
from penstock.passes.parse import ParseOptions, parse_options
from penstock.plan import Plan
from penstock.sources.page_range import Pages, pages_text
from penstock.sources.probe import PageCounter
from penstock.trace.spans import Trace

Several = list[Any] | tuple[Any, ...] | Generator[Any, None, None]


class Reader:
    """Reads documents, and keeps its processes and models loaded between them.

        with penstock.Reader(lang="ko") as reader:
            for path in paths:
                print(reader.convert(path).markdown)

    `recipe` and `options` are those of `parse`. Any number of threads may use one Reader; their documents are
    read side by side. Models load with the first page. A document that cannot be read costs no other one. In
    an event loop, write `async with` and `await reader.aconvert(path)`.
    """

    @in_python_terms()
    def __init__(self, recipe: str | Plan = RECIPE.default, **options: Unpack[ReaderSettings]) -> None:
        self._options = _options({**options, RECIPE.name: recipe})
        self._counter = PageCounter(self._options.settings.get("password"))
        self._close_counter = weakref.finalize(self, self._counter.close)  # also where `close` is not called
        self._run: SharedRun | None = None
        self._is_closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        with Waiting() as waiting:
            await waiting.do(self.close)

    def close(self) -> None:
        """Ends its threads and processes. Pages that were read stay with their documents."""
        with self._lock:
            self._is_closed = True
        if self._run is not None:
            self._run.close()
        self._close_counter()

    @overload
    def convert(
        self, source: Source, *, pages: Pages | None = None, on_progress: OnProgress | None = None
    ) -> Document: ...
    @overload
    def convert(
        self, source: Several, *, pages: Pages | None = None, on_progress: OnProgress | None = None
    ) -> Documents: ...
    def convert(
        self,
        source: Source | Several,
        *,
        pages: Pages | None = None,
        on_progress: OnProgress | None = None,
    ) -> Document | Documents:
        """Returns what `penstock.convert` returns. Raises UsageError if the Reader is closed."""
        if self._is_closed:
            raise closed_error()
        return _converted(
            source, self._options, pages, partial(self._pages, on_progress or notebook_bar()), self._counter
        )

    @overload
    async def aconvert(
        self, source: Source, *, pages: Pages | None = None, on_progress: OnProgress | None = None
    ) -> Document: ...
    @overload
    async def aconvert(
        self, source: Several, *, pages: Pages | None = None, on_progress: OnProgress | None = None
    ) -> Documents: ...
    async def aconvert(
        self,
        source: Source | Several,
        *,
        pages: Pages | None = None,
        on_progress: OnProgress | None = None,
    ) -> Document | Documents:
        """Returns what `convert` returns, with every page read. `on_progress` is called on the event loop."""
        work = partial(self.convert, source, pages=pages, on_progress=on_loop(on_progress))
        found: Document | Documents = await read_whole(work)
        return found

    def _pages(self, on_progress: OnProgress | None, plan: Plan, listing: Iterator[Page]) -> PageStream:
        yield from self._open_run(plan).pages(listing, on_progress)

    def _open_run(self, plan: Plan) -> SharedRun:
        """Returns the run that is open. One that an error ended is replaced."""
        with self._lock:
            if self._is_closed:
                raise closed_error()
            if self._run is not None and self._run.error is not None:
                self._run.close()
                self._run = None
            if self._run is None:
                self._run = SharedRun(plan, self._options.executor)
            return self._run


@overload
def convert(
    source: Source,
    *,
    on_progress: OnProgress | None = None,
    **options: Unpack[ConvertSettings],
) -> Document: ...
@overload
def convert(
    source: Several,
    *,
    on_progress: OnProgress | None = None,
    **options: Unpack[ConvertSettings],
) -> Documents: ...
@in_python_terms()
def convert(
    source: Source | Several,
    *,
    on_progress: OnProgress | None = None,
    **options: Unpack[ConvertSettings],
) -> Document | Documents:
    """Returns a document that reads its pages when they are used.

    `source` is a path, an http or https address, bytes, a binary stream, a PIL image or a numpy array
    (red, green, blue). A list of them gives `Documents`, which one run reads; folders, patterns and data
    sets go into a list, too. `pages` is 3, [1, 3], range(3, 10) or "3-9". `recipe` and `options` are those
    of `parse`. To keep models loaded between calls, use a `Reader`.

        doc = penstock.convert("report.pdf")
        print(doc.markdown)
        for table in doc.tables:
            print(table.to_pandas())
    """
    chosen = _options(options)
    read = partial(read_once, chosen.executor, on_progress or notebook_bar())
    return _converted(source, chosen, options.get("pages"), read)


def _options(options: Mapping[str, Any]) -> ParseOptions:
    """Returns the options with their plan built: mistakes show before anything is read."""
    chosen = parse_options((), options)
    make_executor(chosen.executor, Trace())  # raises UsageError if there is none of this name
    return replace(chosen, recipe=chosen.plan())


def _converted(
    source: Source | Several,
    options: ParseOptions,
    pages: Pages | None,
    read: ReadPages,
    counter: Counter = None,
) -> Document | Documents:
    chosen = replace(options, pages=pages_text(pages))
    if isinstance(source, list | tuple | Generator):
        return convert_many(source, chosen, read, counter)
    return convert_one(source, chosen, read, counter)
