"""Spaces of the layer, and pieces of photographed lines that are no table."""

from __future__ import annotations

from penstock.documents.tables.find import table_among
from penstock.documents.text.lines import row_text
from penstock.region import Word


def words(*parts: tuple[str, float, float]) -> list[Word]:
    return [Word(text=text, box=(x0, 100, x1, 120), size=20.0) for text, x0, x1 in parts]


def test_a_squeezed_space_is_a_space_and_a_change_of_font_is_none() -> None:
    assert row_text(words(("tight", 0, 50), ("space", 51.5, 100))) == "tight space"
    assert row_text(words(("in", 0, 20), ("side", 20.8, 60))) == "inside"


def test_pieces_of_photographed_lines_are_no_table() -> None:
    """Every line of prose was found in three pieces, cut at another place each time."""
    cuts = [(300, 520), (260, 600), (380, 700), (210, 480), (330, 640)]
    lines = [
        box
        for k, (a, b) in enumerate(cuts)
        for box in (
            (100, 50 * k, a, 50 * k + 30),
            (a + 10, 50 * k, b, 50 * k + 30),
            (b + 10, 50 * k, 900, 50 * k + 30),
        )
    ]
    assert table_among([tuple(map(float, box)) for box in lines]) is None  # type: ignore[misc]


def test_cells_in_columns_are_a_table() -> None:
    cells = [(x, 50.0 * k, x + 120, 50.0 * k + 30) for k in range(5) for x in (100.0, 400.0, 700.0)]
    assert table_among(cells) == (100, 0, 820, 230)


def raised(text: str, x: float) -> Word:
    return Word(text=text, box=(x, 98, x + 6 * len(text), 110), size=12.0)


def test_powers_stay_powers() -> None:
    assert row_text([*words(("2", 0, 10)), raised("3", 10), *words(("units", 24, 80))]) == "2³ units"
    assert (
        row_text([*words(("10", 0, 20)), raised("−6", 20), *words(("m", 40, 55)), raised("2", 55)])
        == "10⁻⁶ m²"
    )


def test_the_mark_of_a_note_behind_a_word_stays_as_it_is() -> None:
    assert row_text([*words(("mill", 0, 40)), raised("3", 40)]) == "mill3"
    assert row_text([*words(("2", 0, 10)), *words(("3", 10, 20))]) == "23"


def test_sentences_cut_at_the_same_places_are_no_table() -> None:
    """A fold or a shadow's edge cuts every line of a photographed page: the pieces nearly touch."""
    pieces = [
        (left + step, 40.0 * row, right + step, 40.0 * row + 28)
        for row, step in enumerate([0, 3, 6, 2, 5, 1, 4, 7])
        for left, right in ((100.0, 392.0), (400.0, 690.0), (700.0, 1000.0))
    ]
    assert table_among(pieces) is None
    apart = [(left, y0, right - 120, y1) for left, y0, right, y1 in pieces]
    assert table_among(apart) is not None
