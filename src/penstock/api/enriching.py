"""Writes summaries and keywords for a run's tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

from penstock.converted.python_terms import in_python_terms, items_in_python_terms
from penstock.documents.docjson.enriched_block import EnrichedBlock
from penstock.options.typed import EnrichSettings
from penstock.passes.enrich import enrich_options, enrich_work


@in_python_terms()
def enrich(out: str | Path, **options: Unpack[EnrichSettings]) -> Iterator[EnrichedBlock]:
    """Yields each table and picture of a run as its summary and keywords are written.

    `options` are the fields of `EnrichOptions`.

        for block in penstock.enrich("out", text_engine="rule"):
            print(block.document, block.part + 1, block.enrichment)
    """
    return items_in_python_terms(iter(enrich_work(enrich_options(options), Path(out))))
