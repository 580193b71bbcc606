"""Charts of Office as tables: what they were drawn from is in the file."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from penstock.engines.office.package import attribute, child, descendants, text_in
from penstock.region import TableCell

MAX_POINTS = 2_000  # of a series


def chart_cells(tree: Element | None) -> list[TableCell]:
    """Returns a row for each category and a column for each series, as the chart shows them."""
    series = list(descendants(tree, "ser"))
    cells: list[TableCell] = []
    categories = next((points for each in series if (points := _points(each, "cat", "xVal"))), {})
    for column, each in enumerate(series, 1):
        cells.append(TableCell(0, column, _name(each), is_header=True))
        values = _points(each, "val", "yVal")
        cells += [TableCell(row + 1, column, text) for row, text in values.items()]
    if not cells:
        return []
    rows = max(cell.row for cell in cells)
    cells.append(TableCell(0, 0, "", is_header=True))
    cells += [TableCell(row + 1, 0, categories.get(row, "")) for row in range(rows)]
    return sorted(cells)


def _name(series: Element) -> str:
    return " ".join(text_in(child(series, "tx"), "v").split())


def _points(series: Element, *names: str) -> dict[int, str]:
    found = next((each for name in names if (each := child(series, name)) is not None), None)
    rows = [row for row in descendants(found, "pt") if attribute(row, "idx").isdecimal()]
    return {
        int(attribute(row, "idx")): text_in(row, "v")
        for row in rows[:MAX_POINTS]
        if int(attribute(row, "idx")) < MAX_POINTS
    }
