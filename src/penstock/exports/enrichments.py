"""What pass 2 found out, looked up by block. Its rows live in a ledger of their own below OUT."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from penstock.documents.docjson.model import Enrichment
from penstock.store import manifest
from penstock.store.ledger import Ledger

FOLDER = "enrich"


def lookup(out: Path) -> Callable[[str], Enrichment | None]:
    """A function from a block's key to its enrichment; None where it has none."""
    ledger = Ledger(out / FOLDER)
    entries = ledger.entries()

    def find(key: str) -> Enrichment | None:
        entry = entries.get(key)
        if entry is None or entry.failed:
            return None
        return Enrichment.model_validate_json(ledger.item(entry).markdown)

    return find


def words(enrichment: Enrichment) -> str:
    """All that pass 2 says of a block: what a search can find it by."""
    keywords = " ".join((*enrichment.keywords.ko, *enrichment.keywords.en))
    parts = (enrichment.summary.ko, enrichment.summary.en, enrichment.visible, keywords)
    return "\n".join(part for part in parts if part)


def fingerprint(out: Path) -> str:
    run = manifest.read(out / FOLDER)
    return str(run["fingerprint"]) if run else ""
