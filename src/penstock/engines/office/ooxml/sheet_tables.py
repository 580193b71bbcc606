"""Finds the tables of a sheet: areas of cells that touch, parted by empty rows and columns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.engines.office.blocks import HIDDEN_CELLS, SHOWN_CELLS, STORED, StructureBlock, in_units
from penstock.region import TableCell

Place = tuple[int, int]
Merged = tuple[int, int, int, int]  # first row, first column, last row, last column
MAX_MERGED = 20_000
MAX_SHEET_CELLS = 500_000  # of one sheet; the rest of a larger one is left out, and a note says so
MAX_STORED = 2_000  # formulas and numbers of one sheet that are named
MAX_FORMULA = 1_000  # letters
MAX_NAMED = 50  # hidden rows, and hidden columns


@dataclass(slots=True)
class SheetContent:
    """The cells of one sheet by place, and what is known of them."""

    texts: dict[Place, str] = field(default_factory=dict)
    merged: list[Merged] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    stored: list[str] = field(default_factory=list)  # formulas, and numbers that are shown otherwise, by cell
    is_cut: bool = False

    def add(self, text: str, rows: range, columns: range, most: int) -> None:
        """Puts a text into cells, as long as there are no more than `most`."""
        for place in ((row, column) for row in rows for column in columns):
            if len(self.texts) >= most:
                self.is_cut = True
                return
            self.texts[place] = text

    @property
    def hidden(self) -> list[str]:
        """Which rows and columns are hidden and say something, as people name them."""
        rows = sorted(self.hidden_rows.intersection(row for row, _ in self.texts))[:MAX_NAMED]
        columns = sorted(self.hidden_columns.intersection(column for _, column in self.texts))[:MAX_NAMED]
        named = {"rows": [str(row + 1) for row in rows], "columns": [column_name(each) for each in columns]}
        return [f"Hidden {kind}: {', '.join(lines)}" for kind, lines in named.items() if lines]

    def store(self, place: str, said: str) -> None:
        """Notes what a cell holds behind what it shows."""
        if said and len(self.stored) < MAX_STORED:
            self.stored.append(f"{place}: {said}")


def column_name(number: int) -> str:
    """Returns the letters of a column from 0."""
    letters = ""
    while number >= 0:
        letters = chr(ord("A") + number % 26) + letters
        number = number // 26 - 1
    return letters


def whole_sheet(
    name: str, is_hidden: bool, content: SheetContent, others: Iterable[StructureBlock]
) -> list[StructureBlock]:
    """Returns a sheet's name, its tables, and what hangs on its cells or floats over them."""
    mark = "hidden_sheet" if is_hidden else "sheet"
    title = StructureBlock(label="paragraph_title", text=name, level=2, mark=mark)
    return [block for part in in_units([title, *_sheet_blocks(content), *others]) for block in part]


def _sheet_blocks(content: SheetContent) -> Iterator[StructureBlock]:
    """Yields the tables of a sheet, with hidden cells also what is shown of it; then what is hidden."""
    rows, columns = sorted(content.hidden_rows), sorted(content.hidden_columns)
    for place, cells in tables_of(content.texts, content.merged):
        shown = _shown(place, cells, rows, columns)
        yield _area(cells, HIDDEN_CELLS if shown != cells else "")
        if shown != cells and any(cell.text for cell in shown):
            yield _area(shown, SHOWN_CELLS)
    hidden = content.hidden
    if hidden:
        yield StructureBlock(label="aside_text", text="\n".join(hidden), mark="hidden_rows")
    if content.stored:
        yield StructureBlock(label="aside_text", text="\n".join(content.stored), mark=STORED)
    if content.is_cut:
        words = f"The sheet has more than {MAX_SHEET_CELLS:,} cells; the rest was not read."
        yield StructureBlock(label="aside_text", text=words, mark="cut")


def _area(cells: Sequence[TableCell], mark: str) -> StructureBlock:
    if len(cells) == 1:
        return StructureBlock(label="text", text=cells[0].text, mark=mark)
    return StructureBlock(label="table", cells=tuple(cells), mark=mark)


def _shown(
    place: Place, cells: list[TableCell], rows: Sequence[int], columns: Sequence[int]
) -> list[TableCell]:
    """Returns the cells of a table without its hidden rows and columns: the others move together."""
    if not (rows or columns):
        return cells
    top, left = _left(place[0], rows), _left(place[1], columns)
    shown = []
    for cell in cells:
        row, column = place[0] + cell.row, place[1] + cell.column
        tall = _left(row + cell.row_span, rows) - _left(row, rows)
        wide = _left(column + cell.column_span, columns) - _left(column, columns)
        if tall and wide:
            at = _left(row, rows) - top, _left(column, columns) - left
            shown.append(cell._replace(row=at[0], column=at[1], row_span=tall, column_span=wide))
    return shown


