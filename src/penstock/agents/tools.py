"""The tools themselves. Their signatures and first sentences are what an agent sees.

An answer is a list: texts, and JPEGs as bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import anyio
from pydantic import Field

from penstock.addresses.locator import EXAMPLE, Locator
from penstock.agents.answers import (
    CHARS,
    MAX_CHARS,
    document_answer,
    documents_answer,
    hits_answer,
    located_answer,
    page_answer,
    region_answer,
    regions_answer,
    things_answer,
)
from penstock.agents.caller import caller
from penstock.agents.documents import AgentDocuments
from penstock.agents.files import AllowedFiles, GivenFile
from penstock.agents.photos import measured
from penstock.choices import OfficeUse
from penstock.retrieval.hits import Filters, SearchOptions
from penstock.sources.page_range import PageRange

Answer = list[str | bytes]

WAIT_S, MAX_WAIT_S = 45.0, 300.0  # programs give up on a tool after a minute, by default
LOOK_S = 0.1
MAX_LISTED = 50

PathOnThisMachine = Annotated[str, Field(description="A file on the server's machine, in an allowed folder.")]
Content = Annotated[str, Field(description="Instead of a path: the file's bytes as base64.")]
FileName = Annotated[str, Field(description="The name of a file that is sent as content.", max_length=400)]
Chars = Annotated[int, Field(ge=200, le=MAX_CHARS, description="Characters of the answer at most.")]
Start = Annotated[int, Field(ge=0, description="Begin at this character, as an answer that was cut says.")]
DocumentName = Annotated[str, Field(description="As parse, list_documents and search give it.")]
PageNumber = Annotated[int, Field(ge=1, description="From 1.")]
Wait = Annotated[float, Field(ge=0, le=MAX_WAIT_S, description="Seconds to wait for all pages.")]
WithPicture = Annotated[bool, Field(description="Add the picture as JPEG.")]


class AgentTools:
    """One method for each tool."""

    def __init__(self, documents: AgentDocuments, files: AllowedFiles) -> None:
        self._documents = documents
        self._files = files
        self._measuring = anyio.CapacityLimiter(1)  # photos one after another: each fills the processor

    def all(self) -> list[Callable[..., Any]]:
        """Returns the tools that work here: without a recipe no document is taken."""
        parse = [self.parse] if self._documents.takes_documents else []
        return [
            *parse, self.list_documents, self.read_page, self.read_region, self.read_locator, self.search,
            self.measure_photo,
        ]  # fmt: skip

    async def parse(
        self,
        path: PathOnThisMachine = "",
        content: Content = "",
        name: FileName = "",
        office: Annotated[
            OfficeUse | None, Field(description="An Office file or HWP: by structure, as pages, or both.")
        ] = None,
        wait_s: Wait = WAIT_S,
        max_chars: Chars = CHARS,
    ) -> Answer:
        """Read a PDF, a picture of pages, an Office file, HWP, a mail or an archive: Markdown, page by page.

        Answers with the document's name and its beginning; read_page has the rest. An archive is a document
        for each file in it. A long document is read on after the answer: call again with the same file to
        wait for it.
        """
        given = GivenFile(path, content, name)
        taken = await anyio.to_thread.run_sync(self._documents.take, given, office)
        await self._waited(taken.name, min(wait_s, MAX_WAIT_S))
        return [await anyio.to_thread.run_sync(self._told, taken.name, max_chars)]

    def list_documents(self, start: Annotated[int, Field(ge=0)] = 0) -> Answer:
        """List the documents that can be read and searched, with their numbers of pages."""
        found = self._documents.listed(start, MAX_LISTED + 1)
        return [documents_answer(found[:MAX_LISTED], start, len(found) > MAX_LISTED)]

    def read_page(
        self,
        document: DocumentName,
        page: PageNumber,
        regions: Annotated[bool, Field(description="Also list the page's regions with boxes.")] = False,
        picture: Annotated[bool, Field(description="Add the page as JPEG.")] = False,
        boxes: Annotated[bool, Field(description="Draw the regions' boxes on the picture.")] = False,
        start: Start = 0,
        max_chars: Chars = CHARS,
    ) -> Answer:
        """Read one page as Markdown; on request its regions, and its picture."""
        name = self._documents.known(document)
        found = self._documents.page(name, page)
        answer: Answer = [page_answer(found, self._documents.status(name).pages, start, max_chars)]
        if regions:
            answer.append(regions_answer(found)[:MAX_CHARS])
        if picture or boxes:
            answer.append(self._documents.picture(found, boxes))
        return answer

    def read_region(
        self,
        document: DocumentName,
        page: PageNumber,
        region: Annotated[int, Field(ge=0, description="Its number in the list of read_page.")],
        picture: WithPicture = False,
        start: Start = 0,
        max_chars: Chars = CHARS,
    ) -> Answer:
        """Read one region of a page: a paragraph, a table as HTML, a formula as LaTeX, or a figure."""
        found = self._documents.page(self._documents.known(document), page)
        one = self._documents.region(found, region)
        answer: Answer = [region_answer(found, one, start, max_chars)]
        if picture:
            answer.append(self._documents.region_picture(found, one))
        return answer

    def read_locator(
        self,
        locator: Annotated[str, Field(max_length=4000, description=f"As search gives it: {EXAMPLE}")],
        max_chars: Chars = CHARS,
    ) -> Answer:
        """Read what stands at a locator: a page, a region, a line, a cell of a table, a chunk."""
        return [located_answer(self._documents.at(Locator.parse(locator)), max_chars)]

    def search(
        self,
        query: Annotated[str, Field(min_length=1, max_length=1000, description="A question, or words.")],
        top: Annotated[int, Field(ge=1, le=50)] = 5,
        documents: Annotated[list[str], Field(max_length=100, description="Only in these.")] = [],  # noqa: B006  the schema is made of it; it is never changed
        pages: Annotated[str, Field(max_length=200, description="Only these, from 1: 3-9.")] = "",
        labels: Annotated[list[str], Field(max_length=30, description="Only these: table, chart.")] = [],  # noqa: B006
        max_chars: Chars = CHARS,
    ) -> Answer:
        """Find pages and regions that answer a question: by words, and by meaning where OUT has vectors."""
        filters = Filters(
            documents=self._documents.among(documents),
            pages=PageRange.parse(pages) if pages else None,
            labels=tuple(labels),
        )
        hits = self._documents.search(query, SearchOptions(top=top, filters=filters))
        return [hits_answer(hits, max_chars)]

    async def measure_photo(
        self,
        path: PathOnThisMachine = "",
        content: Content = "",
        name: FileName = "",
        boxes: Annotated[
            list[str], Field(max_length=100, description="Things: x,y,w,h:label, in pixels.")
        ] = [],  # noqa: B006
        known: Annotated[list[str], Field(max_length=20, description="Sizes: table=140cm wide.")] = [],  # noqa: B006
        camera_height: Annotated[float | None, Field(gt=0, le=100, description="Metres.")] = None,
        picture: Annotated[bool, Field(description="Add the photo with the boxes as JPEG.")] = False,
    ) -> Answer:
        """Measure the things in a photo of a room: width, depth, height and volume, with likely ranges."""
        settings = {} if camera_height is None else {"camera_height": camera_height}
        given = GivenFile(path, content, name)
        found, jpeg = await anyio.to_thread.run_sync(
            measured, self._files, given, boxes, known, settings, picture, limiter=self._measuring
        )
        text = things_answer(found)[:MAX_CHARS]
        return [text] if jpeg is None else [text, jpeg]

    async def _waited(self, name: str, wait_s: float) -> None:
        """Waits until all pages are read; and reports each to the caller."""
        end, reported = time.monotonic() + wait_s, -1
        while time.monotonic() < end:
            status = await anyio.to_thread.run_sync(self._documents.status, name)
            read = status.done + status.failed
            if read > reported and status.pages is not None:
                reported = read
                await caller().report(read, status.pages, f"{read} of {status.pages} pages are read.")
            if status.ready:
                return
            await anyio.sleep(LOOK_S)

    def _told(self, name: str, max_chars: int) -> str:
        found = self._documents.documents_of(name)
        if len(found) != 1:
            return documents_answer(found[:MAX_LISTED], 0, len(found) > MAX_LISTED)
        return document_answer(found[0], self._documents.pages(found[0].name), max_chars)
