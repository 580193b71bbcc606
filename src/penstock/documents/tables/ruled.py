"""Finds tables that are drawn with lines, and turns their grids into cells with spans.

Strokes that touch make one drawing. Its crossing lines bound elementary cells; elementary cells with
no line between them are one cell with a span. A frame with a single cell is no table.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.box import Box, holds_middle, shared_area
from penstock.documents.tables.word_columns import column_edges, type_height
from penstock.documents.text.lines import around, row_text, rows_of_words
from penstock.documents.text.paragraphs import join_lines
from penstock.documents.text.runs import runs_of
from penstock.region import Line, TableCell, Word

THIN = 4.0  # pixels: thicker than this is a bar, not a line
TOUCH = 4.0  # pixels between line ends that are meant to meet
MAX_LINES = 1500  # a page with more rulings is a drawing (maps have 100,000)
MAX_CELLS = 10_000
MIN_RULES = 3  # top, head and bottom rule of a journal's table
FILLS = 0.75  # share of a table's box that its drawn grid must take to be the table's own
SPACE = 0.25  # of a line's height: between two words
MIN_HIDDEN_ROWS, HIDDEN_GUTTER = 3, 1.0  # lines of a cell, and white in type heights, that show columns
HELD = 0.6  # share of an edge that must be drawn to separate two cells


@dataclass(frozen=True, slots=True)
class Ruling:
    """A straight line: at `at` on its own axis, from `low` to `high` along the other."""

    at: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RuledGrid:
    """The lines of a drawing; `xs` and `ys` are their distinct positions, ascending."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    horizontals: tuple[Ruling, ...]
    verticals: tuple[Ruling, ...]

    @property
    def box(self) -> Box:
        return (self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])


def rulings(strokes: Sequence[Box]) -> tuple[list[Ruling], list[Ruling]]:
    """The horizontal and the vertical lines among the strokes. Joins the pieces of one line."""
    across, down = [], []
    for x0, y0, x1, y1 in strokes:
        width, height = x1 - x0, y1 - y0
        if height <= THIN < width:
            across.append(Ruling((y0 + y1) / 2, x0, x1))
        elif width <= THIN < height:
            down.append(Ruling((x0 + x1) / 2, y0, y1))
    return _joined(across), _joined(down)


def _joined(lines: list[Ruling]) -> list[Ruling]:
    joined: list[Ruling] = []
    for group in _near(sorted(lines, key=lambda r: r.at)):
        at = group[0].at
        for line in sorted(group, key=lambda r: r.low):
            if joined and joined[-1].at == at and line.low - joined[-1].high <= TOUCH:
                last = joined.pop()
                joined.append(Ruling(at, last.low, max(last.high, line.high)))
            else:
                joined.append(Ruling(at, line.low, line.high))
    return joined


def _near(lines: list[Ruling]) -> list[list[Ruling]]:
    """Runs of lines at the same position, within TOUCH of the run's first."""
    return runs_of(lines, lambda run, line: line.at - run[0].at <= TOUCH)


def grids(strokes: Sequence[Box]) -> list[RuledGrid]:
    """The grids of drawings with two cells or more, in no order."""
    across, down = rulings(strokes)
    if len(across) < 2 or len(down) < 2 or len(across) + len(down) > MAX_LINES:
        return []
    found = []
    for horizontals, verticals in _touching(across, down):
        grid = _grid(horizontals, verticals)
        if grid is not None:
            found.append(grid)
    return found


