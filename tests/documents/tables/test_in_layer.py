"""Tables that a layout model did not see, found in the words and lines of pages made here."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.box import Box
from penstock.documents.tables.in_layer import with_layer_tables
from penstock.documents.tables.ruled import ruled_table
from penstock.page import Page
from penstock.region import Region, TextLayer, Word
from tests.documents.layout.test_rules import frame, line, paragraph
from tests.documents.reading.steps import give_words

RIVERS = (
    ("River", "Length", "Basin", "Flow"),
    ("Han", "514", "26,219", "613"),
    ("Nakdong", "525", "23,817", "439"),
    ("Geum", "396", "9,859", "193"),
    ("Seomjin", "212", "4,896", "128"),
)
COLUMNS = (150.0, 400.0, 600.0, 800.0)


def rows_of_text(
    rows: Sequence[Sequence[str]], xs: Sequence[float], y: float, step: float = 40
) -> list[Word]:
    return [w for k, row in enumerate(rows) for text, x in zip(row, xs, strict=False)
            for w in line(text, x, y + step * k)]  # fmt: skip


def found(words: Sequence[Word], strokes: Sequence[Box] = (), regions: Sequence[Region] = ()) -> list[Region]:
    layer = TextLayer(words=tuple(words), strokes=tuple(strokes))
    return [region for region in with_layer_tables(regions, layer.words, layer) if region.label == "table"]


def test_a_table_without_lines_is_found_among_paragraphs() -> None:
    words = paragraph(150, 100, 5) + rows_of_text(RIVERS, COLUMNS, 400) + paragraph(150, 800, 5)
    [table] = found(words)
    assert 390 <= table.box[1] <= 400 and 575 <= table.box[3] <= 590


def test_text_regions_inside_a_found_table_give_it_their_words() -> None:
    words = rows_of_text(RIVERS, COLUMNS, 400)
    seen = (Region(label="reference_content", box=(145, 395, 500, 600)),)
    layer = TextLayer(words=tuple(words))
    page = Page(
        id="a", document="a", uri="a.pdf", media="pdf", width=1200, height=1700, layer=layer, regions=seen
    )
    drafts = give_words(page, layer.words)
    assert [(draft.region.label, len(draft.words)) for draft in drafts] == [("table", 20)]


def test_a_table_that_the_model_took_for_a_picture_is_a_table() -> None:
    picture = Region(label="image", box=(140, 390, 900, 600))
    [table] = found(rows_of_text(RIVERS, COLUMNS, 400), regions=[picture])
    assert table.native_label == "table in the layer"


def test_a_chart_stays_a_picture() -> None:
    ticks = [w for k in range(5) for w in line(str(100 * k), 150, 900 - 100 * k)]
    ticks += [
        w for k, year in enumerate(("2021", "2022", "2023", "2024")) for w in line(year, 250 + 150 * k, 960)
    ]
    assert found(ticks, regions=[Region(label="image", box=(140, 480, 900, 990))]) == []


def test_lists_contents_and_authors_are_no_tables() -> None:
    bullets = [w for k in range(6) for w in line("• the mill turns", 150, 100 + 40 * k)]
    contents = [("1", "Water", "3"), ("2", "Wind", "17"), ("3", "Steam", "40"), ("4", "Current", "71")]
    names = [("Ada Lovelace", "Emmy Noether", "Mary Somerville"), ("London", "Erlangen", "Jedburgh"),
             ("ada@mill.example", "emmy@ring.example", "mary@star.example")]  # fmt: skip
    wide = (150.0, 500.0, 850.0)
    for words in (bullets, rows_of_text(contents, COLUMNS, 100), rows_of_text(names, wide, 100)):
        assert found(words) == []


def test_rows_between_three_rules_need_two_columns_only() -> None:
    rules = [(140.0, y, 700.0, y + 1) for y in (390.0, 432.0, 600.0)]
    [table] = found(rows_of_text([row[:2] for row in RIVERS], COLUMNS, 400), strokes=rules)
    assert table.native_label == "ruled table"


def test_a_full_grid_is_believed() -> None:
    grid = frame([140, 390, 590, 790, 950], [390, 430, 470, 510, 550, 590])
    cells = ruled_table((140, 390, 950, 590), rows_of_text(RIVERS, COLUMNS, 400), grid)
    assert cells is not None and [cell.text for cell in cells[4:8]] == list(RIVERS[1])


def test_a_grid_without_lines_between_its_columns_is_not_believed() -> None:
    rows = [*RIVERS, ("Yeongsan", "137", "3,371", "89")]
    strokes = [(140.0, y, 950.0, y + 1) for y in (390.0, 430.0, 630.0)]
    strokes += [(x, 390.0, x + 1, 630.0) for x in (140.0, 390.0, 950.0)]
    assert ruled_table((140, 390, 950, 630), rows_of_text(rows, COLUMNS, 400), strokes) is None


def test_paragraphs_in_drawn_cells_are_one_cell_each() -> None:
    xs, ys = [140.0, 560.0, 980.0], [390.0, 430.0, 530.0, 630.0]
    words = line("Then", 150, 400) + line("Now", 570, 400)
    for x in (150, 570):
        for y in (440, 540):
            words += paragraph(x, y, 3, words_a_row=7)
    cells = ruled_table((140, 390, 980, 630), words, frame(xs, ys))
    assert cells is not None and [cell.text.count("\n") for cell in cells] == [0, 0, 2, 2, 2, 2]
