"""Has the lines read."""

from __future__ import annotations

from dataclasses import replace

from penstock.documents.reading.page_reading import Draft, Engines, PageReading
from penstock.errors import Failure
from penstock.region import TextLine


def with_text(reading: PageReading, engines: Engines) -> PageReading:
    """Adds what the lines say. A draft whose lines cannot be read fails alone."""
    pixels, groups = reading.page.pixels, [draft.lines for draft in reading.drafts]
    if pixels is not None and any(groups):
        results = zip(reading.drafts, engines.read(pixels, groups), strict=True)
        return replace(reading, drafts=tuple(_with_read(draft, read) for draft, read in results))
    return reading


def _with_read(draft: Draft, read: tuple[TextLine, ...] | Failure) -> Draft:
    if isinstance(read, Failure):
        return Draft(replace(draft.region, failure=read), draft.words)
    return replace(draft, read=read)