def _touching(across: list[Ruling], down: list[Ruling]) -> list[tuple[list[Ruling], list[Ruling]]]:
    """Lines that cross or meet, as connected drawings."""
    parent = list(range(len(across) + len(down)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    heights = [r.at for r in across]  # ascending, from _joined
    for j, line in enumerate(down):
        for i in range(bisect_left(heights, line.low - TOUCH), len(across)):
            if across[i].at > line.high + TOUCH:
                break
            if across[i].low - TOUCH <= line.at <= across[i].high + TOUCH:
                parent[root(i)] = root(len(across) + j)
    drawings: dict[int, tuple[list[Ruling], list[Ruling]]] = {}
    for k in range(len(parent)):
        sides = drawings.setdefault(root(k), ([], []))
        if k < len(across):
            sides[0].append(across[k])
        else:
            sides[1].append(down[k - len(across)])
    return list(drawings.values())


def _grid(horizontals: list[Ruling], verticals: list[Ruling]) -> RuledGrid | None:
    xs, ys = _positions(verticals, horizontals), _positions(horizontals, verticals)
    num_cells = (len(xs) - 1) * (len(ys) - 1)
    if len(xs) < 2 or len(ys) < 2 or not 2 <= num_cells <= MAX_CELLS:
        return None
    return RuledGrid(xs, ys, tuple(horizontals), tuple(verticals))


def _positions(lines: list[Ruling], crossing: list[Ruling]) -> tuple[float, ...]:
    """Where the lines stand, and where those that cross them end: tables are often open at the sides."""
    if not lines or not crossing:
        return ()
    found = [run[0].at for run in _near(sorted(lines, key=lambda r: r.at))]
    ends = (min(r.low for r in crossing), max(r.high for r in crossing))
    return tuple(sorted(found + [end for end in ends if min(abs(end - at) for at in found) > 2 * TOUCH]))


def ruled_bands(across: Sequence[Ruling]) -> list[Box]:
    """Boxes between the first and last of three or more horizontal rules of one length."""
    if len(across) > MAX_LINES:  # a drawing
        return []
    groups: list[list[Ruling]] = []
    for rule in across:  # rules of a table start and end together
        same = (g for g in groups if max(abs(g[0].low - rule.low), abs(g[0].high - rule.high)) <= 2 * TOUCH)
        group = next(same, None)
        if group is None:
            groups.append([rule])
        else:
            group.append(rule)
    bands = []
    for rules in groups:
        if len(rules) >= MIN_RULES:
            top, bottom = min(r.at for r in rules), max(r.at for r in rules)
            bands.append((min(r.low for r in rules), top, max(r.high for r in rules), bottom))
    return bands


def cells_of(grid: RuledGrid, words: Sequence[Word]) -> list[TableCell]:
    """The grid's cells with their words; a word goes to the cell its middle is in."""
    num_rows, num_columns = len(grid.ys) - 1, len(grid.xs) - 1
    owner = _merged(grid, num_rows, num_columns)
    held: dict[int, list[Word]] = {}
    for word in words:
        row = _slot(grid.ys, (word.box[1] + word.box[3]) / 2)
        column = _slot(grid.xs, (word.box[0] + word.box[2]) / 2)
        held.setdefault(owner[row * num_columns + column], []).append(word)
    spans = _spans(owner, num_columns)
    return [
        TableCell(
            row=row, column=column, row_span=rows, column_span=columns,
            text="\n".join(row_text(line) for line in rows_of_words(held.get(first, ()))),
            box=(grid.xs[column], grid.ys[row], grid.xs[column + columns], grid.ys[row + rows]),
        )
        for first, (row, column, rows, columns) in spans.items()
    ]  # fmt: skip


def ruled_table(box: Box, words: Sequence[Word], strokes: Sequence[Box]) -> list[TableCell] | None:
    """The cells of a table with drawn lines, or None if no grid of lines fills the box."""
    x0, y0, x1, y1 = box
    near = [s for s in strokes if s[0] < x1 and s[2] > x0 and s[1] < y1 and s[3] > y0]
    for grid in grids(near):
        if (
            shared_area(box, grid.box) >= FILLS * (x1 - x0) * (y1 - y0)
            and len(grid.xs) > 2
            and len(grid.ys) > 2
        ):
            cells = cells_of(grid, words)
            return None if is_partial(grid, cells, words) else [_unbroken(cell, words) for cell in cells]
    return None


def _unbroken(cell: TableCell, words: Sequence[Word]) -> TableCell:
    """The cell without the line breaks that its width forced."""
    if "\n" not in cell.text:
        return cell
    rows = rows_of_words([word for word in words if holds_middle(cell.box, word.box)])
    margin = max(0.0, min(around(row)[0] for row in rows) - cell.box[0])
    parts = runs_of(rows, lambda part, row: _is_forced(around(part[-1]), row[0].box, cell.box[2] - margin))
    texts = (join_lines([Line(text=row_text(row), box=around(row)) for row in part]) for part in parts)
    return cell._replace(text="\n".join(texts))


def _is_forced(above: Box, word: Box, right: float) -> bool:
    """Whether a line that may go as far as `right` had no room for the word that begins the next one."""
    return above[2] + SPACE * (word[3] - word[1]) + word[2] - word[0] > right


def is_partial(grid: RuledGrid, cells: Sequence[TableCell], words: Sequence[Word]) -> bool:
    """Whether lines are drawn around some of a table's cells only, so that the words in one keep columns."""
    em = type_height(words)
    return any(_hides_columns(cell, grid, words, em) for cell in cells)


def _hides_columns(cell: TableCell, grid: RuledGrid, words: Sequence[Word], em: float) -> bool:
    if (
        cell.text.count("\n") + 1 < MIN_HIDDEN_ROWS or not cell.text[0].isalnum()
    ):  # a list's marks stand apart
        return False
    x0, x1 = grid.xs[cell.column], grid.xs[min(cell.column + cell.column_span, len(grid.xs) - 1)]
    y0, y1 = grid.ys[cell.row], grid.ys[min(cell.row + cell.row_span, len(grid.ys) - 1)]
    inside = [word for word in words if holds_middle((x0, y0, x1, y1), word.box)]
    return bool(column_edges(rows_of_words(inside), em, HIDDEN_GUTTER * em))


def _slot(edges: tuple[float, ...], value: float) -> int:
    return min(max(bisect_left(edges, value) - 1, 0), len(edges) - 2)


def _merged(grid: RuledGrid, num_rows: int, num_columns: int) -> list[int]:
    """For each elementary cell the first cell of the rectangle it belongs to, row by row."""
    below = _drawn(grid.horizontals, grid.ys, grid.xs)
    beside = _drawn(grid.verticals, grid.xs, grid.ys)
    owner = [-1] * (num_rows * num_columns)

    def open_to(row: int, column: int, columns: int) -> bool:
        """Whether `columns` cells from here are free and have no line between them."""
        first = row * num_columns + column
        inner = ((c, row) not in beside for c in range(column + 1, column + columns))
        return max(owner[first : first + columns]) < 0 and all(inner)

    for first in range(len(owner)):
        if owner[first] >= 0:
            continue
        row, column = divmod(first, num_columns)
        columns, rows = 1, 1
        while column + columns < num_columns and open_to(row, column, columns + 1):
            columns += 1
        span = range(column, column + columns)
        while (
            row + rows < num_rows
            and open_to(row + rows, column, columns)
            and all((row + rows, c) not in below for c in span)
        ):
            rows += 1
        for r in range(row, row + rows):
            owner[r * num_columns + column : r * num_columns + column + columns] = [first] * columns
    return owner


def _drawn(lines: Sequence[Ruling], at: tuple[float, ...], along: tuple[float, ...]) -> set[tuple[int, int]]:
    """(i, k) for every edge at `at[i]` from `along[k]` to `along[k + 1]` that a line draws."""
    drawn: set[tuple[int, int]] = set()
    for line in lines:
        i = min(range(len(at)), key=lambda i: abs(at[i] - line.at))
        for k in range(len(along) - 1):
            low, high = along[k], along[k + 1]
            if min(high, line.high) - max(low, line.low) >= HELD * (high - low):
                drawn.add((i, k))
    return drawn


def _spans(owner: list[int], num_columns: int) -> dict[int, tuple[int, int, int, int]]:
    """For each first cell its row, column, row span and column span."""
    last: dict[int, int] = {}
    for cell, first in enumerate(owner):
        last[first] = cell
    return {
        first: (
            first // num_columns,
            first % num_columns,
            end // num_columns - first // num_columns + 1,
            end % num_columns - first % num_columns + 1,
        )
        for first, end in last.items()
    }
