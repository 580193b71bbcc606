"""Pages and mails that are made to take hours: each is read in time that grows with its length."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.engines.office.blocks import StructureFile
from penstock.engines.office.html_blocks import html_blocks
from penstock.engines.office.html_tree import tree_of
from penstock.engines.office.open import open_structure

pytestmark = pytest.mark.timeout(60)  # each took from minutes to for ever
MANY = 20_000


def words_of(markup: str) -> str:
    return " ".join(
        block.text or " ".join(cell.text for cell in block.cells) for block in html_blocks(markup)
    )


def test_tables_in_tables_are_read_once_each() -> None:
    """66 levels were read 2 to the power of 66 times."""
    assert words_of("<table><tr><td>" * 66 + "deep" + "</td></tr></table>" * 66) == "deep"
    assert "deep" in words_of("<table><tr><td>a</td><td>" * 60 + "deep")


@pytest.mark.parametrize("begun", ["<!--", "<!", "<?", "<![CDATA[", "<![foo["])
def test_what_is_begun_and_has_no_end_hides_the_rest_as_in_browsers(begun: str) -> None:
    assert words_of("<p>seen</p>" + begun * MANY) == "seen"


@pytest.mark.parametrize("begun", ["</a ", "<a ", "<a x='"])
def test_a_tag_that_is_cut_off_is_text(begun: str) -> None:
    assert words_of(f"<p>seen {begun}") == f"seen {begun}".strip()
    assert "".join(words_of(f"<p>seen {begun * MANY}").split()).startswith("seen" + begun.strip()[:2])


def test_a_section_that_sgml_does_not_have_is_left_out() -> None:
    assert words_of("<p>a<![foo[ x ]]>b<![]>c") == "abc"


@pytest.mark.parametrize(
    "markup",
    [" <img src=x alt=y>" * MANY, "<br><img src=x alt=y>" * MANY, "<ul>" + "<li>x" * MANY,
     "<table><tr>" + "<td colspan=1000>x" * MANY],
    ids=["blanks before pictures", "breaks before pictures", "a list", "wide cells"],
)  # fmt: skip
def test_many_small_things_are_read(markup: str) -> None:
    assert len(html_blocks(markup)) > 0


def test_no_cell_reaches_beyond_a_thousand_columns() -> None:
    [table] = html_blocks("<table><tr>" + "<td colspan=900>x" * 3)
    assert [cell.column_span for cell in table.cells] == [900, 100, 1]


def test_markup_of_any_depth_has_a_tree() -> None:
    assert "end" in tree_of("<b>" * MANY + "end").text()


def mail(tmp_path: Path, head: str, body: str = "Rain") -> StructureFile:
    (tmp_path / "a.eml").write_text(f"From: a@example.org\nSubject: x\n{head}\n\n{body}")
    return open_structure(str(tmp_path / "a.eml"), "eml")


@pytest.mark.parametrize(
    "field",
    ["To: " + '"' * MANY, "To: " + ", ".join(f'"{n}" <{n}@b.c>' for n in range(9_000)),
     "Cc: " + "=?utf-8?q?a?= " * MANY, "Date: " + "a " * MANY,
     "Content-Type: text/plain; " + "; ".join(f"a*{n}=x" for n in range(20_000))],
    ids=["quotes", "people", "encoded words", "words", "parameters"],
)  # fmt: skip
def test_a_field_without_end_costs_its_length(tmp_path: Path, field: str) -> None:
    texts = [block.text for block in mail(tmp_path, field).unit(0).blocks]
    assert texts[0] == "x"


def test_a_long_field_stays_as_it_is_written(tmp_path: Path) -> None:
    people = ",\n ".join(f"person{number}@example.org" for number in range(400))
    units = mail(tmp_path, f"To: {people}")
    assert "person399@example.org" in units.unit(0).blocks[1].text
