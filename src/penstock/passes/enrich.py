"""Pass 2 over an OUT: lists its tables and pictures, runs the enrich plan, keeps a ledger of its own.

A block's row is named by what the block says, so a page that was read again is enriched again and
nothing stale is ever shown. Stop it anywhere and run it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from penstock.documents.docjson.questions import questions
from penstock.driver import Run
from penstock.errors import UsageError
from penstock.executors import executor as make_executor
from penstock.exports.enrichments import FOLDER
from penstock.item import Item
from penstock.plan import Plan
from penstock.recipes.enrich import enrich as plan_of
from penstock.store.ledger import Entry, Ledger
from penstock.store.source_order import in_source_order, read_order
from penstock.trace.spans import Trace


def enrich(
    out: str | Path,
    *,
    executor: str = "local",
    fresh: bool = False,
    retry_failed: bool = False,
    **options: Any,
) -> Iterator[Item]:
    """Yields each block as it is done; `options` are those of the enrich recipe.

    for block in enrich("out", text_engine="rule"):
        print(block.document, block.part + 1, block.markdown)  # an Enrichment of DocJSON, as JSON
    """
    run = run_of(Path(out), plan_of(**options), executor, fresh=fresh, retry_failed=retry_failed)
    return run.pages(listing(run.out))


def run_of(out: Path, plan: Plan, executor: str = "local", *, fresh: bool, retry_failed: bool) -> Run:
    if not Ledger(out).entries():
        raise UsageError(f"{out} holds no pages yet.", "Run: penstock parse INPUT -o OUT")
    return Run(plan, make_executor(executor, Trace()), out, retry_failed, fresh, home=FOLDER)


def shortfalls(block: Item) -> list[str]:
    """Why a block has less than was asked for: a server did not answer, or not in a way one can read."""
    return [region.failure.message for region in block.regions if region.failure is not None]


def listing(out: Path) -> Iterator[Item]:
    """One item a table or picture, in source order, without bytes."""
    ledger = Ledger(out)
    entries = in_source_order(ledger.entries().values(), read_order(out))
    for document, group in groupby(entries, key=lambda entry: entry.document):
        pages = partial(_pages, ledger, list(group))
        for asked in questions(document, pages):
            yield Item(
                id=asked.key,
                uri=str(out / asked.crop) if asked.crop else "",
                document=document,
                part=asked.page_no - 1,
                markdown=json.dumps(asdict(asked), ensure_ascii=False),
            )


def _pages(ledger: Ledger, entries: list[Entry]) -> Iterator[Item]:
    return (ledger.item(entry) for entry in entries)
