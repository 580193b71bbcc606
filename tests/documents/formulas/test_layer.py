"""Formulas from the signs of a text layer. Places are those that TeX and the sample's maker give them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import penstock
from penstock.box import Box
from penstock.documents.formulas import layer_formula
from penstock.engines.pdf.file import PdfFile
from penstock.engines.pdf.text import rejoined
from penstock.region import Word

SAMPLE = Path(penstock.__file__).parent / "sample"
WHOLE: Box = (0, 0, 1000, 1000)
ITALIC, ROMAN, SYMBOLS, TALL = "CMMI10", "CMR10", "CMSY10", "CMEX10"


def sign(text: str, x: float, baseline: float = 100, size: float = 20, font: str = ITALIC) -> Word:
    box = (x, baseline - 0.75 * size, x + 0.5 * size * len(text), baseline + 0.25 * size)
    return Word(text=text, box=box, size=size, baseline=baseline, font=font, italic=font == ITALIC)


def tall(text: str, x: float, top: float, bottom: float, font: str = TALL) -> Word:
    """A sign of TeX's font of tall signs: it hangs from its baseline."""
    return Word(text=text, box=(x, top, x + 12, bottom), size=20, baseline=top, font=font)


def bar(x0: float, x1: float, y: float) -> Box:
    return (x0, y, x1, y + 1)


def test_signs_on_one_line_are_letters_names_and_numbers() -> None:
    words = [sign("y", 0), sign("=", 20, font=ROMAN), sign("sin", 40, font=ROMAN), sign("αx", 80)]
    words += [sign("−", 110, font=SYMBOLS), sign("3.5", 130, font=ROMAN), sign("rate", 170, font=ROMAN)]
    assert layer_formula(words, (), WHOLE) == r"y = \sin \alpha x - 3.5 \mathrm{rate}"


def test_small_signs_off_the_line_are_scripts_and_have_scripts() -> None:
    words = [sign("x", 0), sign("i", 10, 105, 14), sign("2", 10, 92, 14), sign("+", 30), sign("e", 50)]
    words += [sign("n", 60, 92, 14), sign("k", 67, 95, 10)]
    assert layer_formula(words, (), WHOLE) == "x_{i}^{2} + e^{n_{k}}"


def test_bars_make_fractions_in_fractions_and_roots() -> None:
    words = [sign("a", 20, 80), sign("b", 10, 120), sign("+", 22, 120), tall("p", 34, 106, 126, SYMBOLS)]
    words += [sign("c", 47, 120)]
    strokes = [bar(8, 60, 95), bar(46, 58, 104)]
    assert layer_formula(words, strokes, WHOLE) == r"\frac{a}{b + \sqrt{c}}"
    inner = [sign("a", 20, 60), sign("b", 20, 90), sign("c", 20, 120)]
    assert layer_formula(inner, [bar(18, 32, 68), bar(14, 36, 98)], WHOLE) == r"\frac{\frac{a}{b}}{c}"


def test_a_bar_right_above_is_an_overline_and_one_far_away_is_nothing() -> None:
    assert layer_formula([sign("AB", 0)], [bar(0, 20, 83)], WHOLE) == r"\overline{A B}"
    assert layer_formula([sign("AB", 0)], [bar(0, 20, 40)], WHOLE) == "A B"


def test_a_sum_has_its_bounds_and_tall_brackets_grow() -> None:
    words = [tall("X", 0, 80, 108), sign("i=1", -4, 122, 14), sign("n", 2, 74, 14)]
    words += [tall("\x12", 20, 70, 120), sign("x", 34), sign("i", 44, 105, 14), tall("\x13", 54, 70, 120)]
    assert layer_formula(words, (), WHOLE) == r"\sum_{i = 1}^{n} \left( x_{i} \right)"


def test_an_integral_has_its_bounds_beside_it() -> None:
    words = [tall("Z", 0, 72, 116), sign("0", 8, 116, 14), sign("∞", 12, 80, 14, SYMBOLS), sign("f", 30)]
    words += [sign("dx", 50)]
    assert layer_formula(words, (), WHOLE) == r"\int_{0}^{\infty} f d x"


def test_accents_stand_on_their_letters() -> None:
    words = [sign("xA", 0), Word(text="ˆ", box=(12, 75, 18, 82), size=20, baseline=96, font=ROMAN)]
    assert layer_formula(words, (), WHOLE) == r"x \hat{A}"


def test_rows_are_lines_and_a_number_at_the_right_is_a_tag() -> None:
    words = [sign("a", 0), sign("=", 20, font=ROMAN), sign("b", 40), sign("(3)", 400, font=ROMAN)]
    assert layer_formula(words, (), WHOLE) == r"a = b \tag{3}"
    words += [sign("c", 0, 140), sign("=", 20, 140, font=ROMAN), sign("d", 40, 140)]
    assert layer_formula(words, (), WHOLE) == r"\begin{aligned} a = b \tag{3} \\ c = d \end{aligned}"


