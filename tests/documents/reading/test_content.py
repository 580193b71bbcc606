"""What a region's lines become, by its label."""

from __future__ import annotations

from penstock.documents.confidence.calibration import likely_right
from penstock.documents.reading.content import FORMULA_NOTE, with_content, with_texts, without_leaders
from penstock.region import Line, Region, Signals, TextLine, Word


def test_dots_that_lead_to_a_figure_are_no_cells() -> None:
    words = [Word(text=text, box=(0, 0, 10, 10)) for text in ("Angola", *["."] * 9, "15 421")]
    assert [word.text for word in without_leaders(words)] == ["Angola", "15 421"]
    few = [Word(text=text, box=(0, 0, 10, 10)) for text in ("a", "...", "b")]
    assert without_leaders(few) == few


def test_lines_of_layer_and_engine_stand_in_order_and_name_their_readers() -> None:
    region = Region(label="text", box=(0, 0, 200, 60))
    word = Word(text="below", box=(0, 40, 100, 60), size=20.0)
    read = [TextLine("over", (0, 0, 100, 20), 0.5, "ppocr"), TextLine(" ", (0, 20, 9, 30), 0.1, "hangul")]
    found = with_texts(region, [word], read)
    assert [line.text for line in found.lines] == ["over", "below"]
    assert found.reader == "layer+ppocr"
    assert [line.confidence for line in found.lines] == [
        likely_right(read[0]),
        None,
    ]  # the file is not judged
    assert found.confidence == likely_right(read[0])
    assert found.signals == Signals(network=0.5, weakest=0.5)


def test_a_text_region_without_lines_is_left_out_and_a_picture_stays() -> None:
    assert with_content(Region(label="text", box=(0, 0, 10, 10))) is None
    picture = Region(label="image", box=(0, 0, 10, 10))
    assert with_content(picture) == picture


def test_a_formula_that_is_prose_is_text_and_another_has_a_note() -> None:
    def formula(text: str) -> Region:
        line = Line(text=text, box=(0, 0, 400, 20))
        return Region(label="display_formula", box=line.box, lines=(line,))

    symbols, prose = (
        with_content(formula("x = 1")),
        with_content(formula("these words are plain running text")),
    )
    assert symbols is not None and (symbols.content, symbols.note) == (None, FORMULA_NOTE)
    assert (
        prose is not None and prose.label == "text" and prose.content == "these words are plain running text"
    )


def test_columns_of_vertical_writing_are_read_from_the_right() -> None:
    region = Region(label="text", box=(0, 0, 200, 400))
    read = [
        TextLine(text, (x, 0, x + 40, 400), 0.9) for x, text in ((0, "末列"), (60, "中列"), (120, "首列"))
    ]
    assert [line.text for line in with_texts(region, (), read).lines] == ["首列", "中列", "末列"]
    labels = [TextLine(text, (x, 0, x + 40, 400), 0.9) for x, text in ((0, "January"), (60, "February"))]
    assert [line.text for line in with_texts(region, (), labels).lines] == ["January", "February"]
