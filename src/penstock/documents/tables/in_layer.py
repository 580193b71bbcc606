"""Finds tables of a text layer that a layout model did not see: by lines, by rules, by columns of words.

Only where the tables are is found here; who reads their cells is another's choice. It prefers to miss a
table over inventing one: what a model called a picture or a table is left alone, and so are contents pages,
lists and paragraphs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from penstock.box import Box, area, shared_area
from penstock.documents.layout.labels import LEADER
from penstock.documents.tables.fitted import fitted, parts
from penstock.documents.tables.gutters import parting_lines, white_edges
from penstock.documents.tables.ruled import RuledGrid, cells_of, grids, ruled_bands, rulings
from penstock.documents.tables.word_columns import column_edges, split_at_white, type_height
from penstock.documents.text.blocks import MARK
from penstock.documents.text.code import is_typed
from penstock.documents.text.lines import around, row_text, rows_of_words
from penstock.documents.text.text_layer import distribute
from penstock.region import PICTURE_LABELS, Region, TextLayer, Word

MIN_ROWS, MIN_COLUMNS = 3, 3  # of a table without lines; between rules two columns are enough
MIN_GRID_ROWS = 2  # of one with lines
INSIDE = 0.7  # share of a text region that lies in a table, of which it is a part
SEEN = 0.3  # share of a table's box that a model's region has
# In units of the type's height.
WHITE = 0.6  # between two cells of a row
EMPTY = 4.0  # white between the rows of a table
ROW_REACH = 2.2  # from one row to the next; more is another block
MAX_WRAPPED = 2  # lines of one cell alone that may follow a row
LONG_CELL, LONG_DRAWN = 40, 120  # characters: the mean cell is shorter
DATA_SHARE = 0.3  # of the cells: figures, marks and single letters; names of authors have none
FILLED = 0.5  # share of the cells that have text
ROWS_KEPT = 0.8  # share of the drawn rows that keep the columns
DRAWN = 0.5  # share of a picture that drawn tables take, which it is then
SHORT_CELL = 3  # characters
MOSTLY_TYPED = 0.5  # of the letters of a page of typewriting, whose tables are typed, too


def with_layer_tables(regions: Sequence[Region], words: Sequence[Word], layer: TextLayer) -> list[Region]:
    """The regions with those tables that the layer shows and the model did not see, or took for pictures."""
    shown = [word for word in words if word.text.strip()]
    drawn = _drawn(shown, layer.strokes)
    known = [_unmasked(region, shown, layer) for region in regions]
    known = [region for region in known if not _is_drawing_of(region, drawn, layer.pictures)]
    found = unseen_tables(shown, layer.strokes, known)
    seen = [*(region for region in known if region.label == "table"), *found]
    tables = [part for table in _fitted(seen, shown, layer) for part in parts(table, shown)]
    others = [region for region in known if region.label != "table"]
    return [region for region in others if not _is_inside_of(region, tables)] + tables


def _fitted(tables: Sequence[Region], words: Sequence[Word], layer: TextLayer) -> list[Region]:
    boxes = [table.box for table in tables]
    return [
        fitted(table, words, layer.strokes, [*boxes[:place], *boxes[place + 1 :]])
        for place, table in enumerate(tables)
    ]


def _is_inside_of(region: Region, tables: Sequence[Region]) -> bool:
    return any(shared_area(region.box, table.box) > INSIDE * area(region.box) for table in tables)


def _is_drawing(region: Region, pictures: Sequence[Box]) -> bool:
    raster = any(shared_area(region.box, picture) > SEEN * area(region.box) for picture in pictures)
    return region.label in PICTURE_LABELS and not raster


def _is_drawing_of(region: Region, tables: Sequence[Box], pictures: Sequence[Box]) -> bool:
    """Whether a picture of the model is what it took drawn tables for."""
    shared = sum(shared_area(region.box, table) for table in tables)
    return _is_drawing(region, pictures) and shared > DRAWN * area(region.box)


def _unmasked(region: Region, words: Sequence[Word], layer: TextLayer) -> Region:
    """The region, as a table if the model took a table of the layer for a picture."""
    if not _is_drawing(region, layer.pictures):
        return region
    [inside], _ = distribute(words, [region.box])
    parted = len(parting_lines(region.box, layer.strokes)) > 1
    if not _is_tabular(inside, MIN_COLUMNS, MIN_ROWS, parted) or not _is_dense(inside, region.box):
        return region
    box = around(inside)
    return replace(region, label="table", native_label="table in the layer", box=box)


def _is_dense(words: Sequence[Word], box: Box) -> bool:
    """Whether rows fill the box from top to bottom: a chart's figures stand at its edges."""
    rows = rows_of_words(words)
    bottoms = [box[1], *(max(w.box[3] for w in row) for row in rows)]
    tops = [*(min(w.box[1] for w in row) for row in rows), box[3]]
    return max(top - bottom for top, bottom in zip(tops, bottoms, strict=True)) < EMPTY * type_height(words)


