"""Formulas among lines of text. Lines are made here, after a page of physics and one of proofs."""

from __future__ import annotations

from penstock.documents.reading.formula_lines import AMONG_TEXT, with_formulas
from penstock.documents.reading.page_reading import Draft
from penstock.region import Region, TextLine, Word


def line(text: str, x: float, y: float, confidence: float = 0.99) -> TextLine:
    return TextLine(text, (x, y, x + 12.0 * len(text), y + 30.0), confidence)


BEFORE = line("leads to the third of the constraints that we look for", 100, 100)
AFTER = line("and with it the number of free parameters is known", 100, 220)
FORMULA = line("Tk ≡ µ2πk = 0", 170, 160, 0.9)


def parts(*lines: TextLine, label: str = "text") -> list[tuple[str, str, list[str]]]:
    region = Region(label=label, native_label="model's", box=(90, 90, 900, 300))
    found = with_formulas([Draft(region, read=lines)])
    return [
        (part.region.label, part.region.native_label, [read.text for read in part.read]) for part in found
    ]


def test_a_formula_between_lines_of_text_is_a_region_of_its_own() -> None:
    assert parts(BEFORE, FORMULA, AFTER) == [
        ("text", "model's", [BEFORE.text]),
        ("display_formula", AMONG_TEXT, [FORMULA.text]),
        ("text", "model's", [AFTER.text]),
    ]


def test_a_formulas_box_has_room_but_not_the_next_lines() -> None:
    region = Region(label="text", box=(90, 90, 900, 300))
    _, formula, _ = with_formulas([Draft(region, read=(BEFORE, FORMULA, AFTER))])
    _, top, _, low = formula.region.box
    assert BEFORE.box[3] <= top < FORMULA.box[1] and FORMULA.box[3] < low <= AFTER.box[1]


def test_what_is_no_formula_stays_in_its_text() -> None:
    for other in (
        line("Tk ≡ µ2πk = 0", 100, 160, 0.9),  # at the left: the end of a sentence
        line("i = i + 1", 170, 160, 1.0),  # code, read surely
        line("total price = sum of parts", 170, 160, 0.9),  # words
        line("1,024  88  12", 170, 160, 0.9),  # no relation: figures
        line("합계 = 12", 170, 160, 0.9),  # Korean
    ):
        assert [label for label, _, _ in parts(BEFORE, other, AFTER)] == ["text"], other.text


def test_a_chinese_letter_in_a_formula_on_an_english_page_is_a_bar_badly_read() -> None:
    badly = line("v 二 −a u x 十 v2", 170, 160, 0.8)
    assert [label for label, _, _ in parts(BEFORE, badly, AFTER)] == ["text", "display_formula", "text"]
    chinese = line("这些参数的个数就是我们要找的那个数", 100, 220)
    assert [label for label, _, _ in parts(BEFORE, badly, chinese)] == ["text"]


def test_a_row_of_a_formula_at_the_left_stays_in_it_though_its_equals_sign_is_read_as_chinese() -> None:
    first, second = line("−a w 二 v2 十 aij v", 110, 160, 0.89), line("= Lu − bw", 170, 210, 0.96)
    region = Region(label="display_formula", native_label="equation", box=(105, 150, 700, 260))
    drafts = [Draft(Region(label="text", box=(90, 90, 900, 130)), read=(BEFORE,))]
    found = with_formulas([*drafts, Draft(region, read=(first, second))])
    assert [len(part.read) for part in found if part.region.label == "display_formula"] == [2]


def test_text_in_what_the_model_calls_a_formula_is_text() -> None:
    below = line("∇ × AT = BT − mVT", 170, 220, 0.94)
    told = line("we can eliminate ∇ × AT from it to obtain", 100, 160)
    above = line("AT · BT = −(∇ × AT)", 170, 100, 0.93)
    long = line("a sentence of the page that tells where its column begins", 100, 400)
    regions = [
        Draft(
            Region(label="display_formula", native_label="equation", box=(90, 90, 700, 260)),
            read=(above, told, below),
        ),
        Draft(Region(label="text", box=(90, 390, 900, 440)), read=(long,)),
    ]
    found = [
        (part.region.label, part.region.native_label, part.read[0].text) for part in with_formulas(regions)
    ]
    assert found == [
        ("display_formula", "equation", above.text),
        ("text", "equation", told.text),
        ("display_formula", "equation", below.text),
        ("text", "", long.text),
    ]


