"""Decides which words of the page's text layer may be used."""

from __future__ import annotations

from dataclasses import replace

from penstock.documents.reading.hidden_layer import FAULT, is_scan, says_other, words_to_compare
from penstock.documents.reading.page_reading import Engines, PageReading
from penstock.documents.text.text_layer import layer_doubt
from penstock.region import LineBox


def with_layer(reading: PageReading, engines: Engines) -> PageReading:
    """Adds the words of the text layer, or why there are none although the page has a layer."""
    page, layer = reading.page, reading.page.layer
    if layer is None or reading.layer_use == "never":
        return reading
    doubt = layer_doubt(layer)
    if reading.layer_use == "auto" and doubt:
        fault = f"The text layer was not used: {doubt}." if layer.words else ""
        return replace(reading, layer_fault=fault)
    is_hidden = reading.layer_use == "auto" and is_scan(layer, page.width, page.height)
    if is_hidden and _is_false(reading, engines):
        return replace(reading, layer_fault=FAULT)
    return replace(reading, words=layer.words)


def _is_false(reading: PageReading, engines: Engines) -> bool:
    """Whether the words behind a scan are not what the scan shows."""
    page = reading.page
    some = words_to_compare(page.layer.words if page.layer else ())
    if page.pixels is None or not some:
        return False
    return says_other(some, engines.read_quickly(page.pixels, [LineBox(word.box) for word in some]))
