"""OmniDocBench v1.6: formulas cut and joined, text that looks for better company, cells in one spelling."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from penstock_eval.omnidocbench.truth import TrueElement, TruePage, read_pages
from penstock_eval.omnidocbench.v1_6.formula_alignment import align_formulas
from penstock_eval.omnidocbench.v1_6.formula_lines import cases_as_braces, formula_lines
from penstock_eval.omnidocbench.v1_6.formula_pairs import best_formula_pairs
from penstock_eval.omnidocbench.v1_6.latex import latex_to_text, without_delimiters, without_numbers
from penstock_eval.omnidocbench.v1_6.normalise import cell_text, formula_form, table_form, text_form
from penstock_eval.omnidocbench.v1_6.page import score_page
from penstock_eval.omnidocbench.v1_6.pieces import PredictedPiece, predicted_pieces
from tests.support.effort import cpu_seconds


def page(*elements: TrueElement) -> TruePage:
    return TruePage("page.png", elements, ())


def formula(latex: str, order: float = 1) -> TrueElement:
    return TrueElement("equation_isolated", order, latex=latex)


def text(words: str, order: float = 1) -> TrueElement:
    return TrueElement("text_block", order, text=words)


def test_formulas_lose_numbers_fonts_and_needless_groups() -> None:
    assert formula_form(r"$$ \mathbf{X}_{1} \, = \left\{ y \right\} \tag{3} $$") == "x_1=y"
    assert without_numbers(r"a \tag* {1{2}} b \notag") == "a  b "
    assert without_numbers(r"\tag{never closed") == "{never closed"
    assert without_delimiters(r"$$ \[ x \] $$") == "x"


def test_text_reads_out_sound_formulas_only() -> None:
    assert text_form(r"① 한글 $\alpha_1$ and $\frac{a}{$") == "1한글α_1andfraca"
    assert latex_to_text(r"the answer to all of these questions is known \ here") == (
        r"the answer to all of these questions is known \ here"
    )
    assert latex_to_text(r"\frac{a}{b") == r"\frac{a}{b"


def test_cells_have_one_spelling() -> None:
    assert [cell_text(t) for t in ("✓", "✗", "-", r"$\alpha$", "a\xa0 b", "－")] == [
        "√",
        "×",
        "—",
        "α",
        "a b",
        "—",
    ]
    html = "<table><tbody><tr><th> ✔ </th><td><p>–</p></td></tr></tbody></table>"
    expected = '<html><body><table border="1" ><tr><td>√</td><td>—</td></tr></table></body></html>'
    assert table_form(html) == expected


@pytest.mark.parametrize(
    ("latex", "lines"),
    [
        (r"\begin{aligned} a &= 1 \\ b &= 2 \end{aligned}", ["a &= 1", "b &= 2"]),
        (r"\begin{array}{l} a \\ b \end{array} \quad (3)", ["a", "b"]),
        (r"x = 1 \\ y = 2 \tag{2}", ["x = 1", "y = 2"]),
        (r"\begin{gather} a \\ b \end{gather} = c", ["a", "b = c"]),
        (r"\begin{array}{ccc} a & b & c \\ d & e & f \end{array}", []),
        (r"\left\{ \begin{array}{l} a \\ b \end{array} \right.", []),
        (r"\begin{cases} 1 & x > 0 \\ 0 & x = 0 \end{cases}", []),
        (r"\begin{cases} x = 1 \\ \Rightarrow y = 2 \end{cases}", ["x = 1", r"\Rightarrow y = 2"]),
        (r"\frac{a \\ b}{c}", []),
    ],
)
def test_derivations_are_cut_into_lines_and_systems_are_not(latex: str, lines: list[str]) -> None:
    assert [line.latex for line in formula_lines(f"$${latex}$$")] == lines


def test_case_distinctions_in_an_argument_become_braces() -> None:
    argument = r"\begin{cases} a \\ b \end{cases} \Rightarrow c"
    assert cases_as_braces(argument) == r"\left\{ \begin{array}{l} a \\ b \end{array} \right. \Rightarrow c"
    assert cases_as_braces(r"\begin{cases} a \\ b \end{cases}") == r"\begin{cases} a \\ b \end{cases}"


def test_numbers_and_words_beside_a_formula_are_text() -> None:
    pieces = predicted_pieces(r"$$ (3) \quad x + y = 3 \quad \text{where everything is known} $$")
    assert [(p.kind, p.content) for p in pieces] == [
        ("equation_isolated", r"\[ x + y = 3 \]"),
        ("text_all", "(3)"),
        ("text_all", r"\text{where everything is known}"),
    ]


def test_equations_side_by_side_and_equations_in_cells_are_found() -> None:
    several = [p.content for p in predicted_pieces(r"$$ 1+2=3 \quad 4+5=9 $$")]
    assert several == [r"\[ 1+2=3 \]", r"\[ 4+5=9 \]"]
    kinds = [p.category for p in predicted_pieces("<table><tr><td>12+3=15</td><td>word</td></tr></table>")]
    assert kinds == ["html_table", "table_formula_rescue"]


def test_labels_such_as_x_are_no_formulas() -> None:
    words = "where the length $x$ and the area $x^2$ are known"
    assert [p.category for p in predicted_pieces(words)] == ["text_block", "equation_inline"]


def test_a_formula_predicted_in_pieces_is_joined() -> None:
    truth = [formula(r"$$a+b+c+d=e+f+g+h$$", 1), formula(r"$$x=y$$", 2)]
    given = [
        PredictedPiece("equation_isolated", n, n + 1, c)
        for n, c in enumerate((r"\[a+b+c+d\]", r"\[=e+f+g+h\]", r"\[x=y\]"))
    ]
    found = best_formula_pairs(truth, given, [])
    assert [row.predictions for row in found] == [(0, 1), (2,)]


def test_a_derivation_predicted_as_one_block_is_cut_to_the_truth() -> None:
    truth = [formula(r"$$a+b=c+1$$", 1), formula(r"$$d+e=f+2$$", 2)]
    block = PredictedPiece(
        "equation_isolated", 0, 40, r"\[\begin{aligned} a+b=c+1 \\ d+e=f+2 \end{aligned}\]"
    )
    assert [row.edit for row in best_formula_pairs(truth, [block], [])] == [0.0, 0.0]


def test_alignment_skips_what_fits_nothing_and_joins_lines_of_one_formula_over_gaps() -> None:
    kinds = ["equation_isolated"] * 3
    assert align_formulas(
        ["abcd"], ["zzzzzzzz", "abc", "d"], "xyz", ["equation_inline", *kinds[1:]], gaps=False
    ) == [(1, 2)]
    assert align_formulas(
        ["aaaa bbbb"], ["aaaa", "zzzzzzzzzzzz", "bbbb", "q"], "ssst", [*kinds, ""], gaps=True
    ) == [(0, 2)]


def test_text_split_at_its_formulas_finds_its_pieces() -> None:
    words = "the energy of the system is given by $E = mc^2 + pq$ for every particle that is at rest in it"
    pieces = [part.strip() for part in words.split("$")]
    markdown = f"# Something else\n\n{pieces[0]}\n\n$${pieces[1]}$$\n\n{pieces[2]}"
    scored = score_page(page(text(words)), markdown)
    assert [pair.edits / pair.length < 0.1 for pair in scored.texts] == [True]


def test_truncated_text_counts_once_and_ignored_parts_not_at_all(tmp_path: Path) -> None:
    boxes = [
        {"category_type": "text_block", "order": n, "anno_id": n, "text": f"part{n} ", "ignore": n == 4}
        for n in range(1, 5)
    ]
    relations = [
        {"relation_type": "truncated", "source_anno_id": a, "target_anno_id": b} for a, b in ((1, 2), (2, 3))
    ]
    info = {"image_path": "a.png", "page_attribute": {}}
    file = tmp_path / "pages.json"
    file.write_text(json.dumps([{"page_info": info, "layout_dets": boxes, "extra": {"relation": relations}}]))
    assert [e.text for e in read_pages(file, marked=True)[0].elements] == ["part1 part2 part3 "]
    assert [e.text for e in read_pages(file)[0].elements] == ["part4 ", "part1 part2 part2 part3 "]


@pytest.mark.parametrize(
    "markdown",
    [
        "$$" + "\\begin{cases}" * 3_000 + "$$",
        "$$" + "\\tag{" * 5_000 + "$$",
        "$$ x" + "\\,(a" * 5_000 + "$$",
        "$$ x" + "\\,(a" * 3_000 + ") b$$",
        "$$" + "{a+" * 3_000 + "$$",
        "$$ x $$ " * 200,
        "para $x^2+1$\n\n" * 600,
        "<div>" * 20_000,
    ],
    ids=["open cases", "open tags", "open words", "words", "groups", "formulas", "paragraphs", "open divs"],
)
def test_pages_made_to_hang_end_soon(markdown: str) -> None:
    truth = page(text("a paragraph of text " * 20), formula("$$a+b=c$$", 2), text("another one", 3))
    truth = replace(
        truth, elements=(*truth.elements, formula(r"$$\begin{aligned} a \\ b \end{aligned}$$", 4))
    )
    assert cpu_seconds(lambda: score_page(truth, markdown, table_deadline_s=5)) < 60
