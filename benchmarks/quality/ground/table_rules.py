"""Tells by what is drawn on a page which rules its tables have, so that each kind gets a score of its own.

A page has one kind: that of its most ruled table.
"""

from __future__ import annotations

from benchmarks.quality.ground.sample import Sample
from penstock.box import Box
from penstock.documents.tables.ruled import grids, ruled_bands, rulings
from penstock.engines.pdf.file import PageSize, PdfFile

RULED, ACROSS, BARE = "tables, ruled", "tables, rules across", "tables, no rules"
SIZE = 1600  # pixels of the page's long side


def kind_of_tables(sample: Sample) -> str:
    """Returns the score's name that a page's tables count for; "" for a picture."""
    if sample.path.suffix != ".pdf" or sample.turned:
        return ""
    return _kind(_strokes(sample))


def _strokes(sample: Sample) -> tuple[Box, ...]:
    file = PdfFile(sample.path)
    try:
        size = file.size(sample.part or 0, dpi=200.0, max_side=SIZE)
        return file.layer(sample.part or 0, PageSize(*size)).strokes
    finally:
        file.close()


def _kind(strokes: tuple[Box, ...]) -> str:
    if any(len(grid.xs) > 2 and len(grid.ys) > 2 for grid in grids(strokes)):
        return RULED
    return ACROSS if ruled_bands(rulings(strokes)[0]) else BARE
