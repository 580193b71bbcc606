"""Rules and lines of text as a detector would give them, written by hand."""

from __future__ import annotations

from penstock.box import Box
from penstock.documents.tables.headed import headed_tables
from penstock.region import LineBox

RULES: list[Box] = [(100.0, 100.0, 500.0, 102.0), (100.0, 140.0, 500.0, 142.0)]


def rows(count: int, starts: tuple[float, ...], width: float, top: float = 150.0) -> list[LineBox]:
    return [LineBox((x, top + 28 * i, x + width, top + 28 * i + 20)) for i in range(count) for x in starts]


def test_rows_below_a_head_between_two_rules_are_a_table() -> None:
    lines = [*rows(1, (100.0, 300.0), 80, top=110.0), *rows(6, (100.0, 300.0), 120)]
    [table] = headed_tables(RULES, lines)
    assert table.box == (100.0, 100.0, 500.0, 310.0)


def test_columns_of_text_below_a_running_head_are_none() -> None:
    lines = [*rows(1, (100.0, 310.0), 80, top=110.0), *rows(20, (100.0, 310.0), 190)]
    assert headed_tables(RULES, lines) == []


def test_a_paragraph_below_is_no_part_of_the_table() -> None:
    table = [*rows(1, (100.0, 300.0), 80, top=110.0), *rows(4, (100.0, 300.0), 120)]
    paragraph = rows(5, (100.0,), 390, top=270.0)
    [found] = headed_tables(RULES, [*table, *paragraph])
    assert found.box[3] == 254.0


def test_rules_of_other_lengths_are_no_head() -> None:
    lines = [*rows(1, (100.0, 300.0), 80, top=110.0), *rows(6, (100.0, 300.0), 120)]
    assert headed_tables([RULES[0], (100.0, 140.0, 400.0, 142.0)], lines) == []


def test_rules_below_each_row_are_one_table() -> None:
    lines = [*rows(1, (100.0, 300.0), 80, top=110.0), *rows(6, (100.0, 300.0), 120, top=150.0)]
    below = [(100.0, 172.0 + 28 * i, 500.0, 174.0 + 28 * i) for i in range(6)]
    assert len(headed_tables([*RULES, *below], lines)) == 1
