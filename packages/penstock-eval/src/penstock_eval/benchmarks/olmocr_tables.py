"""Lays tables out as grids of cells, to answer olmOCR-bench's questions about neighbours and headings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bs4 import Tag

from penstock_eval.html_tree import parse_html, texts

MAX_SPAN = 200  # a hostile table may claim a million columns

Place = tuple[int, int]
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


@dataclass(frozen=True, slots=True)
class OlmOcrCell:
    text: str
    rows: int = 1
    columns: int = 1
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class OlmOcrGrid:
    """Cells by their upper left place, and for every place the cell that covers it."""

    cells: dict[Place, OlmOcrCell]
    covered: dict[Place, Place]
    height: int
    width: int

    def beside(self, cell: Place, direction: str) -> set[Place]:
        """Returns the nearest cells on one side: several if the cell spans rows or columns."""
        down, right = STEPS[direction]
        found: set[Place] = set()
        spans = self.cells[cell]
        for row in range(cell[0], cell[0] + spans.rows):
            for column in range(cell[1], cell[1] + spans.columns):
                neighbour = self._next((row, column), cell, down, right)
                if neighbour is not None:
                    found.add(neighbour)
        return found

    def headings(self, cell: Place, direction: str) -> set[Place]:
        """Returns all heading cells in one direction; without any, the last cells there."""
        headings: set[Place] = set()
        ends: set[Place] = set()
        seen: set[Place] = set()
        open_cells = {cell}
        while open_cells:
            current = open_cells.pop()
            seen.add(current)
            if self.cells[current].is_heading:
                headings.add(current)
            following = self.beside(current, direction)
            if following:
                open_cells |= following - seen
            else:
                ends.add(current)
        return (headings - {cell}) or (ends - {cell})

    def _next(self, place: Place, own: Place, down: int, right: int) -> Place | None:
        row, column = place[0] + down, place[1] + right
        while 0 <= row < self.height and 0 <= column < self.width:
            found = self.covered.get((row, column))
            if found is not None and found != own:
                return found
            row, column = row + down, column + right
        return None


def grid(rows: list[list[OlmOcrCell]]) -> OlmOcrGrid | None:
    """Lays cells out with their spans. None if there are no cells."""
    cells: dict[Place, OlmOcrCell] = {}
    covered: dict[Place, Place] = {}
    for row, line in enumerate(rows):
        column = 0
        for cell in line:
            while (row, column) in covered:
                column += 1
            cells[row, column] = cell
            for down in range(cell.rows):
                for right in range(cell.columns):
                    covered.setdefault((row + down, column + right), (row, column))
            column += cell.columns
    if not cells:
        return None
    return OlmOcrGrid(cells, covered, 1 + max(p[0] for p in covered), 1 + max(p[1] for p in covered))


def all_tables(content: str, *, markdown: bool = True) -> Iterator[OlmOcrGrid]:
    """Yields every table of a page, pipe tables first."""
    sources = [*(_pipe_tables(content) if markdown else ()), *_html_tables(content)]
    for rows in sources:
        found = grid(rows)
        if found is not None:
            yield found


def _pipe_tables(content: str) -> Iterator[list[list[OlmOcrCell]]]:
    lines: list[str] = []
    for line in [*content.strip().split("\n"), ""]:
        if "|" in line:
            lines.append(line)
            continue
        if len(lines) >= 2:
            yield _pipe_rows(lines)
        lines = []


def _pipe_rows(lines: list[str]) -> list[list[OlmOcrCell]]:
    rows: list[list[OlmOcrCell]] = []
    for line in lines:
        if set(line.strip()) <= set("- :|"):
            continue
        cells = [cell.strip() for cell in line.split("|")]
        cells = cells[1:] if cells[0] == "" else cells
        cells = cells[:-1] if cells and cells[-1] == "" else cells
        if cells:
            first = not rows
            rows.append([OlmOcrCell(text, is_heading=first or i == 0) for i, text in enumerate(cells)])
    return rows


def _html_tables(content: str) -> Iterator[list[list[OlmOcrCell]]]:
    for table in parse_html(content).find_all("table"):
        in_head = {id(row) for head in table.find_all("thead") for row in head.find_all("tr")}
        rows = table.find_all("tr")
        yield [
            [_cell(child, id(row) in in_head, len(rows) - number) for child in _cells(row)]
            for number, row in enumerate(rows)
        ]


def _cells(row: Tag) -> list[Tag]:
    return row.find_all(["td", "th"], recursive=False)


def _cell(element: Tag, in_head: bool, rows_left: int) -> OlmOcrCell:
    rows = rows_left if str(element.get("rowspan", "")).strip() == "0" else _span(element, "rowspan")
    return OlmOcrCell(
        "".join(texts(element)).strip(), rows, _span(element, "colspan"), in_head or element.name == "th"
    )


def _span(element: Tag, name: str) -> int:
    value = str(element.get(name, "1")).strip()
    return min(MAX_SPAN, max(1, int(value))) if value.isdecimal() else 1
