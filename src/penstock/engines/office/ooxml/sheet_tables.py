"""Finds the tables of a sheet: areas of cells that touch, parted by empty rows and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.region import TableCell

Place = tuple[int, int]
Merged = tuple[int, int, int, int]  # first row, first column, last row, last column
MAX_MERGED = 20_000


def tables_of(texts: Mapping[Place, str], merged: Sequence[Merged]) -> list[list[TableCell]]:
    """Returns the tables from top to bottom; a single cell is a title or a note."""
    spans = {
        (top, left): (bottom - top + 1, right - left + 1) for top, left, bottom, right in merged[:MAX_MERGED]
    }
    spans = {place: span for place, span in spans.items() if place in texts}
    groups = _groups(texts, spans)
    found = [_table(group, texts, spans) for group in groups]
    return [cells for _, cells in sorted(found, key=lambda one: one[0])]


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
