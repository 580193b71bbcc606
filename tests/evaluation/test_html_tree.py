"""Predicted HTML as a tree: broken, deep, wide, or none at all."""

from __future__ import annotations

import pytest

from penstock_eval.html_tree import only_text, parse_html, texts
from penstock_eval.omnidocbench.v1_6.normalise import table_form
from tests.support.effort import cpu_seconds

DEEP = "<table><tr><td>" + "<b>" * 5_000 + "x"


@pytest.mark.parametrize("source", ["report.pdf", "http://example.org", "<?xml version='1.0'?><td>a</td>"])
def test_no_prediction_makes_the_parser_warn(source: str) -> None:
    assert str(parse_html(source))  # a warning is an error in our tests


def test_texts_have_lines_and_no_comments() -> None:
    tree = parse_html("<div>a<br>b<!-- c --><p>d</p><style>e</style>f</div>")
    assert "".join(texts(tree, frozenset(["style"]), frozenset(["p"]))) == "a\nbd\nf"


def test_the_only_text_is_found_however_deep() -> None:
    assert only_text(parse_html(DEEP)) == "x"
    assert only_text(parse_html("<td>a<b>c</b></td>")) is None


def test_a_cell_of_many_texts_costs_time_in_proportion() -> None:
    wide = "<table><tr><td>" + "✓<br>" * 10_000 + "</td></tr></table>"
    made: list[str] = []
    assert cpu_seconds(lambda: made.append(table_form(wide))) < 5
    assert made[0].count("√") == 10_000
