"""The embedding pass from beginning to end: run what is left, then write the .npy files.

A text-only engine leaves pictures out and the result says so; nothing is ever made up for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from penstock.choices import check_choice
from penstock.documents.pages.embedded_page import EmbeddedPage
from penstock.driver import Run, Tally
from penstock.engines.chat.address import base_url
from penstock.engines.embed.embedder import chosen_settings, takes_images
from penstock.errors import UsageError
from penstock.executors import make_executor
from penstock.options.option import defaults
from penstock.options.passes import EMBED_RUN
from penstock.passes.prepared_run import PreparedRun, Showing
from penstock.plan import Plan
from penstock.recipes.embed import embed_pages, embed_queries
from penstock.redaction import SafeRepr
from penstock.retrieval import vectors
from penstock.retrieval.to_embed import PAGES_HOME, QUERIES_HOME, VECTORS, list_pages, list_queries
from penstock.sources.queries import Query, read_queries
from penstock.stage import secret
from penstock.stages.embed import Embed, EmbeddedRegions
from penstock.store.atomic_files import clear_tmp
from penstock.store.out import Out
from penstock.trace.phrases import plural
from penstock.trace.spans import Trace

DEFAULTS = defaults(EMBED_RUN)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedOptions(SafeRepr):
    """How to embed an OUT. `settings` are the engine's own: model, server, dimensions, in_flight, api_key."""

    engine: str = DEFAULTS["engine"]
    queries: Path | None = None
    images: bool | None = None  # None: if the engine can
    regions: EmbeddedRegions | None = None
    precision: str = DEFAULTS["precision"]
    password: str | None = secret()
    retry_failed: bool = False
    fresh: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def reads_images(self) -> bool:
        """Raises UsageError where pictures are asked of an engine that reads texts only."""
        images = takes_images(self.engine) if self.images is None else self.images
        if images and not takes_images(self.engine):
            raise UsageError(
                f"The embedder {self.engine!r} reads texts only.", "Leave --images out, or choose another."
            )
        return images


@dataclass(frozen=True, slots=True)
class EmbedSummary:
    """What a call of `embed_out` did. `busy` is the engine's share of the pass's time, from spans."""

    engine: str
    pages: int
    skipped: int
    failed: int
    failed_before: int  # of the skipped
    queries: int
    images: bool
    seconds: float
    busy: float
    shapes: dict[str, tuple[int, ...]]
    written: list[Path]
    failures: list[tuple[str, str]] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        return {**asdict(self), "written": [str(path) for path in self.written]}

    def sentence(self) -> str:
        left_out = "" if self.images else "\nPictures were left out: this engine reads texts only."
        before = f" ({self.failed_before} of them failed before)" if self.failed_before else ""
        shapes = ", ".join(f"{name} {rows} x {width}" for name, (rows, width) in self.shapes.items())
        return (
            f"{plural(self.pages, 'page')} embedded by {self.engine}, {self.skipped} were done{before},"
            f" {self.failed} failed, {plural(self.queries, 'query', 'queries')}: {shapes}.{left_out}"
        )


def embed_out(
    folder: Path,
    options: EmbedOptions,
    showing: Showing | None = None,
    before_item: Callable[[], object] = lambda: None,
) -> EmbedSummary:
    """Embeds what OUT holds and is not embedded yet. Raises UsageError before anything is loaded.

    `before_item` is called before the engine opens, and not at all where everything is embedded.
    """
    precision = checked_precision(options.precision)
    images = options.reads_images
    chosen_settings(options.engine, options.settings)
    out = Out(folder)
    out.need_rows()
    queries = read_queries(options.queries) if options.queries else []
    plan = embed_pages(out, options.engine, images, options.regions, options.password, **options.settings)
    regions = _stage(plan).regions
    work = _work(out, plan, options, PAGES_HOME, list_pages(out, regions), before_item)
    work.finish(showing)
    written = vectors.write_pages(out, precision, about_vectors(plan), regions)
    if queries:
        _embed_queries(out, options, queries, before_item)
        written += vectors.write_queries(out, [query.id for query in queries], precision)
    clear_tmp(out)
    return _summary(work.run, options.engine, len(queries), images, written)


def _embed_queries(
    out: Out, options: EmbedOptions, queries: list[Query], before_item: Callable[[], object]
) -> None:
    plan = embed_queries(out, options.engine, **options.settings)
    listing = list_queries(out, [(query.id, query.text) for query in queries])
    for _ in _work(out, plan, options, QUERIES_HOME, listing, before_item):
        pass


def _work(
    out: Out,
    plan: Plan,
    options: EmbedOptions,
    home: str,
    listing: Iterator[EmbeddedPage],
    before_item: Callable[[], object],
) -> PreparedRun[EmbeddedPage]:
    run = Run(
        plan,
        make_executor("local", Trace()),
        out.path,
        VECTORS,
        options.retry_failed,
        options.fresh,
        home=home,
        before_item=before_item,
    )
    return PreparedRun(run, listing)


def checked_precision(word: str) -> vectors.Precision:
    """Raises UsageError for numbers that .npy files are not written in."""
    check_choice("--precision", word, vectors.PRECISIONS)
    return cast(vectors.Precision, word)


def _stage(plan: Plan) -> Embed:
    stage = plan.stages[-1]
    assert isinstance(stage, Embed)
    return stage


def about_vectors(plan: Plan) -> dict[str, Any]:
    """Returns how a question has to be embedded to meet these vectors."""
    stage = _stage(plan)
    names = ("engine", "model", "dimensions", "server", "images", "regions")
    about = {**{name: getattr(stage, name) for name in names}, "fingerprint": plan.fingerprint()}
    return {**about, "server": base_url(stage.server) if stage.server else stage.server}


def _summary(
    run: Run[EmbeddedPage], engine: str, num_queries: int, images: bool, written: list[Path]
) -> EmbedSummary:
    tally: Tally = run.tally
    profile = run.profile()
    stage = profile.stages[-1]
    tables = (vectors.read(Out(run.out), name) for name in (*vectors.ROWS_OF, vectors.QUERIES))
    return EmbedSummary(
        engine=engine,
        pages=tally.done,
        skipped=tally.skipped,
        failed=tally.failed,
        failed_before=tally.failed_before,
        queries=num_queries,
        images=images,
        seconds=round(profile.seconds, 3),
        busy=round(stage.busy, 4),
        shapes={table.name: table.array.shape for table in tables if table is not None},
        written=written,
        failures=tally.failures,
    )
