"""Parsing: documents to pages, kept in an OUT or streamed without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from penstock import recipes, sources
from penstock.documents.formats.markdown import relink
from penstock.driver import Run, Tally
from penstock.errors import UsageError
from penstock.executors import make_executor
from penstock.exports.crop_names import check_crop_names
from penstock.exports.export import CROP_NAMES
from penstock.options.option import values_of
from penstock.options.reading import READING
from penstock.options.running import EXECUTOR, MAX_PAGES_READ, RECIPE, RUN
from penstock.page import Page
from penstock.passes.in_order import OnProgress, Order, PageOrder, PageStream, max_ahead
from penstock.passes.prepared_run import PreparedRun
from penstock.plan import Plan
from penstock.redaction import SafeRepr, bare_address
from penstock.sizes import read_file_size
from penstock.sources.names.seen import SeenNames
from penstock.sources.page_range import pages_text
from penstock.sources.partition import ALL, Partition
from penstock.sources.probe import PageCounter
from penstock.sources.remote.download import forget_download, is_url
from penstock.sources.remote.kept_downloads import KeptDownloads
from penstock.stages.recognise import Recognise
from penstock.store.ledger import Ledger
from penstock.store.manifest import DOWNLOADS
from penstock.store.out import Out
from penstock.store.ownership import refuse_linked_folders, refuse_links
from penstock.store.remote import bring_ledger
from penstock.store.schema import PAGES
from penstock.store.source_order import ListedDocuments, read_order
from penstock.trace.cost import Price
from penstock.trace.spans import Trace

ORDERS = ("source", "completion")
OF_A_RUN = tuple(option.name for option in RUN)
OF_RECIPES = frozenset(option.name for option in READING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseOptions(SafeRepr):
    """What to read and how. `settings` are the recipe's own options: `{"dpi": 300, "lang": ("ko",)}`."""

    inputs: tuple[str, ...]
    recipe: str | Plan = RECIPE.default
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)  # a password may be among them
    pages: str | None = None  # of each document, from 1: "3-9"
    max_pages: int = MAX_PAGES_READ.default  # of each document; the rest of a longer one is one failure
    image_column: str | None = None
    id_column: str | None = None
    executor: str = EXECUTOR.default
    retry_failed: bool = False
    fresh: bool = False
    crop_names: str | None = None  # of exports; None: as the run in OUT was asked for
    partition: str | None = None  # "3/8": only the documents of the third of eight ranks
    dedup: bool = False  # files with the same bytes are read once
    keep_downloads: str | int | None = None  # bytes of fetched files that stay, or "500GB"
    price: str | float | None = None  # of an hour of one card: 3.49, or "h200=3.49,a100=1.79"

    def plan(self) -> Plan:
        """Raises UsageError for a recipe or setting that is not known, or that reads photos."""
        plan = self.recipe if isinstance(self.recipe, Plan) else recipes.build(self.recipe, self.settings)
        if plan.item is not Page:
            raise UsageError(
                f"The recipe {plan.name!r} does not read pages.", "For photos: penstock volumes."
            )
        return plan


def parse_options(inputs: tuple[str, ...], given: Mapping[str, Any], **more: Any) -> ParseOptions:
    """Returns the options of a run from those that were given, by their names in the table.

    What is no option of the table is the recipe's own: one from outside may have others.
    """
    of_run = {name: given[name] for name in OF_A_RUN if given.get(name) is not None}
    if "pages" in of_run:
        of_run["pages"] = pages_text(of_run["pages"])
    own = {name: value for name, value in given.items() if name not in (*OF_A_RUN, *OF_RECIPES)}
    settings = {**own, **values_of(READING, given)}
    if isinstance(of_run.get("recipe"), Plan) and (useless := set(settings) - {"password"}):
        name = min(useless).replace("_", "-")
        raise UsageError(f"--{name} has no effect on a Plan of your own.", "Set it in the plan.")
    return ParseOptions(inputs=inputs, settings=settings, **of_run, **more)


def parse_work(options: ParseOptions, out: Path, trace: Trace | None = None) -> PreparedRun[Page]:
    """Returns the run that reads `options.inputs` into OUT. Raises UsageError before it begins."""
    rank = _partition_of(options).name if options.partition else ""
    bring_ledger(out, rank)
    options = with_saved_effort(options, out)
    plan, tally = options.plan(), Tally()
    documents = ListedDocuments(of_rank=bool(rank))
    kept = _kept_downloads(options, out, rank)
    listing = list_pages(options, out, tally.left_out, documents=documents, kept=kept)
    facts = {
        "inputs": redacted_inputs(options.inputs),
        "pages": options.pages,
        "max_pages": options.max_pages,
    }
    run = Run(
        plan,
        make_executor(options.executor, trace or Trace()),
        out,
        PAGES,
        retry_failed=options.retry_failed,
        fresh=options.fresh,
        facts={**facts, **crop_names_of(options.crop_names, None if options.fresh else out)},
        tally=tally,
        rank=rank,
        documents=documents,
        price=Price.parse(str(options.price)) if options.price is not None else None,
    )
    if kept is not None:
        run.on_row = kept.done
    # what is listed is there: a bound wants no more of it than is read
    return PreparedRun(run, listing, ahead=kept is None)


