"""Makes each region's content of its words and lines: text, a table's HTML, LaTeX."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from penstock.box import moved
from penstock.documents.confidence.signals import as_line
from penstock.documents.formulas import layer_formula
from penstock.documents.reading.content import with_cells_of_layer, with_content, with_texts, without_leaders
from penstock.documents.reading.formula_lines import AMONG_TEXT
from penstock.documents.reading.page_reading import Draft, Engines, PageReading
from penstock.documents.tables.fill import fill
from penstock.documents.tables.html import with_cells
from penstock.errors import Failure
from penstock.page import Page
from penstock.region import FORMULA_LABELS, Line, Region, Signals


def finished(reading: PageReading, engines: Engines) -> Page:
    """Returns the page with its regions' content; a region that fails fails alone."""
    drafts = [_with_own_crop(draft, reading.page, engines) for draft in reading.drafts]
    results = engines.side_by_side([partial(_finished, draft, reading, engines) for draft in drafts])
    regions = (_landed(draft, result) for draft, result in zip(drafts, results, strict=True))
    kept = tuple(region for region in regions if region is not None)
    return replace(reading.page, regions=kept, layer_fault=reading.layer_fault)


def _with_own_crop(draft: Draft, page: Page, engines: Engines) -> Draft:
    """Returns the draft with a crop of its own where its region is a part of what the layout model saw."""
    region = draft.region
    if region.crop is None or page.pixels is None or any(region.box == seen.box for seen in page.regions):
        return draft
    return replace(draft, region=engines.crop(page.pixels, region))


def _landed(draft: Draft, result: Region | Failure | None) -> Region | None:
    return replace(draft.region, failure=result) if isinstance(result, Failure) else result


def _finished(draft: Draft, reading: PageReading, engines: Engines) -> Region | None:
    """Returns the region with its content, or None for a text region without text."""
    region = draft.region
    # the rules read a region from the layer already, tables by their rulings
    if region.failure is not None or (region.content is not None and not draft.read):
        return region
    draft = replace(draft, region=with_texts(region, draft.words, draft.read))
    if region.label == "table":
        return _table(draft, reading, engines)
    found = with_content(draft.region)
    is_formula = found is not None and found.label in FORMULA_LABELS
    return _formula(replace(draft, region=found), reading, engines) if found and is_formula else found


def _formula(draft: Draft, reading: PageReading, engines: Engines) -> Region | None:
    """Returns the formula with its LaTeX, by the layer's signs or by the network if it has weights."""
    region, pixels = draft.region, reading.page.pixels
    latex = layer_formula(draft.words, reading.strokes, region.box)
    if latex:
        return replace(region, content=latex, reader="layer", note="")
    read = engines.formula(pixels, region.box) if pixels is not None else None
    if read is not None:
        return _read_by_network(region, *read)
    is_text = pixels is not None and region.native_label == AMONG_TEXT
    return with_content(replace(region, label="text", note="")) if is_text else region


def _read_by_network(region: Region, latex: str, sure: float) -> Region:
    signals = Signals(network=sure)
    return replace(region, content=latex, confidence=sure, signals=signals, reader="formula", note="")


def _table(draft: Draft, reading: PageReading, engines: Engines) -> Region | None:
    """Returns the table with cells: the layer's, those drawn on the picture, else what the network sees.

    Words of the layer are placed one by one, lines as wholes.
    """
    region, words, pixels = draft.region, without_leaders(draft.words), reading.page.pixels
    from_layer = None if draft.read else with_cells_of_layer(region, words, reading.strokes)
    if from_layer is not None or pixels is None:
        return from_layer or with_content(region)
    texts = [*(Line(text=word.text, box=word.box) for word in words), *map(as_line, draft.read)]
    texts = [text for text in texts if text.text.strip()]
    if draft.grid is not None:
        return with_cells(region, fill(draft.grid, texts))
    left, top = max(0, int(region.box[0])), max(0, int(region.box[1]))
    inside = [replace(text, box=moved(text.box, -left, -top)) for text in texts]
    reader = "+".join(filter(None, [region.reader, "slanet"]))
    filled = fill(engines.table(pixels, region.box), inside)
    return with_cells(replace(region, reader=reader), filled, left, top)
