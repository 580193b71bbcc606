"""Regions as Markdown: structure from labels, never from content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.documents.formats.markdown import document_markdown, page_markdown
from penstock.documents.tables.html import from_html, to_html
from penstock.documents.tables.pipes import to_pipes
from penstock.documents.text import escape
from penstock.errors import Failure
from penstock.region import LABELS, Asset, Line, Region, TableCell
from tests.support.effort import cpu_seconds


def region(label: str, content: str | None, index: int = 0, **more: object) -> Region:
    return Region(label=label, box=(0, 0, 10, 10), index=index, content=content, **more)  # type: ignore[arg-type]


def markdown(label: str, content: str) -> str:
    return page_markdown([region(label, content)])


@pytest.mark.parametrize(
    ("label", "content", "expected"),
    [
        ("doc_title", "# 보고서", "# 보고서"),
        ("paragraph_title", "개요", "## 개요"),
        ("paragraph_title", "1. 개요", "## 1. 개요"),
        ("paragraph_title", "1.2 분석 대상", "### 1.2 분석 대상"),
        ("paragraph_title", "4.13.2 풀 구현", "#### 4.13.2 풀 구현"),
        ("paragraph_title", "제2절 목적", "### 제2절 목적"),
        ("display_formula", r"\[ a^2 + b^2 \]", "$$\na^2 + b^2\n$$"),
        ("inline_formula", "$x$", "$x$"),
        ("text", "• 첫째", "- 첫째"),
        ("text", "1.첫째", "1. 첫째"),
        ("text", "서론 ............ 3", "서론 ... 3"),
        ("algorithm", "a = `b`", "```\na = `b`\n```"),
        ("text", "두\n줄", "두  \n줄"),
        ("text", f"{'긴 ' * 30}문단.\n또 하나", f"{'긴 ' * 30}문단.\n\n또 하나"),
        ("text", "- 하나\n- 둘\n끝", "- 하나\n- 둘\n\n끝"),
    ],
)
def test_labels_become_structure(label: str, content: str, expected: str) -> None:
    assert markdown(label, content) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("# not a title", r"\# not a title"),
        ("> not a quote", r"\> not a quote"),
        ("[click](javascript:x)", r"[click\](javascript:x)"),
        ("![x](http://tracker)", r"![x\](http://tracker)"),
        ("[a]: http://b", r"[a\]: http://b"),
        ("---", r"\---"),
        ("2020. 1. 5", r"2020\. 1. 5"),
        ("a *b* c", r"a \*b\* c"),
        ("snake_case < 3 & [1] 5 > 4", "snake_case < 3 & [1] 5 > 4"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("a\x00b", "ab"),
    ],
)
def test_content_never_becomes_structure(content: str, expected: str) -> None:
    assert markdown("text", content) == expected


@given(st.sampled_from(LABELS), st.text(max_size=200))
def test_no_content_opens_a_tag(label: str, content: str) -> None:
    text = markdown(label, content)
    for tag in ("<script", "<img", "<iframe", "<a "):
        assert tag not in text or label == "algorithm"


def test_formulas_cannot_leave_their_block() -> None:
    text = markdown("display_formula", "a $$ <script>\n\n# title")
    assert text.startswith("$$\n")
    assert text.endswith("\n$$")
    assert text.count("$$") == 2
    assert "<script" not in text
    assert "\n\n" not in text


def test_a_formula_takes_the_number_beside_it() -> None:
    regions = [region("display_formula", "x=1", 0), region("formula_number", "(3)", 1)]
    assert page_markdown(regions) == "$$\nx=1 \\tag{3}\n$$"
    assert page_markdown([region("formula_number", "(3)")]) == "(3)"


def test_a_word_cut_between_regions_is_made_whole() -> None:
    assert page_markdown([region("text", "the transfor-", 0), region("text", "mation ends", 1)]) == (
        "the transformation ends"
    )


def test_a_sentence_cut_by_a_column_is_made_whole() -> None:
    left = Region(label="text", box=(0, 500, 400, 900), index=0, content="The wheel that the water")
    right = Region(label="text", box=(450, 100, 850, 300), index=1, content="turns is old.")
    below = Region(label="text", box=(0, 920, 400, 990), index=1, content="turns is old.")
    assert page_markdown([left, right]) == "The wheel that the water turns is old."
    assert page_markdown([left, below]) == "The wheel that the water\n\nturns is old."


def test_a_formula_that_nobody_read_shows_its_letters_and_no_apology() -> None:
    lines = (Line(text="E = mc²", box=(0, 0, 10, 10)),)
    unread = region("display_formula", None, lines=lines, note="No built-in model reads formulas.")
    assert page_markdown([unread]) == "E = mc²"
    cut = region("display_formula", None, lines=lines, crop=Asset(path="crops/f.jpg"))
    assert page_markdown([cut]) == "![E = mc²](crops/f.jpg)"


def test_figures_of_a_charts_axes_are_no_alternative_text() -> None:
    crop = Asset(path="crops/c.jpg")
    assert page_markdown([region("chart", "0 20 40 60 80 2021 2022", crop=crop)]) == "![chart](crops/c.jpg)"
    assert page_markdown([region("image", "Water wheel", crop=crop)]) == "![Water wheel](crops/c.jpg)"


def test_a_tables_head_stays_its_head() -> None:
    head, body = "<tr><td colspan='2'>a</td></tr>", "<tr><td>b</td><td>c</td></tr>"
    cells = from_html(f"<table><thead>{head}</thead><tbody>{body}</tbody></table>")
    assert cells is not None and [cell.is_header for cell in cells] == [True, False, False]
    assert to_html(cells).startswith('<table><thead><tr><td colspan="2">a</td></tr></thead><tbody><tr>')


def test_margins_are_left_out_unless_asked_for() -> None:
    regions = [region("header", "머리말", 0), region("text", "본문", 1), region("number", "- 3 -", 2)]
    assert page_markdown(regions) == "본문"
    assert page_markdown(regions, margins=True).startswith("머리말\n\n본문")


def test_pictures_link_to_their_crops_from_where_the_file_is() -> None:
    picture = region("chart", None, crop=Asset(path="crops/ab cd.jpg"))
    assert page_markdown([picture], root="../") == "![chart](../crops/ab%20cd.jpg)"


def test_a_failed_region_says_why_and_cannot_end_its_comment() -> None:
    failure = Failure(stage="recognise", kind="EngineError", message="no answer --> <b>")
    text = page_markdown([region("table", None, failure=failure)])
    assert text == "<!-- region 0 (table) failed in recognise: EngineError: no answer b -->"


def test_items_of_a_list_stay_together() -> None:
    regions = [region("text", f"• {name}", i) for i, name in enumerate("가나다")]
    assert page_markdown(regions) == "- 가\n- 나\n- 다"


def test_an_item_with_another_mark_stands_under_the_one_before() -> None:
    text = "• Mills\n- water\n- wind\n• Stones"
    assert markdown("text", text) == "- Mills\n  - water\n  - wind\n- Stones"


def test_pages_have_anchors() -> None:
    assert document_markdown([(1, "a"), (3, "b")]) == "<!-- page 1 -->\n\na\n\n<!-- page 3 -->\n\nb\n\n"


def test_tables_are_pipes_until_a_cell_spans() -> None:
    plain = to_html(
        [
            TableCell(row=0, column=0, text="a|b"),
            TableCell(row=0, column=1, text="c"),
            TableCell(row=1, column=0, text="d"),
        ]
    )
    assert markdown("table", plain) == "| a\\|b | c |\n| --- | --- |\n| d |  |"
    spanning = "<table><tr><td colspan='2'>x</td></tr><tr><td>y</td><td>z</td></tr></table>"
    assert 'colspan="2"' in markdown("table", spanning)


def test_table_html_is_rebuilt_so_nothing_in_it_runs() -> None:
    cells = "<td><img src=x onerror=y>a</td><td rowspan=2><script>z</script></td>"
    evil = f"<table onload=x><tr>{cells}</tr></table>"
    text = markdown("table", evil)
    assert "onerror" not in text
    assert "<script" not in text


def test_what_is_no_table_stays_text() -> None:
    assert markdown("table", "a <b>plain</b> line") == "a &lt;b>plain&lt;/b> line"
    assert markdown("table", "<table><tr><td>cut of") == "&lt;table>&lt;tr>&lt;td>cut of"


cells = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.text(max_size=8)), min_size=1, max_size=12
)


@given(cells)
def test_tables_survive_html(found: list[tuple[int, int, str]]) -> None:
    grid = {(r, c): "".join(ch for ch in t if ch.isprintable()).strip() for r, c, t in found}
    full = [TableCell(row=r, column=c, text=grid.get((r, c), "")) for r in range(5) for c in range(5)]
    assert from_html(to_html(full)) == full
    assert to_pipes(full) is not None


@pytest.mark.parametrize(
    "unit", ["a", "[", "](", "*", "<", ". ", "- ", "`", "_ ", "$", "가 나 ", "\n", "<td>", "#"]
)
@pytest.mark.parametrize(
    "label", ["text", "table", "paragraph_title", "display_formula", "content", "algorithm"]
)
def test_long_content_takes_linear_time(unit: str, label: str) -> None:
    content = unit * (100_000 // len(unit))
    if label == "table":
        content = f"<table><tr><td>{content}</td></tr></table>"
    # a third of a second at most; a square would be a minute
    assert cpu_seconds(lambda: markdown(label, content)) < 10


def test_comments_end_where_they_should() -> None:
    assert escape.comment("a -- b --> c") == "<!-- a b c -->"