def test_a_name_that_is_read_surely_is_no_formula_whatever_the_model_says() -> None:
    shop, case = line("Ampang 210", 170, 100, 1.0), line("otherwise", 400, 195, 0.99)
    assert parts(shop, label="display_formula") == [
        ("text", "model's", [shop.text])
    ]  # no sentence on the page
    assert parts(BEFORE, label="display_formula")[0][0] == "text"
    [kept] = parts(FORMULA, case, label="display_formula")  # a word of a formula stays in it
    assert kept == ("display_formula", "model's", [FORMULA.text, case.text])


def test_rows_of_one_formula_stay_together_and_numbered_ones_do_not() -> None:
    top, low = line("x = a + b", 170, 160, 0.9), line("− c + d = y", 190, 195, 0.9)
    last = line("and with it the number of free parameters is known", 100, 280)
    assert [label for label, _, _ in parts(BEFORE, top, low, last)] == ["text", "display_formula", "text"]
    numbers = Draft(
        Region(label="text", box=(1000, 90, 1100, 300)),
        read=(line("(1)", 1000, 160), line("(2)", 1000, 195)),
    )
    region = Region(label="text", box=(90, 90, 900, 320))
    labels = [
        part.region.label for part in with_formulas([Draft(region, read=(BEFORE, top, low, last)), numbers])
    ]
    assert labels == ["text", "display_formula", "display_formula", "text", "text"]


def test_regions_with_a_text_layer_and_pages_without_sentences_stay_as_they_are() -> None:
    region = Region(label="text", box=(90, 90, 900, 300))
    with_words = Draft(region, (Word(text="x", box=(1, 2, 3, 4)),), read=(BEFORE, FORMULA))
    assert with_formulas([with_words]) == [with_words]
    alone = Draft(region, read=(FORMULA,))
    assert with_formulas([alone]) == [alone]


def test_what_stands_below_a_sum_is_a_part_of_it() -> None:
    region = Region(label="display_formula", box=(170, 160, 500, 190))
    total = Draft(region, read=(line("det Jx = ∑ sgn(π)xν(π)", 170, 160, 0.9),))
    limit = Draft(Region(label="text", box=(270, 195, 330, 215)), read=(line("π∈Sn", 270, 195, 0.9),))
    number = Draft(Region(label="text", box=(900, 160, 940, 190)), read=(line("(3)", 900, 160),))
    text = Draft(Region(label="text", box=(90, 90, 900, 130)), read=(BEFORE,))
    found = with_formulas([text, total, limit, number])
    assert [part.region.label for part in found] == ["text", "display_formula", "text"]
    assert found[1].region.box[3] >= 215 and found[1].read == (*total.read, *limit.read)


def test_a_formulas_box_over_lines_of_a_text_is_dropped() -> None:
    text = Draft(Region(label="text", box=(90, 90, 900, 300)), read=(BEFORE, AFTER))
    double = Draft(Region(label="display_formula", box=BEFORE.box))
    empty = Draft(Region(label="display_formula", box=(100, 500, 300, 540)))
    assert with_formulas([text, double, empty]) == [text, empty]


def test_a_column_of_chinese_tells_what_is_indented() -> None:
    above, below = (
        line("全玻幕墙胶缝承载力应符合下列要求", 100, 100),
        line("垂直于玻璃面板的分布荷载设计值", 100, 220),
    )
    assert [label for label, _, _ in parts(above, FORMULA, below)] == ["text", "display_formula", "text"]


def test_limits_of_limits_are_neither_lost_nor_doubled() -> None:
    """Each is right at the next: none is asked for after it was taken."""
    whole = Draft(
        Region(label="display_formula", box=(170, 160, 600, 190)),
        read=(line("det Jx = ∑ sgn(π)xν(π) + ∑ f(U)", 170, 160, 0.9),),
    )
    limit = Draft(Region(label="text", box=(270, 195, 330, 225)), read=(line("π∈Sn, n>1", 270, 195, 0.9),))
    below = Draft(Region(label="text", box=(280, 228, 310, 250)), read=(line("i,j", 280, 228, 0.9),))
    text = Draft(Region(label="text", box=(90, 90, 900, 130)), read=(BEFORE,))
    for order in ([below, limit, whole, text], [text, whole, limit, below], [limit, below, text, whole]):
        found = with_formulas(order)
        assert sorted(read.text for part in found for read in part.read) == sorted(
            read.text for draft in order for read in draft.read
        )
