"""What pass 2 found out, looked up by block. Its rows live in a ledger of their own below OUT."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from penstock.documents.docjson.enriched_block import EnrichedBlock
from penstock.documents.docjson.model import Enrichment
from penstock.errors import Failure
from penstock.store import manifest
from penstock.store.ledger import Ledger
from penstock.store.out import Out
from penstock.store.schema import FAILURE, KEY, Rows, failure_row

FOLDER = "enrich"
SCHEMA = pa.schema(
    [
        *KEY,
        ("num_failed_regions", pa.int32()),
        ("enrichment", pa.string()),  # JSON, as DocJSON has it
        ("shortfalls", pa.list_(FAILURE)),
    ]
)


def _columns(block: EnrichedBlock) -> dict[str, Any]:
    found = block.enrichment
    return {
        "enrichment": found.model_dump_json(exclude_defaults=True) if found else None,
        "shortfalls": [failure_row(shortfall) for shortfall in block.shortfalls],
    }


def _fields(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "enrichment": Enrichment.model_validate_json(row["enrichment"]) if row["enrichment"] else None,
        "shortfalls": tuple(Failure(**shortfall) for shortfall in row["shortfalls"]),
    }


BLOCKS: Rows[EnrichedBlock] = Rows(SCHEMA, EnrichedBlock, _columns, _fields)


def lookup(out: Out) -> Callable[[str], Enrichment | None]:
    """Returns a function from a block's key to its enrichment; None where it has none."""
    ledger = Ledger(out / FOLDER, BLOCKS)
    entries = ledger.entries()

    def find(key: str) -> Enrichment | None:
        entry = entries.get(key)
        if entry is None or entry.failed:
            return None
        return ledger.item(entry).enrichment

    return find


def words(enrichment: Enrichment) -> str:
    """Returns all that pass 2 says of a block: what a search can find it by."""
    keywords = " ".join((*enrichment.keywords.ko, *enrichment.keywords.en))
    parts = (enrichment.summary.ko, enrichment.summary.en, enrichment.visible, keywords)
    return "\n".join(part for part in parts if part)


def fingerprint(out: Out) -> str:
    run = manifest.read(out / FOLDER)
    return str(run["fingerprint"]) if run else ""
