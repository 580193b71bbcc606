"""The pages that judge a rule are never of a document that it was chosen by."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from benchmarks.quality.generalise import Column, read_and_score, table
from benchmarks.quality.ground import scores
from benchmarks.quality.ground.latex_tabular import tabular_html
from benchmarks.quality.ground.markdown_truth import read
from benchmarks.quality.ground.reading import turned
from benchmarks.quality.ground.sample import Sample, Truth, chosen
from benchmarks.quality.ground.sources import SOURCES, listed

from penstock.page import Page

MARKDOWN = "# A dam\n\nWater falls.\n\n<table><tr><td>head</td><td>600 m</td></tr></table>\n"
NOTHING = Truth()


def sample(document: str, part: int = 0, truth: Truth = NOTHING) -> Sample:
    return Sample("made", document, Path(f"{document}.pdf"), part, lambda: truth)


def page(markdown: str) -> Page:
    return Page(id="a", uri="a.pdf", document="a.pdf", width=10, height=10, markdown=markdown)


def test_all_pages_of_a_document_are_in_one_half() -> None:
    pages = [sample(f"document{number}", part) for number in range(20) for part in range(3)]
    halves = {
        document: {p.half for p in pages if p.document == document}
        for document in {p.document for p in pages}
    }
    assert all(len(half) == 1 for half in halves.values())
    assert {"tune", "check"} == set.union(*halves.values())


def test_the_sample_is_the_same_each_time_and_of_many_documents() -> None:
    pages = [sample(f"document{number}", part) for number in range(20) for part in range(3)]
    drawn = chosen(pages, 4)
    assert drawn == chosen(list(reversed(pages)), 4)
    assert len({each.document for each in drawn}) == len(drawn) == 8


def test_a_page_that_reads_as_its_truth_is_perfect_and_an_unread_one_is_not(tmp_path: Path) -> None:
    file = tmp_path / "a.p01.md"
    file.write_text(MARKDOWN, encoding="utf-8")
    known = Sample("made", "a", tmp_path / "a.jpg", 0, partial(read, file))
    perfect = scores.score(known, page(MARKDOWN))
    assert (perfect.values["text"], perfect.values["tables"], perfect.values["order"]) == (0.0, 1.0, 0.0)
    assert perfect.headings == scores.Headings(matched=1, read=1, true=1)
    unread = scores.score(known, None)
    assert (unread.values["text"], unread.values["tables"]) == (1.0, 0.0)


def test_a_heading_too_many_costs_precision_and_a_table_that_is_none_is_counted() -> None:
    truth = Truth(headings=("A dam",), values=("1.234,50",), complete=True)
    found = scores.score(sample("a", truth=truth), page("# A dam\n\n# NOTE\n\n1,234.50 EUR"))
    assert scores.source_score("heading precision", [found]) == 0.5
    assert found.values["values"] == 1.0
    assert scores.count_headings((), "## NOTE") == scores.Headings(0, 1, 0)
    assert scores.count_headings((), "```\n# a remark in code\n```") == scores.Headings(0, 0, 0)


def test_sources_count_alike_however_many_pages_they_have() -> None:
    good, bad = (scores.Scored(sample("a"), {"text": value}) for value in (0.0, 1.0))
    column = Column("check", {"large": [good] * 9, "small": [bad]})
    assert column.mean("text") == 0.5 and column.sources_with("text") == 2
    assert column.interval("text") == (0.5, 0.5)  # nothing varies within a source
    assert "| text | 2, 2 | 0.500 | 0.500 |" in "\n".join(table(column, column))


def test_latex_tables_say_what_the_page_shows_and_turned_pages_their_paper() -> None:
    html = tabular_html(
        r"\begin{tabular}{ll}\toprule \multicolumn{2}{c}{\textbf{Both}} \\ a & 5\% \\ \end{tabular}"
    )
    assert html == '<table><tr><td colspan="2">Both</td></tr><tr><td>a</td><td>5%</td></tr></table>'
    nested = tabular_html(
        r"\begin{tabular}{l|c}\hline{$T_{end}$} & \makecell{two \\ lines} \\[2pt] % none"
        "\n"
        r"\multirow{2}*{a} & 1 \end{tabular}"
    )
    assert nested == (
        '<table><tr><td>Tend</td><td>two lines</td></tr><tr><td rowspan="2">a</td><td>1</td></tr></table>'
    )
    wide = turned(np.zeros((10, 30, 3), dtype=np.uint8), 90)
    assert wide.shape == (30, 10, 3) and (wide == 0).mean() > 0.9


def test_pages_that_no_rule_was_chosen_by_are_read_well_enough(shared_data: Path, tmp_path: Path) -> None:
    """A loose bound: what breaks reading breaks this, what changes it a little does not."""
    if not (shared_data / "devset").is_dir():
        pytest.skip(f"no development pages at {shared_data / 'devset'}")
    given = arguments(shared_data, ["rendered_multilang", "jose_papers", "pdf_parse_bench"])
    _, check = read_and_score(given, tmp_path / "model")
    assert set(check.pages) == set(given.source)
    assert (check.mean("text") or 1.0) <= 0.25
    assert (check.mean("headings") or 0.0) >= 0.6


def arguments(data: Path, sources: list[str]) -> Namespace:
    return Namespace(
        data=data, source=sources, half="check", pages=3, layout="model", effort="balanced", tables=False
    )


def test_every_source_of_the_data_has_pages_in_both_halves(shared_data: Path) -> None:
    if not (shared_data / "devset").is_dir():
        pytest.skip(f"no development pages at {shared_data / 'devset'}")
    for source in SOURCES:
        assert {each.half for each in listed(shared_data / "devset", source)} == {"tune", "check"}, source
