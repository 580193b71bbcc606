"""The documents of an OUT in source order, and their pages in order.

Pages finish in any order; people and datasets want theirs. The order of documents is one small file,
rewritten whenever a run ends; the order of pages is in the rows. Losing the file costs nothing but
the order of documents among themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from penstock.item import Item
from penstock.store.files import replacing
from penstock.store.shards import Entry, Ledger

DOCUMENTS = "documents.jsonl"


def read_order(out: Path) -> list[str]:
    path = out / DOCUMENTS
    if not path.is_file():
        return []
    return [json.loads(line)["document"] for line in path.read_text("utf-8").splitlines()]


def write_order(out: Path, listed: Iterable[str]) -> None:
    """Puts `listed` first, in its order; documents of earlier runs follow."""
    names = list(dict.fromkeys([*listed, *read_order(out)]))
    with replacing(out / DOCUMENTS, out) as file:
        for name in names:
            file.write(json.dumps({"document": name}, ensure_ascii=False).encode() + b"\n")


def in_source_order(entries: Iterable[Entry], order: list[str]) -> list[Entry]:
    place = {name: number for number, name in enumerate(order)}
    last = len(place)
    return sorted(entries, key=lambda e: (place.get(e.document, last), e.document, e.part, e.id))


def read_pages(out: Path) -> Iterator[Item]:
    """Every page of OUT in source order, failed ones with their failure. One shard in memory at a time."""
    ledger = Ledger(out)
    for entry in in_source_order(ledger.entries().values(), read_order(out)):
        yield ledger.item(entry)
