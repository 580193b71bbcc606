"""Carries each region of a page, with the words and lines that belong to it, from layout to reading.

The steps, in order: `give_words` puts each word of the text layer into one draft, `unread_areas` says
where the page shows text that no word explains, `without_mistakes` takes running text out of pictures
and tables, and `give_lines` puts each line found on the picture into one draft. Words and lines that no
region holds get regions of their own, so that nothing is lost and nothing is read twice.
Not here: finding and reading lines (engines), and what a region's lines say (content.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from penstock.box import Box, HasBox, area, shared_area
from penstock.documents.headings.by_type import (
    ENOUGH,
    box_of_part,
    is_mostly_bold,
    label_by_type,
    page_facts,
    parted_by_type,
)
from penstock.documents.layout.corrections import (
    holds_sentences,
    is_framed_text,
    is_scan_of_text,
    unseen_table,
    without_running_text,
)
from penstock.documents.tables.in_layer import with_tables
from penstock.documents.tables.pictured import (
    PicturedTable,
    is_paragraph,
    is_part_of,
    line_height,
    table_at,
    unseen_grids,
    up_to_rules,
)
from penstock.documents.text.blocks import MARK
from penstock.documents.text.columns import WhiteSpace, xy_cut
from penstock.documents.text.lines import around
from penstock.documents.text.text_columns import text_columns
from penstock.documents.text.text_layer import Placed, coverage, distribute
from penstock.page import Page
from penstock.region import FORMULA_LABELS, PICTURE_LABELS, Region, TableGrid, Word

if TYPE_CHECKING:
    from penstock.box import Pixels

WORD_SPACE = 0.85  # of a word's height: justified lines stretch their spaces up to here, gutters are wider
STRETCHED = 1.25  # times the spaces of its own line: what a loosely set line may leave before its last word
GUTTER = 2.0  # of a word's height: no line stretches its spaces as far
MARK_SPACE = 2.0  # the same from a bullet or number to its text
MAX_LOOSE = 2000  # words of a page in no region; more are a map, and looking beside each would take seconds
MAX_STRAYS = 3  # words of a line that a layout model's box leaves out at one end; more are a region
NEW_REGION_GAP = 0.8  # of a line's height: words farther apart than this are two regions
MIN_RASTER_SHARE = 0.04  # of the page: smaller pictures are logos and icons, not worth a search for text
UNLINED = (
    PICTURE_LABELS | FORMULA_LABELS | {"table"}
)  # what stands beside these is no part of a line of theirs

AnyLine = TypeVar("AnyLine", bound=HasBox)


@dataclass(frozen=True, slots=True)
class Draft(Generic[AnyLine]):
    """A region on its way to being read, with the layer's words and the picture's lines that it holds."""

    region: Region
    words: tuple[Word, ...] = ()
    lines: tuple[AnyLine, ...] = ()
    grid: TableGrid | None = None  # of a table whose cells are drawn on the picture


def give_words(page: Page, words: Sequence[Word]) -> list[Draft[HasBox]]:
    """A draft for each region of the page, and for words that no region holds. Each word is in one."""
    regions = [region for region in page.regions if not is_scan_of_text(region, words, page)]
    if page.layer is not None and words:
        regions = with_tables(regions, words, page.layer)
    held, loose = distribute(words, [region.box for region in regions])
    drafts: list[Draft[HasBox]] = [
        Draft(region, tuple(own)) for region, own in zip(regions, held, strict=True)
    ]
    drafts = [_without_frame(draft, page) for draft in drafts]
    drafts, freed = _free_sentences(drafts)
    drafts, loose = _adopt(drafts, [*loose, *freed])
    drafts = [_widened(draft) for draft in drafts] + [
        Draft(region_around(group), tuple(group)) for group in neighbours(loose)
    ]
    return _with_headings(drafts, page)


def _with_headings(drafts: Sequence[Draft[HasBox]], page: Page) -> list[Draft[HasBox]]:
    """The drafts with headings by the type of their words, cut out of the text where they stand in it."""
    words = [word for draft in drafts if draft.region.label not in UNLINED for word in draft.words]
    if sum(len(word.text) for word in words) < ENOUGH:
        words = [word for draft in drafts for word in draft.words]
    facts, bold_tells = page_facts(words, page.width, page.height), not is_mostly_bold(words)
    found: list[Draft[HasBox]] = []
    for draft in drafts:
        region = replace(draft.region, label=label_by_type(draft.region, draft.words, facts, bold_tells))
        parts = parted_by_type(draft.words, facts, bold_tells) if region.label == "text" else []
        if len(parts) < 2 or region.content is not None:
            found.append(replace(draft, region=region))
            continue
        for heads, own in parts:
            label = "paragraph_title" if heads else region.label
            part = replace(region, label=label, box=box_of_part(region.box, own), crop=None)
            found.append(Draft(part, tuple(own)))
    return found


def _without_frame(draft: Draft[HasBox], page: Page) -> Draft[HasBox]:
    """The draft, as text if the layout model took lines in a frame for a picture."""
    if not is_framed_text(draft.region, draft.words, page):
        return draft
    return replace(draft, region=replace(draft.region, label="text", crop=None))


def _free_sentences(drafts: Sequence[Draft[HasBox]]) -> tuple[list[Draft[HasBox]], list[Word]]:
    """The drafts without the sentences that lie in pictures, and the words of those sentences."""
    kept: list[Draft[HasBox]] = []
    freed: list[Word] = []
    for draft in drafts:
        if holds_sentences(draft.region, draft.words):
            freed += draft.words
            draft = replace(draft, words=())
        kept.append(draft)
    return kept, freed


def _adopt(drafts: list[Draft[HasBox]], loose: list[Word]) -> tuple[list[Draft[HasBox]], list[Word]]:
    """The drafts with the loose words that begin or end a line of theirs, and the words still loose.

    A layout model may cut a box a word too narrow: alone, that word would stand after the paragraph.
    """
    for _ in range(MAX_STRAYS):
        left: list[Word] = []
        gained: dict[int, list[Word]] = {}
        for word, owner in zip(loose, _nearest(drafts, loose), strict=True):
            (left if owner is None else gained.setdefault(owner, [])).append(word)
        if not gained:
            break
        drafts = [
            replace(draft, words=(*draft.words, *gained.get(place, ()))) for place, draft in enumerate(drafts)
        ]
        loose = left
    return drafts, loose


def _nearest(drafts: Sequence[Draft[HasBox]], loose: Sequence[Word]) -> list[int | None]:
    """For each loose word the draft with a line that it begins or ends, or None."""
    lined = [place for place, draft in enumerate(drafts) if draft.region.label not in UNLINED]
    owners = [place for place in lined for _ in drafts[place].words]
    if not owners or not 0 < len(loose) <= MAX_LOOSE:
        return [None] * len(loose)
    lined_words = [word for place in lined for word in drafts[place].words]
    boxes = np.array([word.box for word in lined_words])
    leaders = np.array([not word.text.strip(" .·…") for word in lined_words])
    beside = [_next_to(word, boxes, leaders) for word in loose]
    return [None if near is None else owners[near] for near in beside]


def _next_to(word: Word, boxes: NDArray[np.float64], leaders: NDArray[np.bool_]) -> int | None:
    """Which of the boxes stands a word space beside the word, on its row and about as high.

    Dots lead to a number over more than a space, and a dot is not as high as the number.
    """
    x0, y0, x1, y1 = word.box
    height = y1 - y0
    down = np.minimum(boxes[:, 3], y1) - np.maximum(boxes[:, 1], y0)
    heights = boxes[:, 3] - boxes[:, 1]
    to_number = leaders & word.text.isalnum()
    alike = (down > np.where(to_number, 0.6 * heights, 0.6 * np.maximum(heights, height))) & (height > 0)
    before, after = boxes[:, 0] - x1, x0 - boxes[:, 2]  # how far the word ends before the box, starts after
    reach = MARK_SPACE if MARK.match(word.text) else WORD_SPACE
    beside = ((before > -0.2 * height) & (before < reach * height)) | (
        (after > -0.2 * height) & (after < np.where(to_number, MARK_SPACE, WORD_SPACE) * height)
    )
    apart = np.maximum(before, after)
    gap = np.where(alike & beside, apart, np.inf)
    best = int(np.argmin(gap))
    if not np.isfinite(gap[best]):
        best = int(np.argmin(np.where(alike & (apart > 0), apart, np.inf)))
        return best if alike[best] and _ends_stretched(boxes[alike], float(apart[best]), height, x0) else None
    return best


def _ends_stretched(row: NDArray[np.float64], gap: float, height: float, left: float) -> bool:
    """Whether a word after a gap ends a row whose own spaces are nearly as wide: a loosely justified line."""
    ends = row[row[:, 2] <= left][:, [0, 2]]
    last = ends[np.argsort(ends[:, 0])][-MAX_STRAYS - 1 :]
    spaces = last[1:, 0] - last[:-1, 1]
    return len(spaces) > 1 and 0 < gap < min(GUTTER * height, STRETCHED * float(spaces.min()))


def _widened(draft: Draft[HasBox]) -> Draft[HasBox]:
    """The draft with a region as wide as its lines: a layout model cuts its boxes close."""
    region, words = draft.region, draft.words
    if region.label in UNLINED or not words:
        return draft
    x0, y0, x1, y1 = region.box
    left, right = min(word.box[0] for word in words), max(word.box[2] for word in words)
    return replace(draft, region=replace(region, box=(min(x0, left), y0, max(x1, right), y1)))


def unread_areas(
    drafts: Sequence[Draft[HasBox]], words: Sequence[Word], page: Page, pixels: Pixels
) -> list[Box]:
    """Where to look for text that the layer does not have: the whole page, some regions, or nowhere."""
    whole = (0.0, 0.0, float(page.width), float(page.height))
    if not words:
        return [whole]
    strokes = page.layer.strokes if page.layer else ()
    unread = [
        draft.region
        for draft in drafts
        if _may_hide_text(draft.region, page)
        and not coverage(draft.words, pixels, draft.region.box, strokes).ok
    ]
    regions = [draft.region for draft in drafts]
    outside = coverage([*words, *regions], pixels, whole, strokes)
    # a page that is a picture in parts may have lines that the layout model saw no region for
    if any(region.label not in PICTURE_LABELS for region in unread) or not outside.ok:
        return [whole]
    return [region.box for region in unread]


def _may_hide_text(region: Region, page: Page) -> bool:
    if region.label in FORMULA_LABELS:
        return False
    if region.label in PICTURE_LABELS:
        return area(region.box) >= MIN_RASTER_SHARE * page.width * page.height and _is_raster(region, page)
    return True


def _is_raster(region: Region, page: Page) -> bool:
    """Whether an image of the PDF lies under the region: drawn charts have their text in the layer."""
    pictures = page.layer.pictures if page.layer else ()
    return any(shared_area(region.box, picture) > 0.3 * area(region.box) for picture in pictures)


def without_mistakes(
    drafts: Sequence[Draft[HasBox]], found: Sequence[HasBox], page: Page
) -> list[Draft[HasBox]]:
    """The drafts, but pictures and tables without the running text that the found lines show in them."""
    boxes = [line.box for line in found]
    return [
        replace(draft, region=left)
        for draft in drafts
        for left in ([draft.region] if draft.words else without_running_text(draft.region, boxes, page))
    ]


def with_drawn_tables(
    drafts: Sequence[Draft[HasBox]],
    found: Sequence[HasBox],
    rules: Sequence[Box],
    tables: Sequence[PicturedTable],
) -> list[Draft[HasBox]]:
    """The drafts with the tables that are drawn on the picture, and with better boxes for the model's own."""
    em = line_height(found)
    kept: list[Draft[HasBox]] = []
    for draft in drafts:
        region = draft.region
        if not draft.words:
            label = "text" if is_paragraph(region, found) else region.label
            region = up_to_rules(replace(region, label=label), rules, em)
        own = table_at(region, tables)
        region = replace(region, label="table") if own else region
        if not is_part_of(region, tables):
            kept.append(replace(draft, region=region, grid=own.structure if own else None))
    new = unseen_grids([draft.region for draft in kept], tables)
    return kept + [
        Draft(Region(label="table", native_label="drawn table", box=table.box), grid=table.structure)
        for table in new
    ]