def _left(at: int, hidden: Sequence[int]) -> int:
    """Returns how many lines before this one are shown."""
    return at - bisect_left(hidden, at)


def tables_of(texts: Mapping[Place, str], merged: Sequence[Merged]) -> list[tuple[Place, list[TableCell]]]:
    """Returns the tables from top to bottom with their places; a single cell is a title or a note."""
    spans = {
        (top, left): (bottom - top + 1, right - left + 1) for top, left, bottom, right in merged[:MAX_MERGED]
    }
    spans = {place: span for place, span in spans.items() if place in texts}
    groups = _groups(texts, spans)
    return sorted((_table(group, texts, spans) for group in groups), key=lambda one: one[0])


def _groups(texts: Mapping[Place, str], spans: Mapping[Place, tuple[int, int]]) -> list[list[Place]]:
    """Puts places that touch together, also over a corner; a merged cell touches all around it."""
    home: dict[Place, Place] = {place: place for place in texts}

    def top(place: Place) -> Place:
        while home[place] != place:
            home[place] = home[home[place]]
            place = home[place]
        return place

    covered = _covered(spans)
    for place in texts:
        tall, wide = spans.get(place, (1, 1))
        for near in _around(place, min(tall, 200), min(wide, 200)):
            other = covered.get(near, near)
            if other in home and top(other) != top(place):
                home[top(other)] = top(place)
    groups: dict[Place, list[Place]] = {}
    for place in texts:
        groups.setdefault(top(place), []).append(place)
    return list(groups.values())


def _covered(spans: Mapping[Place, tuple[int, int]]) -> dict[Place, Place]:
    """Returns by place the merged cell that covers it, along the edges of that cell."""
    covered: dict[Place, Place] = {}
    for (row, column), (tall, wide) in spans.items():
        for r in range(row, row + min(tall, 200)):
            for c in range(column, column + min(wide, 200)):
                covered[r, c] = (row, column)
    return covered


def _around(place: Place, tall: int, wide: int) -> list[Place]:
    """Returns the places to the right of a cell and below it, and at its lower corners."""
    row, column = place
    right = [(r, column + wide) for r in range(row - 1, row + tall + 1)]
    below = [(row + tall, c) for c in range(column - 1, column + wide + 1)]
    return right + below


def _table(
    group: Sequence[Place], texts: Mapping[Place, str], spans: Mapping[Place, tuple[int, int]]
) -> tuple[Place, list[TableCell]]:
    first_row, first_column = min(row for row, _ in group), min(column for _, column in group)
    head = _is_head(group, texts, first_row)
    cells = [
        TableCell(
            row - first_row, column - first_column, texts[row, column], *spans.get((row, column), (1, 1)),
            head and row == first_row,
        )
        for row, column in sorted(group)
    ]  # fmt: skip
    return (first_row, first_column), _filled(cells)


def _is_head(group: Sequence[Place], texts: Mapping[Place, str], first: int) -> bool:
    """Whether the first row names columns: words over what has numbers, or over more words."""
    top = [texts[place] for place in group if place[0] == first]
    rest = any(place[0] > first for place in group)
    return rest and len(top) > 1 and not any(_is_number(text) for text in top)


def _is_number(text: str) -> bool:
    bare = text.strip().lstrip("-+₩$€£(").rstrip("%)원").replace(",", "")
    return bare.replace(".", "", 1).isdecimal()


def _filled(cells: list[TableCell]) -> list[TableCell]:
    """Returns the cells with empty ones where the grid has none: a row must not move to the left."""
    rows = max(cell.row + cell.row_span for cell in cells)
    columns = max(cell.column + cell.column_span for cell in cells)
    if len(cells) == 1 or rows * columns > 4 * len(cells) + 10_000:
        return cells if len(cells) == 1 else _row_filled(cells)
    taken = {
        (r, c)
        for cell in cells
        for r in range(cell.row, cell.row + cell.row_span)
        for c in range(cell.column, cell.column + cell.column_span)
    }
    empty = (TableCell(r, c, "") for r in range(rows) for c in range(columns) if (r, c) not in taken)
    return sorted([*cells, *empty])


def _row_filled(cells: list[TableCell]) -> list[TableCell]:
    """The same for a thin area: empty cells only up to the last one of each row."""
    by_row: dict[int, list[TableCell]] = {}
    for cell in cells:
        by_row.setdefault(cell.row, []).append(cell)
    filled: list[TableCell] = []
    for row, found in by_row.items():
        have = {cell.column for cell in found}
        last = min(max(have), 1_000)
        filled += [*found, *(TableCell(row, column, "") for column in range(last) if column not in have)]
    return sorted(filled)
