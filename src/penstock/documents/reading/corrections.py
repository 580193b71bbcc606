"""What mends a layout model's mistakes: a list of named corrections for each moment of reading a page.

The labels and boxes come from the model; each correction is one rule about what it gets wrong, and needs no
other. An experiment leaves some out by their names: `PageReading.without`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from penstock.box import enclosing
from penstock.documents.headings.by_type import corrected_headings
from penstock.documents.reading.formula_lines import with_formulas
from penstock.documents.reading.page_reading import Draft, PageReading
from penstock.documents.reading.running_text import (
    holds_sentences,
    is_framed_text,
    is_scan_of_text,
    text_in_table,
    without_running_text,
)
from penstock.documents.reading.strays import UNLINED, adopted
from penstock.documents.tables.in_layer import with_layer_tables
from penstock.documents.tables.pictured import (
    is_paragraph,
    is_part_of,
    line_height,
    table_at,
    unseen_grids,
    up_to_rules,
)
from penstock.documents.tables.word_columns import type_height
from penstock.documents.text.code import is_typed
from penstock.region import Region, Word

Correction = Callable[[PageReading], PageReading]


def corrected(reading: PageReading, corrections: tuple[Correction, ...]) -> PageReading:
    """Returns the reading after these corrections, without those that it leaves out."""
    for correction in corrections:
        if correction.__name__ not in reading.without:
            reading = correction(reading)
    return reading


def leave_out_scans_of_text(reading: PageReading) -> PageReading:
    """A picture that is a scan of running text, all of which the layer has, is no region."""
    kept = (d for d in reading.drafts if not is_scan_of_text(d.region, reading.words, reading.page))
    return replace(reading, drafts=tuple(kept))


def add_layer_tables(reading: PageReading) -> PageReading:
    """Tables of the layer that the model did not see, or took for pictures."""
    if reading.page.layer is None or not reading.words:
        return reading
    regions = [draft.region for draft in reading.drafts]
    return replace(
        reading, drafts=tuple(map(Draft, with_layer_tables(regions, reading.words, reading.page.layer)))
    )


def unframe_text(reading: PageReading) -> PageReading:
    """Lines of text in a frame are text, not a picture."""
    return _with_regions(
        reading,
        lambda draft: (
            replace(draft.region, label="text", crop=None)
            if is_framed_text(draft.region, draft.words, reading.page)
            else draft.region
        ),
    )


def read_text_in_tables(reading: PageReading) -> PageReading:
    """Running text that a model took for a table is text, each column a region of its own."""
    drafts: list[Draft] = []
    for draft in reading.drafts:
        columns = text_in_table(draft.region, draft.words, reading.strokes)
        drafts += [_as_text(draft.region, words) for words in columns] or [draft]
    return replace(reading, drafts=tuple(drafts))


def free_sentences(reading: PageReading) -> PageReading:
    """Sentences that lie in a picture belong beside it."""
    held = [holds_sentences(draft.region, draft.words) for draft in reading.drafts]
    pairs = list(zip(reading.drafts, held, strict=True))
    freed = [word for draft, frees in pairs if frees for word in draft.words]
    drafts = tuple(replace(draft, words=()) if frees else draft for draft, frees in pairs)
    return replace(reading, drafts=drafts, loose=(*reading.loose, *freed))


def adopt_strays(reading: PageReading) -> PageReading:
    """A loose word that begins or ends a line of a region belongs to that region."""
    drafts, loose = adopted(reading.drafts, reading.loose)
    return replace(reading, drafts=drafts, loose=loose)


def widen_to_words(reading: PageReading) -> PageReading:
    """A region is as wide as its lines: a layout model cuts its boxes close."""
    return _with_regions(reading, _widened)


def join_code(reading: PageReading) -> PageReading:
    """Lines of code one under the other are one block, however many regions a network saw in them."""
    found: list[Draft] = []
    for draft in reading.drafts:
        if found and _is_code_after(found[-1], draft):
            above = found[-1]
            box = enclosing([above.region.box, draft.region.box])
            whole = replace(above.region, label="text", box=box, crop=None)
            found[-1] = replace(above, region=whole, words=(*above.words, *draft.words))
        else:
            found.append(draft)
    return replace(reading, drafts=tuple(found))


def correct_headings(reading: PageReading) -> PageReading:
    """Headings by the type of their words, cut out of the text where they stand in it."""
    pairs = [(draft.region, draft.words) for draft in reading.drafts]
    page = reading.page
    found = corrected_headings(pairs, UNLINED, page.width, page.height, page.pixels)
    return replace(reading, drafts=tuple(Draft(region, words) for region, words in found))


def leave_out_running_text(reading: PageReading) -> PageReading:
    """Running text that the lines show in a picture or a table is no part of it."""
    boxes, drafts = [line.box for line in reading.lines], list[Draft]()
    for draft in reading.drafts:
        whole = [draft.region]
        left = whole if draft.words else without_running_text(draft.region, boxes, reading.page)
        drafts += [replace(draft, region=region) for region in left]
    return replace(reading, drafts=tuple(drafts))


def read_captions_as_text(reading: PageReading) -> PageReading:
    """A few lines of prose are no table."""
    return _with_regions(
        reading,
        lambda draft: (
            replace(draft.region, label="text")
            if not draft.words and is_paragraph(draft.region, reading.lines)
            else draft.region
        ),
    )


def extend_to_rules(reading: PageReading) -> PageReading:
    """A table goes from its first rule to its last."""
    em, rules = line_height(reading.lines), reading.rules
    return _with_regions(
        reading, lambda draft: draft.region if draft.words else up_to_rules(draft.region, rules, em)
    )


def add_drawn_tables(reading: PageReading) -> PageReading:
    """Tables by the lines drawn on the picture: the model's own get their cells, others are added."""
    kept: list[Draft] = []
    for draft in reading.drafts:
        own = table_at(draft.region, reading.tables)
        if own is not None:
            kept.append(replace(draft, region=replace(draft.region, label="table"), grid=own.structure))
        elif not is_part_of(draft.region, reading.tables):
            kept.append(draft)
    new = unseen_grids([draft.region for draft in kept], reading.tables)
    added = (
        Draft(Region(label="table", native_label="drawn table", box=table.box), grid=table.structure)
        for table in new
    )
    return replace(reading, drafts=(*kept, *added))


