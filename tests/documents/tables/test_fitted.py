"""Boxes of tables that a model saw, fitted to the lines drawn around them."""

from __future__ import annotations

from penstock.box import Box
from penstock.documents.tables.fitted import fitted
from penstock.region import Region
from tests.documents.layout.test_rules import frame, line
from tests.documents.tables.test_in_layer import COLUMNS, RIVERS, rows_of_text


def test_a_table_takes_its_head_up_to_the_rule_but_no_note_below_in_its_frame() -> None:
    words = rows_of_text(RIVERS, COLUMNS, 400) + line("Note: all but the Geum were measured anew", 150, 610)
    seen: Box = (145, 435, 890, 585)
    rules = [(140.0, y, 900.0, y + 1) for y in (390.0, 430.0)]
    assert fitted(Region(label="table", box=seen), words, rules, ()).box == (145, 390.5, 890, 585)
    framed = frame([140, 900], [435, 590, 640])
    assert fitted(Region(label="table", box=seen), words, framed, ()).box[3] < 600
