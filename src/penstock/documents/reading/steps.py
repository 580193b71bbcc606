"""The steps of reading a page, in order: each adds something, then the corrections of that step mend it.

The words of the layer go to the regions before anything is looked for on the picture: lines are searched
only where no word explains the ink. Tables of the layer are corrections of the regions, which thus have
their words once.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.documents.reading.corrections import (
    ON_LINES,
    ON_REGIONS,
    ON_TEXT,
    ON_TYPE,
    ON_WORDS,
    Correction,
    corrected,
)
from penstock.documents.reading.finish import finished
from penstock.documents.reading.layer import with_layer
from penstock.documents.reading.lines import with_lines, with_text
from penstock.documents.reading.page_reading import Engines, PageReading
from penstock.documents.reading.regions import with_loose_words, with_regions, with_words
from penstock.documents.reading.tables import with_given_lines, with_tables
from penstock.page import Page

Step = Callable[[PageReading, Engines], PageReading]

STEPS: tuple[tuple[Step, tuple[Correction, ...]], ...] = (
    (with_layer, ()),
    (with_regions, ON_REGIONS),
    (with_words, ON_WORDS),
    (with_loose_words, ON_TYPE),
    (with_lines, ()),
    (with_tables, ON_LINES),
    (with_given_lines, ()),
    (with_text, ON_TEXT),
)


def read_page(reading: PageReading, engines: Engines) -> Page:
    """Returns the page with the content of its regions; a region that fails fails alone."""
    for step, corrections in STEPS:
        reading = corrected(step(reading, engines), corrections)
    return finished(reading, engines)
