"""Makes drafts of the regions and gives each word of the layer to one; words without one get their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from penstock.box import HasBox
from penstock.documents.reading.page_reading import Draft, Engines, PageReading
from penstock.documents.reading.strays import UNLINED
from penstock.documents.text.columns import WhiteSpace, xy_cut
from penstock.documents.text.lines import around
from penstock.documents.text.text_layer import Placed, distribute
from penstock.region import Region

NEW_REGION_GAP = 0.8  # of a line's height: words farther apart than this are two regions
NEW_REGION_GUTTER = 2.0  # the same between columns


def with_regions(reading: PageReading, _: Engines) -> PageReading:
    """Adds a draft for each region that the layout model saw."""
    return replace(reading, drafts=tuple(Draft(region) for region in reading.page.regions))


def with_words(reading: PageReading, _: Engines) -> PageReading:
    """Gives each word of the layer to the draft that holds it; the others are loose."""
    held, loose = distribute(reading.words, [draft.region.box for draft in reading.drafts])
    drafts = tuple(replace(draft, words=tuple(own)) for draft, own in zip(reading.drafts, held, strict=True))
    return replace(reading, drafts=drafts, loose=tuple(loose))


def with_loose_words(reading: PageReading, _: Engines) -> PageReading:
    """Gives loose words to the texts around them, the rest to drafts of their own. Each word is in one."""
    reading = _with_words_inside(reading)
    rest = tuple(Draft(region_around(group), tuple(group)) for group in neighbours(reading.loose))
    return replace(reading, drafts=(*reading.drafts, *rest), loose=())


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
