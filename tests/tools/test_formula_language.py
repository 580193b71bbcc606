"""The language that the formula recogniser learns: one spelling a picture. Expected forms are by hand."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

from tests.conftest import REPO

TOOLS = str(REPO / "tools" / "formulas")


def tool(name: str) -> ModuleType:
    sys.path.insert(0, TOOLS)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(TOOLS)


SPELLINGS = [
    (r"x^2_i", "x _ { i } ^ { 2 }"),
    (r"\dfrac12", r"\frac { 1 } { 2 }"),
    (r"{a+1 \over b}", r"\frac { a + 1 } { b }"),
    (r"f''(x)\le 1", r"f ^ { \prime \prime } ( x ) \leq 1"),
    (r"\left( x \right)^2", "( x ) ^ { 2 }"),
    (r"\left(\frac{a}{b}\right)", r"\left( \frac { a } { b } \right)"),
    (r"\Big[ \frac ab \Big]", r"\left[ \frac { a } { b } \right]"),
    (r"\left(\begin{array}{cc}a&b\\c&d\end{array}\right)", r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"),
    (
        r"\left\{\begin{array}{ll}1 & \text{if } x>0\\0 & \text{otherwise}\end{array}\right.",
        r"\begin{cases} 1 & \mathrm { i f } x > 0 \\ 0 & \mathrm { o t h e r w i s e } \end{cases}",
    ),
    (
        r"\begin{align*} a &= b \\ &= c \end{align*}",
        r"\begin{aligned} a & = b \\ & = c \end{aligned}",
    ),
    (r"\begin{array}{rcl} a &=& b \\ &=& c \end{array}", r"\begin{aligned} a & = b \\ & = c \end{aligned}"),
    (r"{\bf A}\cdot\mathbf B", r"\mathbf { A } \cdot \mathbf { B }"),
    (r"\mathbf{A}\mathbf{B}^{T}", r"\mathbf { A B } ^ { T }"),
    (r"\operatorname*{arg\,max}_\theta L", r"\arg \max _ { \theta } L"),
    (r"\mathrm{sin}\,x", r"\sin x"),
    (r"\overline{x} \widehat{ab} \hat{c}", r"\bar { x } \widehat { a b } \hat { c }"),
    (r"1,2,...,n", r"1 , 2 , \ldots , n"),
    (r"a \not= b \not\in C", r"a \neq b \notin C"),
    (r"$$ \sqrt[3]{x}\,dx $$", r"\sqrt [ 3 ] { x } d x"),
    (r"n \equiv 1 \pmod p", r"n \equiv 1 ( \mathrm { m o d } p )"),
    (r"{}_nC_k", "_ { n } C _ { k }"),
]


@pytest.mark.parametrize(("latex", "expected"), SPELLINGS)
def test_two_ways_to_write_one_picture_have_one_normal_form(latex: str, expected: str) -> None:
    normal_form = tool("normal_form").normal_form
    assert normal_form(latex) == expected
    assert normal_form(expected) == expected


@pytest.mark.parametrize(
    "latex", [r"\frac{a}{b", "x}", r"\left( x", r"\begin{odd} x \end{odd}", "{" * 60 + "}" * 60]
)
def test_what_does_not_parse_is_said_to_be_bad(latex: str) -> None:
    language = tool("normal_form")
    with pytest.raises(language.BadFormula):
        language.normal_form(latex)


def test_grammar_writes_known_tokens_in_normal_form() -> None:
    made = list(tool("grammar").formulas(120, seed=4))
    vocabulary, normal_form = tool("vocabulary"), tool("normal_form").normal_form
    assert len({label for label, _ in made}) == 120
    for label, _ in made:
        assert normal_form(label) == label
        numbers = vocabulary.encode(label.split())
        assert vocabulary.UNKNOWN_ID not in numbers
        assert vocabulary.decode(numbers[1:]) == label.split()


def test_a_seed_gives_the_same_formulas() -> None:
    grammar = tool("grammar")
    assert list(grammar.formulas(5, seed=9)) == list(grammar.formulas(5, seed=9))
    assert list(grammar.formulas(5, seed=9)) != list(grammar.formulas(5, seed=10))


def test_the_vocabulary_stays_small_and_is_used_once() -> None:
    tokens = tool("vocabulary").TOKENS
    assert len(tokens) == len(set(tokens)) <= 600


def test_scores_leave_out_what_a_picture_does_not_show() -> None:
    for_scoring = tool("normal_form").for_scoring
    tokens = ["a", "&", "=", "b", r"\quad", "c", r"\tag", "{", "1", "}", "."]
    assert for_scoring(tokens) == ["a", "=", "b", "c", "."]


def numbers(latex: str) -> list[int]:
    made: list[int] = tool("vocabulary").encode(latex.split())[1:-1]
    return made


def test_each_token_finds_the_mark_that_draws_it() -> None:
    """MathJax draws superscripts before subscripts, accents after letters, functions letter by letter."""
    label = numbers(r"\sin \hat { \beta } _ { i } ^ { 2 } - \mathbf { i }")
    marks = [ord(sign) for sign in "sin𝛽ˆ2𝑖−𝐢"]
    sine, hat_and_beta, subscript, superscript = [0], [4, 3, -1], [-1, 6, -1], [-1, 5, -1]
    minus, bold_i = [7], [-1, 8, -1]
    wanted = [*sine, *hat_and_beta, *subscript, *superscript, *minus, *bold_i]
    assert tool("signs").marks_of_label(label, marks) == wanted


def test_a_sign_that_is_drawn_more_often_than_written_has_no_place() -> None:
    signs, label = tool("signs"), numbers("a = b")
    assert signs.marks_of_label(label, [ord(sign) for sign in "𝑎==𝑏"]) == [0, -1, 3]
