"""A table's box on its printed page holds its rows that say nothing, and nothing of others."""

from __future__ import annotations

import pytest

from penstock.box import Box
from penstock.region import TableCell, TextLayer, Word
from penstock.workers.office.table_boxes import table_box

CELLS = tuple(TableCell(row, column, "") for row in range(3) for column in range(2))
WORDS = ((), (), (), (), (0,), (1,))  # in the last row
OWN = (Word(text="a", box=(12, 92, 20, 102)), Word(text="b", box=(62, 92, 70, 102)))
# three rows of 30, two columns of 50
FRAME: tuple[Box, ...] = (
    *((10, y, 110, y + 1) for y in (20, 50, 80, 110)), *((x, 20, x + 1, 111) for x in (10, 60, 109))
)  # fmt: skip


def test_rows_that_say_nothing_are_in_the_box_by_the_lines_around_them() -> None:
    assert table_box(CELLS, WORDS, TextLayer(words=OWN, strokes=FRAME)) == (10, 20, 110, 111)


def test_lines_of_each_cell_lead_to_the_rows_above() -> None:
    strokes = tuple(
        line for y in (20, 50, 80) for x in (10, 60)
        for line in ((x, y, x + 50, y + 1), (x, y + 29, x + 50, y + 30), (x, y, x + 1, y + 30))
    )  # fmt: skip
    assert table_box(CELLS, WORDS, TextLayer(words=OWN, strokes=strokes)) == (10, 20, 110, 110)


@pytest.mark.parametrize(("cells", "words"), [(CELLS, WORDS), (CELLS[4:], WORDS[4:])])
def test_a_box_never_grows_over_words_of_others(
    cells: tuple[TableCell, ...], words: tuple[tuple[int, ...], ...]
) -> None:
    title = Word(text="Title", box=(20, 30, 60, 42))
    box = table_box(cells, words, TextLayer(words=(*OWN, title), strokes=FRAME))
    assert box[1] > 42
