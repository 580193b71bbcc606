"""Finds running text that a layout model took for a picture or a table.

The model may take a scan for one large figure, a page of columns for one large table, a report's first
page for a table with paragraphs in it. The words of the layer, or the places of the lines, show the mistake.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from penstock.box import Box, area, enclosing, shared_area
from penstock.documents.tables.find import shared_columns
from penstock.documents.tables.ruled import ruled_table
from penstock.documents.tables.word_columns import type_height
from penstock.documents.text.blocks import body_type, rows_of_fragments
from penstock.documents.text.lines import around, rows_of, rows_of_words
from penstock.documents.text.text_columns import text_columns
from penstock.documents.text.text_layer import coverage, distribute, lines_from
from penstock.page import Page
from penstock.region import PICTURE_LABELS, WHOLE, Line, Region, Word

HUGE_SHARE = 0.5  # of the page: a larger picture or table full of lines is likely a page mistaken for one
LARGE_SHARE = 0.15  # the same where the layer or columns of lines show running text: surer than a count
MANY_LINES = 12
NEARLY_ALL, FULL_OF_LINES = 0.8, 0.25  # of the page's lines, and of a picture's area, that make it a scan
FEW_LINES, WIDE_SHARE = 3, 0.6  # of sentences in a picture
FEW_WORDS = 3  # of a line in a frame; fewer may be a button or a label
MAX_SPACE = 3.0  # heights of a word between two words of a line
ALL_WORDS = 0.9  # of the ink of text in a frame, without the frame; its corners may be the rest
WIDE_LINE = 0.5  # of the width of a picture that has its words in the layer: a chart's are short
WIDE_COLUMN = 0.3  # of a table's width: lines of a cell are shorter
MIN_CELLS, MIN_ROWS = 4, 3  # of a table that stands among running text
RIVER = 0.5  # of the type's size: white from top to bottom between two columns
FULL_LINE = 0.7  # of a column's width, which half of the lines of running text reach
FORMULA_SIGN = re.compile("[=<>+±×÷∑∏∫√≤≥≠≈∼∈→⇒^_|\\\\]")


def is_scan_of_text(region: Region, words: Sequence[Word], page: Page) -> bool:
    """Whether a picture is a scan of running text, and the text layer has all of that text."""
    if region.label not in PICTURE_LABELS or area(region.box) < LARGE_SHARE * page.width * page.height:
        return False
    [inside], _ = distribute(words, [region.box])
    wide, _ = _wide_lines(inside, region.box)
    return len(wide) >= MANY_LINES and is_prose(wide)


def holds_sentences(region: Region, words: Sequence[Word]) -> bool:
    """Whether the words in a picture are sentences, line after line: those of a chart stand apart."""
    if region.label not in PICTURE_LABELS:
        return False
    wide, lines = _wide_lines(words, region.box)
    return len(wide) >= FEW_LINES and len(wide) >= WIDE_SHARE * len(lines) and is_prose(wide)


def is_framed_text(region: Region, words: Sequence[Word], page: Page) -> bool:
    """Whether a picture is nothing but lines of the text layer in a frame: a command, a remark, a warning.

    A diagram has drawn lines between its words, words side by side, or ink that no word explains.
    """
    if region.label not in PICTURE_LABELS or page.pixels is None or page.layer is None:
        return False
    if len(words) < FEW_WORDS or any(shared_area(region.box, picture) for picture in page.layer.pictures):
        return False
    strokes, text = page.layer.strokes, enclosing([word.box for word in words])
    if any(shared_area(text, stroke) for stroke in strokes):
        return False
    boxes = [word.box for word in words]
    one_under_the_other = not any(_has_gap([boxes[i] for i in row]) for row in rows_of(boxes))
    return one_under_the_other and coverage(words, page.pixels, region.box, strokes) >= ALL_WORDS


def _has_gap(row: Sequence[Box]) -> bool:
    """Whether more than word spaces stand between the words of a row."""
    in_order = sorted(row)
    space = MAX_SPACE * max(box[3] - box[1] for box in row)
    return any(after[0] - before[2] > space for before, after in pairwise(in_order))


def without_running_text(region: Region, lines: Sequence[Box], page: Page) -> list[Region]:
    """What is left of a picture or a table without the running text in it: all, a part or nothing."""
    share = area(region.box) / max(1.0, page.width * page.height)
    if region.label not in PICTURE_LABELS | {"table"} or share < LARGE_SHARE or region.native_label == WHOLE:
        return [region]
    inside = [line for line in lines if shared_area(line, region.box) > 0.5 * area(line)]
    if len(inside) < MANY_LINES:
        return [region]
    if region.label == "table":
        return _table_in(region, inside, share >= HUGE_SHARE)
    return [] if share >= HUGE_SHARE or _is_whole_text(region, inside, lines) else [region]


def text_in_table(table: Region, words: Sequence[Word], strokes: Sequence[Box]) -> list[list[Word]]:
    """The words of what was taken for a table but is text, by column; none where it is a table.

    Such text has one line a row, as headings with a rule under each, or stands in long columns of full lines.
    """
    shown = [word for word in words if word.text.strip()]
    if table.label != "table" or not shown:
        return []
    drawn = ruled_table(table.box, shown, strokes)
    if drawn and any(cell.column for cell in drawn):
        return []
    em = body_type(shown)[0] or type_height(shown)
    rows = rows_of_fragments(shown, em)
    if len(rows) >= MIN_ROWS and all(len(row) == 1 for row in rows):
        return [shown]
    columns = _between_rivers(shown, RIVER * em)
    return columns if len(columns) > 1 and all(map(_is_running_text, columns)) else []


def _between_rivers(words: Sequence[Word], river: float) -> list[list[Word]]:
    """The words of each column: no word reaches over the white between two."""
    columns: list[list[Word]] = []
    right = -math.inf
    for word in sorted(words, key=lambda word: word.box[0]):
        if word.box[0] > right + river:
            columns.append([])
        columns[-1].append(word)
        right = max(right, word.box[2])
    return columns


def _is_running_text(column: Sequence[Word]) -> bool:
    rows = [around(row) for row in rows_of_words(column)]
    width = max(row[2] for row in rows) - min(row[0] for row in rows)
    return len(rows) >= MANY_LINES and median(row[2] - row[0] for row in rows) >= FULL_LINE * width


def _is_whole_text(picture: Region, inside: Sequence[Box], lines: Sequence[Box]) -> bool:
    """Whether a picture has nearly all lines of the page and is full of them: a receipt on a table."""
    full = sum(area(line) for line in inside) > FULL_OF_LINES * area(picture.box)
    return full and len(inside) >= NEARLY_ALL * len(lines)


def is_prose(lines: Sequence[Line]) -> bool:
    """Whether the lines are plain text, not a formula or a chart's labels: several words of three letters.

    Two do where no sign of a formula stands: the end of a sentence, a caption.
    """
    text = " ".join(line.text for line in lines)
    words = text.split()
    long_words = [word for word in words if sum(char.isalpha() for char in word) >= 3]
    if len(long_words) >= 2 and len(long_words) >= 0.5 * len(words) and not FORMULA_SIGN.search(text):
        return True
    return len(long_words) >= 6 and len(long_words) >= 0.6 * len(words)


def _wide_lines(words: Sequence[Word], box: Box) -> tuple[list[Line], list[Line]]:
    """The lines that reach over half of the box, and all lines."""
    lines = lines_from(words)
    return [line for line in lines if line.box[2] - line.box[0] > WIDE_LINE * (box[2] - box[0])], lines


def _table_in(table: Region, lines: Sequence[Box], is_huge: bool) -> list[Region]:
    """The table, or the table without the paragraphs above or below it, or nothing if all is text."""
    columns = text_columns(lines)
    boxes = [enclosing([lines[i] for i in column]) for column in columns]
    mostly_text = is_huge and 2 * sum(len(column) for column in columns) > len(lines)
    min_width = 0.0 if mostly_text else WIDE_COLUMN * (table.box[2] - table.box[0])
    wide = [place for place, box in enumerate(boxes) if box[2] - box[0] > min_width]
    running = {i for place in wide for i in columns[place]}
    rest = [line for i, line in enumerate(lines) if i not in running]
    rows = [row for row in rows_of(rest) if len(row) >= MIN_CELLS]
    grid = shared_columns(rest, rows) if len(rows) >= MIN_ROWS else None
    if grid is None:
        return [] if mostly_text else [table]
    beside = any(boxes[place][1] < grid[3] and grid[1] < boxes[place][3] for place in wide)
    if not mostly_text and (beside or len(running) < MANY_LINES):
        return [table]  # sentences in its cells
    return [replace(table, box=grid)]
