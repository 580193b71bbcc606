"""What is taken from which of the two built-in networks."""

from __future__ import annotations

from penstock.box import Box
from penstock.engines.layout.cdla import Detection
from penstock.engines.layout.doclayout_output import PlacedDetection
from penstock.engines.layout.pair import joined


def own(label: str, box: Box, order: int, score: float = 0.9) -> PlacedDetection:
    return PlacedDetection(label, label, box, score, order)


def other(label: str, box: Box) -> Detection:
    return Detection(label, label, box, 0.9)


def test_a_table_takes_the_place_of_what_we_saw_in_it() -> None:
    text, cut = own("text", (0, 0, 100, 20), 0), own("table", (10, 40, 110, 80), 1)
    row = own("text", (0, 85, 100, 95), 2, score=0.5)
    [kept, table] = joined([text, cut, row], [other("table", (0, 30, 100, 100))])
    assert kept is text
    assert table == PlacedDetection("table", "table", (0, 30, 100, 100), 0.9, 1)


def test_a_table_over_what_is_surely_text_is_none() -> None:
    lines = [own("text", (0, 20 * n, 100, 20 * n + 18), n) for n in range(5)]
    assert joined(lines, [other("table", (0, 0, 100, 100))]) == lines


def test_a_table_that_the_others_alone_see_has_no_place_in_the_order() -> None:
    assert joined([], [other("table", (0, 0, 100, 100))]) == [other("table", (0, 0, 100, 100))]


def test_a_picture_counts_where_we_see_one_and_keeps_our_name_for_it() -> None:
    chart = own("chart", (0, 0, 80, 100), 3)
    [picture] = joined([chart], [other("image", (0, 0, 100, 100)), other("image", (200, 0, 300, 100))])
    assert picture == PlacedDetection("chart", "image", (0, 0, 100, 100), 0.9, 3)


def test_a_formula_in_a_paragraph_is_part_of_it() -> None:
    paragraph = own("text", (0, 0, 100, 60), 0)
    assert joined([paragraph], [other("display_formula", (20, 20, 60, 40))]) == [paragraph]
