"""Cells that words and the lines among them make."""

from __future__ import annotations

from penstock.documents.tables.from_words import cells_from_words
from tests.documents.layout.test_rules import line
from tests.documents.tables.test_in_layer import COLUMNS, RIVERS, rows_of_text


def test_a_head_over_two_columns_by_the_line_below_it_is_one_cell() -> None:
    words = line("Measured in 2020", 630, 360) + rows_of_text(RIVERS, COLUMNS, 400)
    rules = [(140.0, y, 900.0, y + 1) for y in (350.0, 430.0, 590.0)] + [(590.0, 390.0, 880.0, 391.0)]
    cells = cells_from_words((140, 350, 900, 590), words, rules)
    [head] = [cell for cell in cells if cell.text == "Measured in 2020"]
    assert (head.row, head.column, head.column_span) == (0, 2, 2)
    assert [cell.text for cell in cells if cell.row == 2] == list(RIVERS[1])