def test_fonts_tell_alphabets() -> None:
    words = [sign("x", 0), sign("2", 20, font=SYMBOLS), sign("R", 40, font="MSBM10")]
    assert layer_formula(words, (), WHOLE) == r"x \in \mathbb{R}"
    assert layer_formula([sign("L", 0, font=SYMBOLS), sign("𝑥𝟐", 30, font="Math")], (), WHOLE) == (
        r"\mathcal{L} x \mathbf{2}"
    )


@pytest.mark.parametrize("text", ["\ufffd", "\ue000", "a\ufffdb"])
def test_a_sign_without_a_meaning_leaves_the_picture(text: str) -> None:
    assert layer_formula([sign("x", 0), sign(text, 20, font="Unnamed")], (), WHOLE) is None


def test_the_smallest_signs_have_scripts_of_their_own_size() -> None:
    words = [sign("a", 0), sign("+", 12), sign("x", 24), sign("2", 36, 94), sign("b", 50)]
    assert layer_formula(words, (), WHOLE) == "a + x^{2} b"


def test_fractions_over_each_other_keep_to_their_bars() -> None:
    words = [sign("a", 20, 60), sign("b", 20, 88), sign("c", 20, 120), sign("d", 20, 148)]
    strokes = [bar(18, 32, 67), bar(18, 32, 127), bar(14, 36, 98)]
    assert layer_formula(words, strokes, WHOLE) == r"\frac{\frac{a}{b}}{\frac{c}{d}}"


def test_tall_brackets_with_rows_are_a_matrix_and_one_alone_holds_cases() -> None:
    cells = [sign("1", 14, 88), sign("2", 44, 88), sign("3", 14, 114), sign("4", 44, 114)]
    words = [tall("\x12", 0, 70, 120), *cells, tall("\x13", 60, 70, 120)]
    assert layer_formula(words, (), WHOLE) == r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"
    words = [sign("y", -40), sign("=", -20), tall("\x1a", 0, 70, 120), *cells]
    assert layer_formula(words, (), WHOLE) == r"y = \begin{cases} 1 & 2 \\ 3 & 4 \end{cases}"


def test_a_root_may_have_a_degree() -> None:
    words = [tall("p", 34, 82, 104, SYMBOLS), sign("3", 35, 90, 10), sign("x", 47)]
    assert layer_formula(words, [bar(46, 60, 81)], WHOLE) == r"\sqrt[3]{x}"


def test_what_would_be_markup_is_escaped() -> None:
    assert layer_formula([sign("a%&#$_~^\\{}", 0, font=ROMAN)], (), WHOLE) == (
        r"a \% \& \# \$ \_ \sim \wedge \backslash \{ \}"
    )


def signs_of(pdf: Path, page: int, box: Box) -> str | None:
    """The LaTeX of what stands in a box, given in points."""
    with PdfFile(str(pdf)) as file:
        size = file.size(page, dpi=144, max_side=5000)
        layer = file.layer(page, size)
    left, top, right, bottom = (2 * edge for edge in box)
    inside = [
        word
        for word in layer.words
        if left <= word.box[0] and word.box[2] <= right and top <= word.box[1] and word.box[3] <= bottom
    ]
    return layer_formula(inside, layer.strokes, (left, top, right, bottom))


def test_the_samples_formula_is_read_right() -> None:
    pages = json.loads((SAMPLE / "sample.json").read_text(encoding="utf-8"))["pages"]
    [formula] = [
        region for page in pages for region in page["blocks"] if region["label"] == "display_formula"
    ]
    read = signs_of(SAMPLE / "sample.pdf", 2, (70, 265, 195, 315))
    assert read is not None
    assert re.sub(r"[\s{}]", "", read) == re.sub(r"[\s{}]", "", formula["latex"])


def test_formulas_of_a_paper_are_read_right(shared_data: Path) -> None:
    """Set by pdfTeX in Computer Modern, by people who do not know of us."""
    paper = shared_data / "mineru_demo" / "pdfs" / "demo3.pdf"
    assert signs_of(paper, 3, (340, 105, 500, 145)) == (
        r"\bar{A} = \frac{Q K^{\top}}{\sqrt{d_{K}}} , A = \bar{A} + \hat{A}"
    )


def test_letters_in_two_halves_are_one() -> None:
    """PDFium counts letters beyond the first 65,536 twice; a half alone has no meaning."""
    codes = [0x61, 0xD835, 0xDC38, 0x3D, 0xD835, 0x62]
    joined = rejoined(codes, lambda index: chr(codes[index]) if codes[index] < 0xD800 else "\ufffd")
    assert joined == "a𝐸\x03=\ufffdb"
    assert len(joined) == len(codes)