def unseen_tables(words: Sequence[Word], strokes: Sequence[Box], regions: Sequence[Region]) -> list[Region]:
    """Regions for the tables that no region of the model holds: drawn ones first."""
    taken = [region.box for region in regions if region.label in PICTURE_LABELS | {"table"}]
    drawn = [(box, "drawn table") for box in _drawn(words, strokes)]
    ruled = [(box, "ruled table") for box in _ruled(words, strokes)]
    free = _unclaimed(words, regions)
    aligned = [(box, "aligned table") for box in _aligned(free)]
    found: list[Region] = []
    for box, name in [*drawn, *ruled, *aligned]:
        others = [*taken, *(region.box for region in found)]
        if not any(shared_area(box, other) > SEEN * min(area(box), area(other)) for other in others):
            found.append(Region(label="table", native_label=name, box=box))
    return found


def _drawn(words: Sequence[Word], strokes: Sequence[Box]) -> list[Box]:
    """Grids of lines with words in most of their cells, or in columns that every drawn row keeps."""
    found = grids(strokes)
    inside, _ = distribute(words, [grid.box for grid in found])
    return [
        grid.box
        for grid, held in zip(found, inside, strict=True)
        if (len(grid.xs) > 2 and _is_filled(grid, held)) or _keeps_columns(grid, held)
    ]


def _keeps_columns(grid: RuledGrid, words: Sequence[Word]) -> bool:
    """Whether the words of nearly every drawn row stand on both sides of the same white."""
    em = type_height(words)
    edges = white_edges(rows_of_words(words), em, ()) if len(grid.ys) > MIN_GRID_ROWS and words else []
    if not edges or is_typed(words, MOSTLY_TYPED):
        return False
    sides: list[set[bool]] = [set() for _ in grid.ys[1:]]
    for word in words:
        row = bisect_right(grid.ys, (word.box[1] + word.box[3]) / 2) - 1
        sides[min(max(row, 0), len(sides) - 1)].add(word.box[0] > edges[0])
    return sum(len(side) > 1 for side in sides) >= ROWS_KEPT * len(sides)


def _is_filled(grid: RuledGrid, words: Sequence[Word]) -> bool:
    """Whether the lines are a table's: frames of drawings have words in few of their cells, or long ones."""
    if len(grid.ys) <= MIN_GRID_ROWS:
        return _is_tabular(words, 2, MIN_GRID_ROWS)
    cells = cells_of(grid, words)
    texts = [cell.text for cell in cells if cell.text]
    wide = [cell for cell in cells if cell.column_span == len(grid.xs) - 1]
    return (
        len(texts) >= FILLED * len(cells)
        and 2 * len(wide) < len(grid.ys)
        and sum(map(len, texts)) < LONG_DRAWN * len(texts)
    )


def _ruled(words: Sequence[Word], strokes: Sequence[Box]) -> list[Box]:
    across, _ = rulings(strokes)
    boxes = ruled_bands(across)
    inside, _ = distribute(words, boxes)
    return [box for box, held in zip(boxes, inside, strict=True) if _is_tabular(held, 2, MIN_ROWS)]


