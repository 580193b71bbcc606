"""What a person should look at comes worst first, each with a reason and an address that opens it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import penstock
from penstock.errors import Failure
from penstock.exports.located import locate
from penstock.exports.review import places_of, review
from penstock.page import Page
from penstock.region import CellPlace, Region, Signals
from tests.exports.test_correct import CELL, REGION, written
from tests.exports.test_located import korean_page
from tests.support.command import here


def page() -> Page:
    """Of the table one number is read differently, and one cell is doubtful; a line and a region are."""
    text, table = korean_page().regions
    cells = list(table.cells)
    cells[0], cells[1] = cells[0]._replace(confidence=0.99), cells[1]._replace(confidence=0.99)
    cells[2] = cells[2]._replace(confidence=0.8)
    cells[3] = cells[3]._replace(confidence=0.97, other="1,260")
    lines = (text.lines[0], replace(text.lines[1], confidence=0.3))
    text = replace(text, lines=lines, confidence=0.7, reader="ppocr")
    cut = Region(
        label="text", box=(0, 900, 9, 990), index=2, content="and so", signals=Signals(marks=("cut off",))
    )
    return replace(korean_page(), regions=(text, replace(table, cells=tuple(cells)), cut))


def failed() -> Page:
    told = Failure(stage="load", kind="BadInput", message="The page is torn.")
    return Page(id="t/0", uri="t.pdf", document="t.pdf", failure=told)


def test_numbers_in_tables_come_first_then_what_was_not_read_then_doubts(tmp_path: Path) -> None:
    out = written(tmp_path, page(), failed())
    found = review(out)
    assert [(place.kind, place.rank) for place in found[:2]] == [("cell", 0), ("page", 1)]
    assert (str(found[0].locator), found[0].text, found[0].other) == (CELL, "1,200", "1,260")
    assert found[0].reason == "another reader read 1,260"
    assert "The page is torn." in found[1].reason
    wrong = [place.wrong for place in found[2:]]
    assert wrong == sorted(wrong, reverse=True)
    reasons = {str(place.locator): place.reason for place in found}
    assert reasons[REGION] == "30 % of its characters are likely wrong"
    assert [place.reason for place in found if place.text == "and so"] == ["the answer was cut off"]
    for place in found:
        if place.kind != "page":
            assert locate(out, place.locator).text.startswith(place.text)


def test_what_was_corrected_is_not_shown_again(tmp_path: Path) -> None:
    out = written(tmp_path, page())
    penstock.correct(tmp_path, CELL, "1,260")
    penstock.correct(tmp_path, REGION, "수압관은 물을 나른다.\n터빈이 돈다!")
    assert not {CELL, REGION}.intersection(str(place.locator) for place in review(out))


def test_numbers_that_the_second_reader_saw_nowhere_are_told_for_a_served_model() -> None:
    table = "<table><tr><td>1,200</td><td>35</td></tr><tr><td>rice</td><td>7</td></tr></table>"
    signals = Signals(probability=0.99, other="1,200 35\nrice 1", other_reader="built-in")
    region = Region(label="table", box=(0, 0, 9, 9), content=table, signals=signals, confidence=0.99)
    [place] = places_of(replace(korean_page(), regions=(region,)))
    assert (place.locator.cell, place.text, place.rank) == ((1, 1), "7", 0)


def test_a_file_s_own_text_is_no_doubt() -> None:
    text, table = korean_page().regions
    lines = tuple(replace(line, confidence=None) for line in text.lines)
    cells = tuple(CellPlace(cell.row, cell.column, cell.box) for cell in table.cells)
    of_file = replace(text, lines=lines, confidence=None, reader="layer")
    regions = (of_file, replace(table, cells=cells, reader="layer"))
    assert list(places_of(replace(korean_page(), regions=regions))) == []


def test_the_shell_lists_corrects_and_tells_the_history(tmp_path: Path) -> None:
    written(tmp_path, page())
    out = str(tmp_path)
    assert CELL in here("review", out, "--top", "1").stdout
    [first] = json.loads(here("review", out, "--top", "1", "--json").stdout)
    assert (first["locator"], first["other"]) == (CELL, "1,260")
    here("review", out, "--at", CELL, "--text", "1,260", "--who", "kim")
    [row] = json.loads(here("review", out, "--at", CELL, "--json").stdout)
    assert (row["who"], row["before"], row["after"]) == ("kim", "1,200", "1,260")
    assert here("export", out, "--at", CELL).stdout == "1,260\n"
