"""Finds the regions of a born-digital page without a model, by its fonts and geometry.

First come tables. The words left are cut into columns and text blocks, blocks get labels, and all regions
are put into reading order. Each word of the layer is in one region.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from penstock.box import Box, area, enclosing, holds_middle
from penstock.documents.headings.by_type import page_facts
from penstock.documents.layout.labels import PageFacts, labelled
from penstock.documents.layout.reading_order import reading_order
from penstock.documents.tables.from_words import cells_of_layer
from penstock.documents.tables.html import with_cells
from penstock.documents.tables.in_layer import unseen_tables
from penstock.documents.text import rotated_text
from penstock.documents.text.blocks import (
    Fragment,
    TextBlock,
    blocks_of,
    body_type,
    merged_rows,
    rows_of_fragments,
)  # fmt: skip
from penstock.documents.text.columns import WhiteSpace, xy_cut
from penstock.documents.text.paragraphs import join_lines
from penstock.documents.text.text_layer import MIN_PICTURE, distribute, lines_from
from penstock.region import Region, TextLayer, Word

BAND_GAP = 0.5  # font sizes of white between bands; lines of one paragraph are nearer
LOOSE_GAP = 1.3  # times the white between lines, where the page is set with more than that
COLUMN_GUTTER = 0.8
SAME_EDGE = 2.5  # font sizes: how far the edges of one column may lie apart
MAX_PICTURE = 0.85  # above this it is the page's background
SIDEWAYS_TEXT = frozenset({"text", "header", "footer", "number", "footnote", "doc_title"})


def regions_by_rules(layer: TextLayer, width: float, height: float) -> list[Region]:
    """Regions in reading order, `index` set, with content, lines and `reader="layer"`."""
    words, tall = rotated_text.split_by_direction([w for w in layer.words if w.text.strip()])
    strokes = [s for s in layer.strokes if _on_page(s, width, height)]
    regions = _regions(words, strokes, width, height) + _pictures(layer.pictures, width, height)
    if tall:
        regions += _sideways_regions(tall, width, height)
    return _in_order(regions, width, height)


def _regions(words: list[Word], strokes: list[Box], width: float, height: float) -> list[Region]:
    """Tables and text of level words, in no order."""
    em = body_type(words)[0] or height / 80
    page = page_facts(words, width, height)
    tables, words = _tables(strokes, words)
    rows = rows_of_fragments(words, em) if words else []
    return tables + _text_regions([f for row in rows for f in row], page, em)


def _sideways_regions(words: list[Word], width: float, height: float) -> list[Region]:
    """The same for words that run up or down, on the turned page. No header or footer stands at its edges."""
    turned, back = rotated_text.turned_level(words, width, height)
    regions = _in_order(_regions(turned, [], height, width), height, width)
    return [
        replace(
            region,
            box=back(region.box),
            label="vertical_text" if region.label in SIDEWAYS_TEXT else region.label,
            lines=tuple(replace(line, box=back(line.box)) for line in region.lines),
        )
        for region in regions
    ]


def _on_page(box: Box, width: float, height: float) -> bool:
    """Rulings that leave the page are clipped drawings."""
    return (
        box[0] > -0.01 * width
        and box[2] < 1.01 * width
        and box[1] > -0.01 * height
        and box[3] < 1.01 * height
    )


def _tables(strokes: Sequence[Box], words: list[Word]) -> tuple[list[Region], list[Word]]:
    """The tables whose cells the layer shows, and the words of none."""
    found = unseen_tables(words, strokes, [])
    inside, rest = distribute(words, [table.box for table in found])
    regions = []
    for table, held in zip(found, inside, strict=True):
        cells = cells_of_layer(table.box, held, strokes)
        if cells:
            regions.append(with_cells(replace(table, reader="layer", lines=tuple(lines_from(held))), cells))
        else:
            rest += held
    return regions, rest


def _region(label: str, rule: str, box: Box, content: str | None) -> Region:
    return Region(label=label, native_label=rule, box=box, content=content, reader="layer")


def _text_regions(fragments: list[Fragment], page: PageFacts, em: float) -> list[Region]:
    gap = max(BAND_GAP * em, LOOSE_GAP * _white_between(fragments))
    white = WhiteSpace(gutter=COLUMN_GUTTER * em, gap=gap)
    groups = xy_cut([f.box for f in fragments], white) if fragments else []
    runs = _column_runs([merged_rows([fragments[i] for i in group]) for group in groups], em)
    blocks = [block for run in runs for block in blocks_of(run)]
    names = labelled(blocks, page)
    return [_text_region(block, *name) for block, name in zip(blocks, names, strict=True)]


def _column_runs(groups: list[list[Fragment]], em: float) -> list[list[Fragment]]:
    """Groups that follow each other in one column, as one: only there do line distances compare."""
    runs: list[list[Fragment]] = []
    for group in groups:
        if runs and _continues(runs[-1], group, em):
            runs[-1] += group
        else:
            runs.append(list(group))
    return runs


def _continues(run: list[Fragment], group: list[Fragment], em: float) -> bool:
    above, below = enclosing([f.box for f in run[-4:]]), enclosing([f.box for f in group])
    if below[1] < above[3] or abs(above[0] - below[0]) > SAME_EDGE * em:
        return False
    narrower = run if above[2] < below[2] else group
    return abs(above[2] - below[2]) <= SAME_EDGE * em or len(narrower) == 1


def _white_between(fragments: Sequence[Fragment]) -> float:
    """The usual white between a line and the one below it in the same type."""
    ranked = sorted(fragments, key=lambda f: f.box[3])
    whites = sorted(
        b.box[1] - a.box[3]
        for a, b in itertools.pairwise(ranked)
        if a.size == b.size
        and b.box[0] < a.box[2]
        and a.box[0] < b.box[2]
        and b.box[1] - a.box[3] < 2 * a.size
    )
    return whites[len(whites) // 2] if len(whites) > 2 else 0.0


def _text_region(block: TextBlock, label: str, rule: str) -> Region:
    lines = block.as_lines()
    content = "\n".join(line.text for line in lines) if label == "content" else join_lines(lines)
    return replace(_region(label, rule, block.box, content), lines=lines)


def _pictures(boxes: Sequence[Box], width: float, height: float) -> list[Region]:
    page = width * height
    kept = [b for b in boxes if MIN_PICTURE * page < area(b) < MAX_PICTURE * page]
    whole: list[Box] = []
    for box in sorted(kept, key=area, reverse=True):
        if not any(holds_middle(other, box) for other in whole):
            whole.append(box)
    return [_region("image", "embedded picture", box, None) for box in whole]


def _in_order(regions: list[Region], width: float, height: float) -> list[Region]:
    order = reading_order([r.box for r in regions], [r.label for r in regions], width, height)
    return [replace(regions[i], index=k) for k, i in enumerate(order)]
