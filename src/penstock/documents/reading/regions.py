"""Second step: gives each word of the layer to one region; those that none holds get their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from penstock.box import HasBox
from penstock.documents.reading.corrections import ON_REGIONS, ON_TYPE, ON_WORDS, corrected
from penstock.documents.reading.page_reading import Draft, PageReading
from penstock.documents.reading.strays import UNLINED
from penstock.documents.text.columns import WhiteSpace, xy_cut
from penstock.documents.text.lines import around
from penstock.documents.text.text_layer import Placed, distribute
from penstock.region import Region

NEW_REGION_GAP = 0.8  # of a line's height: words farther apart than this are two regions
NEW_REGION_GUTTER = 2.0  # the same between columns


def with_regions(reading: PageReading) -> PageReading:
    """Adds a draft for each region of the page, and for words that no region holds. Each word is in one."""
    drafts = tuple(Draft(region) for region in reading.page.regions)
    reading = corrected(replace(reading, drafts=drafts), ON_REGIONS)
    held, loose = distribute(reading.words, [draft.region.box for draft in reading.drafts])
    drafts = tuple(replace(draft, words=tuple(own)) for draft, own in zip(reading.drafts, held, strict=True))
    reading = corrected(replace(reading, drafts=drafts, loose=tuple(loose)), ON_WORDS)
    reading = _with_words_inside(reading)
    rest = tuple(Draft(region_around(group), tuple(group)) for group in neighbours(reading.loose))
    return corrected(replace(reading, drafts=(*reading.drafts, *rest), loose=()), ON_TYPE)


def _with_words_inside(reading: PageReading) -> PageReading:
    """Gives loose words to the texts that hold them now that these are as wide as their lines."""
    texts = [place for place, draft in enumerate(reading.drafts) if draft.region.label not in UNLINED]
    held, loose = distribute(reading.loose, [reading.drafts[place].region.box for place in texts])
    drafts = list(reading.drafts)
    for place, own in zip(texts, held, strict=True):
        drafts[place] = replace(drafts[place], words=(*drafts[place].words, *own))
    return replace(reading, drafts=tuple(drafts), loose=tuple(loose))


def neighbours(things: Sequence[Placed]) -> list[list[Placed]]:
    """Words or lines in groups, one group for a new region: near each other, and in one column."""
    if not things:
        return []
    em = median(thing.box[3] - thing.box[1] for thing in things) or 1.0
    white = WhiteSpace(gutter=NEW_REGION_GUTTER * em, gap=NEW_REGION_GAP * em)
    return [[things[i] for i in sorted(group)] for group in xy_cut([thing.box for thing in things], white)]


def region_around(things: Sequence[HasBox], label: str = "text") -> Region:
    """A region for words or lines that had none."""
    return Region(label=label, native_label="leftover", box=around(things))
