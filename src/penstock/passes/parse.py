"""Parsing: documents to pages, kept in an OUT or streamed without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from penstock import recipes, sources
from penstock.driver import Run, Tally
from penstock.errors import UsageError
from penstock.executors import make_executor
from penstock.page import Page
from penstock.passes.work import Work
from penstock.plan import Plan
from penstock.store.schema import PAGES
from penstock.store.source_order import read_order
from penstock.trace.spans import Trace

PageStream = Generator[Page, None, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseOptions:
    """What to read and how. `settings` are the recipe's own options: `{"dpi": 300, "lang": ("ko",)}`."""

    inputs: tuple[str, ...]
    recipe: str | Plan = "documents"
    settings: Mapping[str, Any] = field(default_factory=dict)
    pages: str | None = None  # of each document, from 1: "3-9"
    max_pages: int = sources.MAX_PAGES  # of each document; the rest of a longer one is one failure
    image_column: str | None = None
    id_column: str | None = None
    executor: str = "local"
    retry_failed: bool = False
    fresh: bool = False

    def plan(self) -> Plan:
        """Raises UsageError for a recipe or setting that is not known, or that reads photos."""
        plan = self.recipe if isinstance(self.recipe, Plan) else recipes.build(self.recipe, self.settings)
        if plan.item is not Page:
            raise UsageError(
                f"The recipe {plan.name!r} does not read pages.", "For photos: penstock volumes."
            )
        return plan


def parse_work(options: ParseOptions, out: Path, trace: Trace | None = None) -> Work[Page]:
    """Returns the run that reads `options.inputs` into OUT. Raises UsageError before it begins."""
    plan, tally = options.plan(), Tally()
    listing = _listing(options, out, tally.left_out)
    run = Run(
        plan,
        make_executor(options.executor, trace or Trace()),
        out,
        PAGES,
        retry_failed=options.retry_failed,
        fresh=options.fresh,
        facts={"inputs": list(options.inputs), "pages": options.pages, "max_pages": options.max_pages},
        tally=tally,
    )
    return Work(run, listing)


def parse_stream(options: ParseOptions) -> PageStream:
    """Yields the pages as they are finished; nothing is kept."""
    return stream_pages(options.plan(), _listing(options, None, Counter()), options.executor)


def stream_pages(plan: Plan, listing: Iterable[Page], executor: str = "local") -> PageStream:
    """Yields the listed pages through a plan, in completion order. Closing it ends what it started."""
    stream = make_executor(executor, Trace()).stream(plan, listing)
    return cast(PageStream, stream)  # an executor gives back what it was given


def _listing(options: ParseOptions, out: Path | None, left_out: Counter[str]) -> Iterator[Page]:
    return sources.list_items(
        options.inputs,
        Page,
        pages=sources.PageRange.parse(options.pages) if options.pages else None,
        max_pages=options.max_pages,
        password=options.settings.get("password"),
        image_column=options.image_column,
        id_column=options.id_column,
        known={} if options.fresh or out is None else read_order(out),
        left_out=left_out,
    )