def _kept_downloads(options: ParseOptions, out: Path, rank: str) -> KeptDownloads | None:
    """Returns what bounds the files that are fetched into OUT; None where all are kept."""
    given = options.keep_downloads
    if given is None:
        return None
    try:
        max_bytes = read_file_size(str(given))
    except ValueError as exc:
        raise UsageError(f"--keep-downloads: {exc}.", "Write it like 500GB or 2TB; 0 keeps nothing.") from exc

    @cache
    def done() -> SeenNames:  # read only if a file is gone
        entries = Ledger(out, PAGES, rank=rank).entries().values() if not options.fresh else ()
        return SeenNames(e.id for e in entries if not (options.retry_failed and e.incomplete))

    return KeptDownloads(out / DOWNLOADS, max_bytes, lambda id: id in done(), bool(rank))


def _partition_of(options: ParseOptions) -> Partition:
    """Returns which documents are this run's. Raises UsageError for what no rank may do while others work."""
    if options.partition is None:
        return ALL
    if options.fresh:
        raise UsageError(
            "--fresh would delete what other ranks wrote.",
            "Start over once without --partition, or choose another OUT.",
        )
    return Partition.parse(options.partition)


def with_saved_effort(options: ParseOptions, out: Path) -> ParseOptions:
    """Returns the options; a run in OUT goes on with the effort it began with if they name none.

    Runs from before there was a choice read with all care.
    """
    recipe = options.recipe
    if options.fresh or isinstance(recipe, Plan) or "effort" in options.settings:
        return options
    rows = [row for row in Out(out).run().get("plan", []) if row["stage"] == Recognise.name]
    if not rows or "effort" not in recipes.takes_of(recipe):
        return options
    effort = rows[0].get("effort", Recognise.effort)
    return replace(options, settings={**options.settings, "effort": effort})


def crop_names_of(given: str | None, out: Path | None) -> dict[str, str]:
    """Returns how a run's exports name crops, for run.json: as given, else as the run before was asked."""
    word = given or (Out(out).run().get(CROP_NAMES) if out is not None else None)
    return {CROP_NAMES: check_crop_names(word)} if word else {}


def parse_pages(
    options: ParseOptions,
    out: Path | None = None,
    order: Order = "source",
    on_progress: OnProgress | None = None,
) -> PageStream:
    """Yields every page of the inputs: read now, or, with `out`, there from an earlier run.

    Raises UsageError before it begins. Closing it ends what it started.
    """
    if order not in ORDERS:
        raise UsageError(f"There is no order {order!r}.", f"Choose from: {', '.join(ORDERS)}.")
    if out is None:
        plan = options.plan()
        return stream_in_order(plan, list_pages(options), options.executor, order, on_progress)
    work = parse_work(options, out)
    run = work.run
    if options.dedup:  # copies come when all else is read
        order = "completion"
    turns = PageOrder(order, max_ahead(run.plan, run.executor), Out(out).pages.item)
    run.on_skip = turns.skip
    return turns.delivered(run.items(turns.noted(work.listing)), on_progress)


def stream_in_order(
    plan: Plan,
    listing: Iterable[Page],
    executor: str = "local",
    order: Order = "source",
    on_progress: OnProgress | None = None,
) -> PageStream:
    """Yields the listed pages through a plan, in their order; nothing is kept."""
    chosen = make_executor(executor, Trace())
    turns = PageOrder(order, max_ahead(plan, chosen))
    stream = chosen.stream(plan, turns.noted(listing))
    return turns.delivered(cast(PageStream, stream), on_progress)  # an executor gives back what it was given


def without_links(pages: PageStream) -> PageStream:
    """Yields the pages with pictures as words in their Markdown: no file of them is kept to link to."""
    with closing(pages):
        for page in pages:
            crops = [region.crop_path for region in page.regions if region.crop_path]
            yield replace(page, markdown=relink(page.markdown, crops, None)) if crops else page


def stream_pages(plan: Plan, listing: Iterable[Page]) -> PageStream:
    """Yields the listed pages through a plan, in completion order. Closing it ends what it started."""
    stream = make_executor("local", Trace()).stream(plan, listing)
    return cast(PageStream, stream)  # an executor gives back what it was given


def redacted_inputs(inputs: Sequence[str]) -> list[str]:
    """Returns the inputs as run.json keeps them: addresses without what may be a secret."""
    return [bare_address(name) if is_url(name) else name for name in inputs]


def downloads_of(out: Path | None, inputs: Sequence[str], fresh: bool = False) -> Path | None:
    """Returns where OUT keeps what it downloads; with `fresh` the inputs are fetched anew.

    Raises UsageError if an input lies in OUT, StoreError if a link leads to the downloads.
    """
    if out is None:
        return None
    sources.refuse_inside(inputs, out)
    folder = out / DOWNLOADS
    refuse_links(out, folder)
    refuse_linked_folders(folder)
    for url in filter(is_url, inputs if fresh else ()):
        forget_download(url, folder)
    return folder


def list_pages(
    options: ParseOptions,
    out: Path | None = None,
    left_out: Counter[str] | None = None,
    counter: PageCounter | None = None,
    documents: ListedDocuments | None = None,
    kept: KeptDownloads | None = None,
) -> Iterator[Page]:
    """Yields the pages of the inputs before they are read. Raises UsageError at once if there is none.

    `left_out` counts files of a folder that are not read, by their ending. `counter` is the caller's own.
    `documents` gets their names and places, `kept` bounds what is fetched.
    """
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
        downloads=downloads_of(out, options.inputs, options.fresh),
        counter=counter,
        partition=_partition_of(options),
        dedup=options.dedup and out is not None,
        on_document=(documents or ListedDocuments()).note,
        office=options.settings.get("office", "auto"),
        kept=kept,
    )