def separate_formulas(reading: PageReading) -> PageReading:
    """Display formulas among lines of text, and lines of text in what the model calls a formula."""
    return replace(reading, drafts=tuple(with_formulas(reading.drafts)))


def _with_regions(reading: PageReading, mend: Callable[[Draft], Region]) -> PageReading:
    return replace(reading, drafts=tuple(replace(draft, region=mend(draft)) for draft in reading.drafts))


def _as_text(region: Region, words: Sequence[Word]) -> Draft:
    box = enclosing([word.box for word in words])
    return Draft(replace(region, label="text", box=box, crop=None, content=None, cells=()), tuple(words))


def _widened(draft: Draft) -> Region:
    region, words = draft.region, draft.words
    if region.label in UNLINED or not words:
        return region
    x0, y0, x1, y1 = region.box
    left, right = min(word.box[0] for word in words), max(word.box[2] for word in words)
    return replace(region, box=(min(x0, left), y0, max(x1, right), y1))


def _is_code_after(above: Draft, draft: Draft) -> bool:
    if UNLINED & {above.region.label, draft.region.label} or not (
        is_typed(above.words) and is_typed(draft.words)
    ):
        return False
    white = max(draft.region.box[1] - above.region.box[3], above.region.box[1] - draft.region.box[3])
    return white < type_height(draft.words)


# on the regions of the model, once they have their words, and once every word has a region
ON_REGIONS: tuple[Correction, ...] = (leave_out_scans_of_text, add_layer_tables)
ON_WORDS: tuple[Correction, ...] = (
    unframe_text,
    read_text_in_tables,
    free_sentences,
    adopt_strays,
    widen_to_words,
)
ON_TYPE: tuple[Correction, ...] = (join_code, correct_headings)
# once lines and tables are found on the picture, and once the lines are read
ON_LINES: tuple[Correction, ...] = (
    leave_out_running_text, read_captions_as_text, extend_to_rules, add_drawn_tables,
)  # fmt: skip
ON_TEXT: tuple[Correction, ...] = (separate_formulas,)
CORRECTIONS = tuple(rule.__name__ for rule in (*ON_REGIONS, *ON_WORDS, *ON_TYPE, *ON_LINES, *ON_TEXT))
