"""Pass 2 over an OUT: lists its tables and pictures, runs the enrich plan, keeps a ledger of its own.

A block's row is named by what the block says, so a page that was read again is enriched again and
nothing stale is ever shown. Stop it anywhere and run it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from penstock.documents.docjson.enriched_block import EnrichedBlock
from penstock.documents.docjson.questions import BlockQuestion, questions
from penstock.driver import Run
from penstock.engines.summarise.writers import TextEngine
from penstock.executors import make_executor
from penstock.exports.enrichments import BLOCKS, FOLDER
from penstock.options.option import defaults, values_of
from penstock.options.passes import ENRICH
from penstock.page import Page
from penstock.passes.prepared_run import PreparedRun
from penstock.recipes.enrich import enrich as enrich_plan
from penstock.redaction import SafeRepr
from penstock.stage import secret
from penstock.store.ledger import Entry
from penstock.store.out import Out
from penstock.trace.spans import Trace

DEFAULTS = defaults(ENRICH)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichOptions(SafeRepr):
    """Who looks and who writes; see the enrich recipe."""

    text_engine: TextEngine = DEFAULTS["text_engine"]
    server: tuple[str, ...] = DEFAULTS["server"]
    model: str = DEFAULTS["model"]
    vision_server: tuple[str, ...] = DEFAULTS["vision_server"]
    vision: str = DEFAULTS["vision"]
    vision_model: str = DEFAULTS["vision_model"]
    max_tokens: int = DEFAULTS["max_tokens"]
    api_key: str | None = secret()
    in_flight: int = DEFAULTS["in_flight"]
    lang: tuple[str, ...] = DEFAULTS["lang"]
    executor: str = DEFAULTS["executor"]
    retry_failed: bool = DEFAULTS["retry_failed"]
    fresh: bool = DEFAULTS["fresh"]

    def settings(self) -> dict[str, Any]:
        names = (
            "text_engine", "server", "model", "vision_server", "vision", "vision_model", "max_tokens",
            "api_key", "in_flight", "lang",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}


def enrich_options(given: Mapping[str, Any]) -> EnrichOptions:
    """Returns the options from those that were given, by their names in the table."""
    return EnrichOptions(**{**given, **values_of(ENRICH, given)})


def enrich_work(options: EnrichOptions, out: Path) -> PreparedRun[EnrichedBlock]:
    """Returns the run over OUT's tables and pictures. Raises UsageError where OUT holds no pages."""
    folder = Out(out)
    plan = enrich_plan(**options.settings())
    folder.need_rows()
    run = Run(
        plan,
        make_executor(options.executor, Trace()),
        out,
        BLOCKS,
        retry_failed=options.retry_failed,
        fresh=options.fresh,
        home=FOLDER,
    )
    return PreparedRun(run, list_blocks(folder))


def list_blocks(out: Out) -> Iterator[EnrichedBlock]:
    """Yields one item a table or picture, in source order, without bytes."""
    for document, group in groupby(out.entries(), key=lambda entry: entry.document):
        for question in questions(document, partial(_pages, out, list(group))):
            yield _block(out, document, question)


def _block(out: Out, document: str, question: BlockQuestion) -> EnrichedBlock:
    return EnrichedBlock(
        id=question.key,
        uri=str(out / question.crop) if question.crop else "",
        document=document,
        part=question.page_no - 1,
        question=question,
    )


def _pages(out: Out, entries: list[Entry]) -> Iterator[Page]:
    return (out.pages.item(entry) for entry in entries)
