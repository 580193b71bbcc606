"""`penstock parse`: documents to Markdown, JSON and crops."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from penstock.cli.options import (
    FORMAT_NAMES,
    RECIPE_NAMES,
    ApiKey,
    AsJson,
    Config,
    Cores,
    CropNames,
    Engine,
    Executor,
    Fresh,
    InFlight,
    Lang,
    LayoutModel,
    Log,
    LogLevel,
    Model,
    OcrDtype,
    Preset,
    Quiet,
    ResultsOrNone,
    Servers,
    one_of,
    recipe_settings,
    some_of,
    with_recipe_options,
    words,
)
from penstock.cli.progress import progress, tell_addresses, tell_failures, tell_left_out, tell_notes
from penstock.errors import UsageError
from penstock.redaction import SafeRepr, redacted

if TYPE_CHECKING:
    from penstock.driver import Run
    from penstock.page import Page
    from penstock.passes.parse import ParseOptions
    from penstock.passes.work import Work
    from penstock.trace.profile import Profile
    from penstock.trace.spans import Trace

STANDARD_OUTPUT = Path("-")
RECIPE_HELP = f"How to read: {', '.join(RECIPE_NAMES)}, or module:function. documents is built in."
EXPORT_HELP = f"Files to write at the end: {', '.join(FORMAT_NAMES)}. Without OUT: md, text or jsonl."
LAYOUTS = ("auto", "model", "rules", "pp-doclayoutv3", "cdla")
LAYOUT_HELP = (
    "How regions are found. documents: model, rules (fonts and geometry), or pp-doclayoutv3 (larger, 131 MB;"
    " auto takes it for --effort best where it is fetched). glm-ocr and its like: pp-doclayoutv3 (torch)"
    " or cdla (on the CPU)."
)
Formats = Annotated[
    str | None, Option("--export", "--to", help=EXPORT_HELP, autocompletion=some_of(*FORMAT_NAMES))
]
Inputs = Annotated[
    list[str],
    typer.Argument(
        help="Files, folders, globs, http(s) addresses, datasets, @LIST of them, or - for standard input.",
        metavar="INPUT...",
    ),
]

Service = Annotated[str | None, Option(help="Let a `penstock serve` read them: its address.", metavar="URL")]


@with_recipe_options
def parse(
    inputs: Inputs,
    more: dict[str, Any],
    out: ResultsOrNone = None,
    recipe: Annotated[str, Option(help=RECIPE_HELP, autocompletion=one_of(*RECIPE_NAMES))] = "documents",
    pages: Annotated[str | None, Option(help="Pages of each document, from 1: 3-9 or 1,4,7-.")] = None,
    max_pages: Annotated[int, Option(help="Read no more pages of one document.", min=1)] = 50_000,
    lang: Lang = None,
    dpi: Annotated[int | None, Option(help="Resolution PDF pages are rendered at.", min=36, max=600)] = None,
    layout: Annotated[str | None, Option(help=LAYOUT_HELP, autocompletion=one_of(*LAYOUTS))] = None,
    text_layer: Annotated[str | None, Option(help="A PDF's own text: auto, always or never used.")] = None,
    crops: Annotated[bool | None, Option("--crops/--no-crops", help="Keep crops of pictures.")] = None,
    password: Annotated[str | None, Option(help="Password of encrypted PDFs.")] = None,
    image_column: Annotated[str | None, Option(help="Image column of a dataset; found if not given.")] = None,
    id_column: Annotated[str | None, Option(help="Id column of a dataset; found if not given.")] = None,
    service: Service = None,
    server: Servers = None,
    model: Model = None,
    layout_model: LayoutModel = None,
    preset: Preset = None,
    ocr_dtype: OcrDtype = None,
    engine: Engine = None,
    in_flight: InFlight = None,
    margins: Annotated[str | None, Option(help="Headers, footers, page numbers: drop or read.")] = None,
    text_height: Annotated[float | None, Option(help="Scale regions to print this high (px).", min=8)] = None,
    polygons: Annotated[bool | None, Option("--polygons/--boxes", help="Cut along outlines.")] = None,
    api_key: ApiKey = None,
    export: Formats = None,
    crop_names: CropNames = None,
    retry_failed: Annotated[bool, Option(help="Try failed pages and regions again.")] = False,
    fresh: Fresh = False,
    dry_run: Annotated[bool, Option(help="Say what would run, how long, how large; run nothing.")] = False,
    max_pixels: Annotated[int | None, Option(help="Refuse pictures with more pixels.", min=1)] = None,
    page_timeout: Annotated[float | None, Option(help="Seconds until a page is given up.", min=1)] = None,
    cores: Cores = None,
    executor: Executor = "local",
    profile: Annotated[bool, Option("--profile", help="Show at the end where the time went.")] = False,
    trace: Annotated[bool, Option(help="Keep every span, for `penstock profile --trace`.")] = False,
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Turn documents into Markdown, JSON and crops. Run it again to go on where it stopped."""
    settings = recipe_settings(
        dpi=dpi, lang=lang, layout=layout, text_layer=text_layer, crops=crops, password=password,
        server=server, model=model, layout_model=layout_model, preset=preset, ocr_dtype=ocr_dtype,
        engine=engine, in_flight=in_flight, margins=margins, text_height=text_height, polygons=polygons,
        api_key=api_key, max_pixels=max_pixels, page_timeout=page_timeout, cores=cores, **more,
    )  # fmt: skip
    run = _Typed(
        inputs, None if out == STANDARD_OUTPUT else out, recipe, settings, pages, max_pages, image_column,
        id_column, executor, retry_failed, fresh, crop_names, service,
    )  # fmt: skip
    run.start(words(export or ""), _Shown(dry_run, trace, profile, as_json, quiet))