def _unclaimed(words: Sequence[Word], regions: Sequence[Region]) -> list[Word]:
    """The words that may be cells: in no picture or table, and in no paragraph."""
    held, loose = distribute(words, [region.box for region in regions])
    free = [own for region, own in zip(regions, held, strict=True) if _may_be_cells(region, own)]
    found = [*loose, *(word for own in free for word in own)]
    # what a program prints keeps columns, too
    return found if is_typed(words, MOSTLY_TYPED) else [word for word in found if not is_typed([word])]


def _may_be_cells(region: Region, words: Sequence[Word]) -> bool:
    if region.label in PICTURE_LABELS | {"table"} or not words:
        return False
    rows = rows_of_words(words)
    em = type_height(words)
    return len(rows) < 2 or len(column_edges(rows, em, 0.9 * em)) > 0


def _aligned(words: Sequence[Word]) -> list[Box]:
    em = type_height(words)
    runs: list[list[list[Word]]] = [[]]
    wrapped = 0
    for row in rows_of_words(words):
        in_cells = len(split_at_white(row, WHITE * em)) > 1
        wrapped = 0 if in_cells else wrapped + 1
        if runs[-1] and (wrapped > MAX_WRAPPED or not _follows(runs[-1][-1], row, em)):
            runs.append([])
        if in_cells or runs[-1]:
            runs[-1].append(row)
    trimmed = [_trimmed(run, em) for run in runs if run]
    return [
        around([word for row in run for word in row])
        for run in trimmed
        if _is_tabular([word for row in run for word in row], MIN_COLUMNS, MIN_ROWS)
    ]


def _follows(above: Sequence[Word], below: Sequence[Word], em: float) -> bool:
    return min(w.box[1] for w in below) - max(w.box[3] for w in above) < ROW_REACH * em


def _trimmed(run: list[list[Word]], em: float) -> list[list[Word]]:
    """The run without lines of one cell at its end, which may be a note below the table."""
    while run and len(split_at_white(run[-1], WHITE * em)) == 1:
        run = run[:-1]
    return run


def _is_tabular(words: Sequence[Word], min_columns: int, min_rows: int, parted: bool = False) -> bool:
    """Whether the words keep columns from row to row, with short cells that hold data or that lines part."""
    em = type_height(words)
    rows = rows_of_words(words)
    edges = column_edges(rows, em)
    full = [parts for parts in (split_at_white(row, WHITE * em) for row in rows) if len(parts) > 1]
    if len(edges) + 1 < min_columns or len(full) < min_rows:
        return False
    texts = [row_text(part) for parts in full for part in parts]
    if sum(map(len, texts)) > LONG_CELL * len(texts) or len(texts) < FILLED * len(full) * (len(edges) + 1):
        return False
    if sum(map(_is_data, texts)) < DATA_SHARE * len(texts) and min_columns > 2 and not parted:
        return False
    return not _is_list(full) and not _is_contents(full)


def _is_data(text: str) -> bool:
    return any(char.isdigit() for char in text) or len(text) <= SHORT_CELL


def _is_list(rows: Sequence[Sequence[Sequence[Word]]]) -> bool:
    marked = sum(MARK.match(row_text(parts[0])) is not None and len(parts) == 2 for parts in rows)
    return 2 * marked > len(rows)


def _is_contents(rows: Sequence[Sequence[Sequence[Word]]]) -> bool:
    """Whether the rows end in page numbers: dots lead to them, or they only grow."""
    lines = [" ".join(row_text(part) for part in parts) for parts in rows]
    if 3 * sum(LEADER.search(line) is not None for line in lines) > len(lines):
        return True
    ends = [row_text(parts[-1]) for parts in rows]
    numbers = [int(end) for end in ends if end.isdecimal() and len(end) < 5]
    return len(numbers) == len(ends) and all(a <= b for a, b in pairwise(numbers)) and len(set(numbers)) > 2
