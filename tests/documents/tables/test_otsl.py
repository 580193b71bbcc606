"""OTSL becomes HTML, also when a model writes it badly."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.documents.tables.otsl import otsl_html
from penstock.engines.chat.recognisers import RECOGNISERS

MARKS = ["fcel", "ecel", "lcel", "ucel", "xcel", "nl", "ched", "rhed", "srow"]


@pytest.mark.parametrize(
    ("otsl", "html"),
    [
        ("<fcel>a<fcel>b<nl><fcel>c<ecel><nl>", "<tr><td>a</td><td>b</td></tr><tr><td>c</td><td></td></tr>"),
        (
            "<fcel>a<lcel><nl><fcel>b<fcel>c<nl>",
            '<tr><td colspan="2">a</td></tr><tr><td>b</td><td>c</td></tr>',
        ),
        (
            "<fcel>a<fcel>b<nl><ucel><fcel>c<nl>",
            '<tr><td rowspan="2">a</td><td>b</td></tr><tr><td>c</td></tr>',
        ),
        (
            "<fcel>a<lcel><fcel>b<nl><ucel><xcel><fcel>c<nl>",
            '<tr><td rowspan="2" colspan="2">a</td><td>b</td></tr><tr><td>c</td></tr>',
        ),
        (
            "<ched>year<ched>sum<nl><rhed>2024<fcel>7",
            "<thead><tr><td>year</td><td>sum</td></tr></thead>"
            "<tbody><tr><th>2024</th><td>7</td></tr></tbody>",
        ),
        ("<fcel>a < b & c<nl>", "<tr><td>a &lt; b &amp; c</td></tr>"),
        ("<fcel>두 줄\n입니다<nl>", "<tr><td>두 줄<br>입니다</td></tr>"),
        # badly written: a short row, spans of nothing, a span that is no rectangle
        ("<fcel>a<fcel>b<nl><fcel>c<nl>", "<tr><td>a</td><td>b</td></tr><tr><td>c</td><td></td></tr>"),
        ("<lcel><fcel>a<nl>", "<tr><td></td><td>a</td></tr>"),
        ("<ucel>x<fcel>a<nl>", "<tr><td>x</td><td>a</td></tr>"),
        (
            "<fcel>a<lcel><nl><ucel><fcel>b<nl>",
            '<tr><td colspan="2">a</td></tr><tr><td></td><td>b</td></tr>',
        ),
    ],
)
def test_tables(otsl: str, html: str) -> None:
    assert otsl_html(otsl) == f"<table>{html}</table>"


def test_text_without_marks_is_left_alone() -> None:
    assert otsl_html("<table><tr><td>1</td></tr></table>") == "<table><tr><td>1</td></tr></table>"


def test_only_paddleocr_vl_writes_otsl() -> None:
    paddle = RECOGNISERS["paddleocr-vl"]
    assert [name for name, known in RECOGNISERS.items() if known.table_marks == "otsl"] == ["paddleocr-vl"]
    assert paddle.prompt("seal") == "Seal Recognition:"
    assert RECOGNISERS["glm-ocr"].prompt("seal") == "Text Recognition:"


@given(st.lists(st.tuples(st.sampled_from(MARKS), st.sampled_from(["", "t", "&"])), max_size=60))
def test_every_square_is_covered_once_whatever_is_written(marks: list[tuple[str, str]]) -> None:
    html = otsl_html("".join(f"<{mark}>{text}" for mark, text in marks))
    if not marks:
        return
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    area = 0
    for cell in re.findall(r"<t[dh]\b([^>]*)>", html):
        width = re.search(r'colspan="(\d+)"', cell)
        height = re.search(r'rowspan="(\d+)"', cell)
        area += int(width[1] if width else 1) * int(height[1] if height else 1)
    lengths: list[int] = [0]
    for mark, _ in marks:
        lengths = [*lengths, 0] if mark == "nl" else [*lengths[:-1], lengths[-1] + 1]
    kept = [length for length in lengths if length]
    assert len(rows) == len(kept)
    assert area == len(kept) * max(kept, default=0)
    assert html.count("t") >= sum(text == "t" for mark, text in marks if mark != "nl")