@dataclass(frozen=True, slots=True)
class _Shown:
    """The options of the command line that say what is shown."""

    dry_run: bool
    trace: bool
    profile: bool
    as_json: bool
    quiet: bool

    @property
    def of_a_folder(self) -> dict[str, bool]:
        """Those that are of no use where nothing is kept."""
        return {
            "--dry-run": self.dry_run,
            "--trace": self.trace,
            "--profile": self.profile,
            "--json": self.as_json,
        }


@dataclass(frozen=True, slots=True)
class _Typed(SafeRepr):
    """The options of the command line that say what is run, as they are typed."""

    inputs: list[str]
    out: Path | None
    recipe: str
    settings: dict[str, Any]
    pages: str | None
    max_pages: int
    image_column: str | None
    id_column: str | None
    executor: str
    retry_failed: bool
    fresh: bool
    crop_names: str | None
    service: str | None

    def start(self, formats: list[str], shown: _Shown) -> None:
        if self.service is not None:
            self._by_service(self.service, formats, shown)
        elif self.out is None:
            self._need_no_folder(shown)
            _print_pages(self._options(), formats or ["md"])
        else:
            self._into(self.out, formats or ["md", "jsonl"], shown)

    def _by_service(self, url: str, formats: list[str], shown: _Shown) -> None:
        """Sends the inputs to a service, waits, and leaves the results where a run leaves its own."""
        from penstock.client.client import Client
        from penstock.client.folder import fetch_into, page_texts
        from penstock.sources.inputs import FoundFile, expand

        settings = self._for_a_service(shown)
        files = [
            entry.path for entry in expand(self.inputs) if isinstance(entry, FoundFile) and not entry.problem
        ]
        client = Client(url, settings.pop("api_key", None))
        job = client.wait(client.submit(files, **settings).id)
        if job.state != "done":
            raise UsageError(job.error or f"The job {job.id} {job.state}: no page was read.")
        if self.out is not None:
            fetch_into(client, job.id, self.out, formats or ["md", "jsonl"])
        else:
            for text in page_texts(client, job.id, formats or ["md"]):
                print(text, flush=True)
        if not shown.quiet:
            print(f"{job.done} pages read by {redacted(url)}, {job.failed} failed.", file=sys.stderr)
        if job.failed:
            raise typer.Exit(1)

    def _for_a_service(self, shown: _Shown) -> dict[str, Any]:
        """Returns the options to send. Raises UsageError for those that only a run of this machine has."""
        ours = {"--recipe": self.recipe != "documents", "--executor": self.executor != "local"}
        ours |= {"--fresh": self.fresh, "--retry-failed": self.retry_failed, **shown.of_a_folder}
        for option in (name for name, is_given in ours.items() if is_given):
            raise UsageError(f"{option} is not for a service to decide.", "Leave it out, or --service.")
        max_pages = {} if self.max_pages == 50_000 else {"max_pages": self.max_pages}
        return {**self.settings, **max_pages, **({"pages": self.pages} if self.pages else {})}

    def _need_no_folder(self, shown: _Shown) -> None:
        given = {"--fresh": self.fresh, "--retry-failed": self.retry_failed, **shown.of_a_folder}
        for option in (name for name, is_given in given.items() if is_given):
            raise UsageError(f"{option} needs a folder for the results.", "Name one: -o OUT.")

    def _into(self, out: Path, formats: list[str], shown: _Shown) -> None:
        from penstock.exports.export import check_formats
        from penstock.passes.parse import parse_work
        from penstock.store.arrow import leave_pandas_out

        leave_pandas_out()
        check_formats(formats)
        with _trace(out if shown.trace and not shown.dry_run else None) as spans:
            tell_addresses(self.inputs, shown.quiet or shown.as_json)
            work = parse_work(self._options(), out, spans)
            if shown.dry_run:
                from penstock.cli.dry_run import forecast

                print(forecast(work.run, work.listing, shown.as_json))
                return
            tell_notes(work.run.plan, shown.quiet)
            password = self.settings.get("password")
            with _exported_when_stopped(work, formats, password, shown.quiet):
                profile = work.finish(progress(shown.quiet or shown.as_json))
            _finish(work, profile, formats, password, shown)

    def _options(self) -> ParseOptions:
        from penstock.passes.parse import ParseOptions

        return ParseOptions(
            inputs=tuple(self.inputs),
            recipe=self.recipe,
            settings=self.settings,
            pages=self.pages,
            max_pages=self.max_pages,
            image_column=self.image_column,
            id_column=self.id_column,
            executor=self.executor,
            retry_failed=self.retry_failed,
            fresh=self.fresh,
            crop_names=self.crop_names,
        )