def give_lines(drafts: Sequence[Draft[HasBox]], found: Sequence[AnyLine]) -> list[Draft[AnyLine]]:
    """The drafts with the lines found in them, and a draft for lines that no region holds."""
    held, loose = distribute(found, [draft.region.box for draft in drafts])
    filled = [
        Draft(draft.region, draft.words, tuple(lines), draft.grid)
        for draft, lines in zip(drafts, held, strict=True)
    ]
    return filled + _drafts_of(loose)


def _drafts_of(lines: Sequence[AnyLine]) -> list[Draft[AnyLine]]:
    """New drafts for the lines: columns of running text first, then groups of neighbours."""
    columns = text_columns([line.box for line in lines])
    in_columns = {place for column in columns for place in column}
    rest = [line for place, line in enumerate(lines) if place not in in_columns]
    drafts = [_new_draft([lines[place] for place in column]) for column in columns]
    for group in neighbours(rest):
        drafts += _with_table(group)
    return drafts


def _with_table(lines: Sequence[AnyLine]) -> list[Draft[AnyLine]]:
    """A draft for the lines, or for the table among them and for what stands around it."""
    box = unseen_table([line.box for line in lines])
    if box is None:
        return [_new_draft(lines)]
    [cells], rest = distribute(lines, [box])
    return [_new_draft(cells, "table"), *([_new_draft(rest)] if rest else [])]


def _new_draft(lines: Sequence[AnyLine], label: str = "text") -> Draft[AnyLine]:
    return Draft(region_around(lines, label), lines=tuple(lines))


def neighbours(things: Sequence[Placed]) -> list[list[Placed]]:
    """Words or lines in groups, one group for a new region: near each other, and in one column."""
    if not things:
        return []
    em = float(np.median([thing.box[3] - thing.box[1] for thing in things])) or 1.0
    white = WhiteSpace(gutter=2.0 * em, gap=NEW_REGION_GAP * em)
    return [[things[i] for i in sorted(group)] for group in xy_cut([thing.box for thing in things], white)]


def region_around(things: Sequence[HasBox], label: str = "text") -> Region:
    """A region for words or lines that had none."""
    return Region(label=label, native_label="leftover", box=around(things))