def _print_pages(options: ParseOptions, formats: list[str]) -> None:
    """Prints every page in the order of the inputs. Nothing is kept: a call that was stopped begins again."""
    from penstock.exports.standard_output import page_writer
    from penstock.passes.parse import parse_pages, without_links

    written, failed = page_writer(formats), 0
    with closing(
        without_links(parse_pages(options))
    ) as pages:  # closed: a reader that goes away ends the run
        for page in pages:
            if page.failure is not None:
                failed += 1
                print(f"failed: {page.failure.message}", file=sys.stderr, flush=True)
            elif text := written(page):
                print(text, flush=True)
    if failed:
        raise typer.Exit(1)


@contextmanager
def _trace(out: Path | None) -> Iterator[Trace]:
    """The run's trace, with a file in OUT that keeps every span where that was asked for."""
    from penstock.trace.chrome import SpanLog
    from penstock.trace.spans import Trace

    if out is None:
        yield Trace()
        return
    with SpanLog(out / "trace.jsonl") as sink:
        yield Trace(sink=sink)
    for trouble in filter(None, (sink.trouble, f"{sink.dropped} spans left out" if sink.dropped else "")):
        print(f"trace: {trouble}", file=sys.stderr)


@contextmanager
def _exported_when_stopped(
    work: Work[Page], formats: list[str], password: str | None, quiet: bool
) -> Iterator[None]:
    """Writes the files of what is finished when Ctrl-C or SIGTERM ends the run: the rest can wait."""
    from penstock.exports.export import export
    from penstock.trace.phrases import plural

    try:
        yield
    except KeyboardInterrupt:
        done = work.run.tally.done + work.run.tally.skipped
        if done:
            export(work.run.out, formats, password)
        if not quiet:
            print(f"{plural(done, work.run.plan.item.unit)} finished, in {work.run.out}", file=sys.stderr)
        raise


def _finish(
    work: Work[Page], profile: Profile, formats: list[str], password: str | None, shown: _Shown
) -> None:
    """Exports, tells what happened, and sets the exit code."""
    from penstock.exports.export import export

    run = work.run
    written = export(run.out, formats, password) if run.tally.listed else []
    if shown.as_json:
        print(json.dumps(_summary(work, written), ensure_ascii=False))
    else:
        _tell(run, profile, written, shown)
    if not run.tally.all_well:
        raise typer.Exit(1)


def _summary(work: Work[Page], written: list[Path]) -> dict[str, Any]:
    row = asdict(work.summary())
    row["failed_regions"] = row.pop("failed_parts")
    row["failures"] = [{"page": page, "reason": reason} for page, reason in row["failures"]]
    return {**row, "written": [str(path) for path in written]}


def _tell(run: Run[Page], profile: Profile, written: list[Path], shown: _Shown) -> None:
    """Failures on standard error, then what was written and in a sentence where the time went."""
    from penstock.exports.page_files import RESULTS
    from penstock.trace import report

    tell_failures(run, f"{run.out / 'failures'} and {RESULTS}")
    tell_left_out(run)
    if shown.quiet:
        return
    if not run.tally.done:
        print(_nothing_done(run))
    elif shown.profile:
        print(report.render_text(profile))
    else:
        print(_done(run, profile, written))
        if profile.finished >= report.FEW_ITEMS:  # fewer say nothing about the pipe
            print(report.finding(profile))


def _done(run: Run[Page], profile: Profile, written: list[Path]) -> str:
    from penstock.trace.phrases import duration, plural

    more = f" and {len(written) - 3} more" if len(written) > 3 else ""
    files = f" {', '.join(map(str, written[:3]))}{more}." if written else ""
    return f"{plural(run.tally.done, run.plan.item.unit)} read in {duration(profile.seconds)}.{files}"


def _nothing_done(run: Run[Page]) -> str:
    from penstock.trace.phrases import plural

    tally, unit = run.tally, run.plan.item.unit
    if tally.failed:
        return (
            f"Nothing could be read: {plural(tally.failed, f'{unit} or file', f'{unit}s or files')} failed."
        )
    failed = f"; {tally.failed_before} of them failed before" if tally.failed_before else ""
    return f"Nothing to do: {plural(tally.skipped, unit)} done before{failed}."
