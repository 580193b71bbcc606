"""`penstock parse`: documents to Markdown, JSON and crops."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from penstock.cli.options import (
    ApiKey,
    AsJson,
    Config,
    Cores,
    Executor,
    Fresh,
    InFlight,
    Lang,
    LayoutModel,
    Log,
    Model,
    Preset,
    Quiet,
    Results,
    Servers,
    recipe_options,
    words,
)

if TYPE_CHECKING:
    from penstock.driver import Run
    from penstock.item import Item
    from penstock.trace.profile import Profile
    from penstock.trace.progress import RunState
    from penstock.trace.spans import Trace

TICK_S = 0.25
LAYOUT_HELP = (
    "How regions are found. documents: model, or rules (fonts and geometry, no model)."
    " glm-ocr and its like: pp-doclayoutv3, or cdla (on the CPU)."
)
Inputs = Annotated[
    list[str],
    typer.Argument(
        help="Files, folders, globs, datasets, @LIST of paths, or - for standard input.", metavar="INPUT..."
    ),
]


def parse(
    inputs: Inputs,
    out: Results,
    recipe: Annotated[str, Option(help="Which pipeline.")] = "documents",
    pages: Annotated[str | None, Option(help="Pages of each document, from 1: 3-9 or 1,4,7-.")] = None,
    lang: Lang = None,
    dpi: Annotated[int | None, Option(help="Resolution PDF pages are rendered at.", min=36, max=600)] = None,
    layout: Annotated[str | None, Option(help=LAYOUT_HELP)] = None,
    text_layer: Annotated[str | None, Option(help="A PDF's own text: auto, always or never used.")] = None,
    crops: Annotated[bool | None, Option("--crops/--no-crops", help="Keep crops of pictures.")] = None,
    password: Annotated[str | None, Option(help="Password of encrypted PDFs.")] = None,
    image_column: Annotated[str | None, Option(help="Image column of a dataset; found if not given.")] = None,
    id_column: Annotated[str | None, Option(help="Id column of a dataset; found if not given.")] = None,
    server: Servers = None,
    model: Model = None,
    layout_model: LayoutModel = None,
    preset: Preset = None,
    engine: Annotated[str | None, Option(help="grounded recipes: vllm, or hf (transformers).")] = None,
    in_flight: InFlight = None,
    furniture: Annotated[str | None, Option(help="Headers and footers: drop or read.")] = None,
    text_height: Annotated[float | None, Option(help="Scale regions to print this high (px).", min=8)] = None,
    polygons: Annotated[bool | None, Option("--polygons/--boxes", help="Cut along outlines.")] = None,
    api_key: ApiKey = None,
    export: Annotated[str, Option(help="Files to write at the end; see `penstock export`.")] = "md,jsonl",
    retry_failed: Annotated[bool, Option(help="Try failed pages and regions again.")] = False,
    fresh: Fresh = False,
    dry_run: Annotated[bool, Option(help="Say what would run, how long, how large; run nothing.")] = False,
    max_pixels: Annotated[int | None, Option(help="Refuse pictures with more pixels.", min=1)] = None,
    page_timeout: Annotated[float | None, Option(help="Seconds until a page is given up.", min=1)] = None,
    cores: Cores = None,
    executor: Executor = "local",
    trace: Annotated[bool, Option(help="Keep every span, for `penstock profile --trace`.")] = False,
    config: Config = None,
    log: Log = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Turn documents into Markdown, JSON and crops. Run it again to go on where it stopped."""
    given = {name: value for name, value in locals().items() if value is not None}
    _parse(given)


def _parse(given: dict[str, Any]) -> None:
    from penstock import recipes, sources
    from penstock.driver import Run
    from penstock.executors import executor as make_executor
    from penstock.exports.export import check_formats
    from penstock.store.source_order import read_order

    formats = check_formats(words(given["export"]))
    plan = recipes.build(given["recipe"], recipe_options(given))
    pages = given.get("pages")
    listing = sources.list_items(
        given["inputs"],
        pages=sources.PageRange.parse(pages) if pages else None,
        password=given.get("password"),
        image_column=given.get("image_column"),
        id_column=given.get("id_column"),
        known={} if given["fresh"] else read_order(given["out"]),
    )
    with _trace_of(given) as trace:
        run = Run(
            plan,
            make_executor(given["executor"], trace),
            given["out"],
            retry_failed=given["retry_failed"],
            fresh=given["fresh"],
            facts={"inputs": [str(name) for name in given["inputs"]], "pages": pages},
        )
        if given["dry_run"]:
            from penstock.cli.dry_run import forecast

            print(forecast(run, listing, given["as_json"]))
            return
        profile = work(run, listing, given["quiet"] or given["as_json"])
        _finish(run, profile, formats, given.get("password"), given["as_json"])


@contextmanager
def _trace_of(given: dict[str, Any]) -> Iterator[Trace]:
    """The run's trace, with a file that keeps every span where that was asked for."""
    from penstock.trace.chrome import SpanLog
    from penstock.trace.spans import Trace

    if not given["trace"] or given["dry_run"]:
        yield Trace()
        return
    with SpanLog(given["out"] / "trace.jsonl") as sink:
        yield Trace(sink=sink)
    for trouble in filter(None, (sink.trouble, f"{sink.dropped} spans left out" if sink.dropped else "")):
        print(f"trace: {trouble}", file=sys.stderr)


def work(run: Run, listing: Iterator[Item], quiet: bool) -> Profile:
    """Runs to the end under a watch. Returns the profile, which is in OUT if anything was done."""
    from penstock.cli.monitor import watch_of
    from penstock.trace import report

    with watch_of(run.plan) as watch, showing(run, quiet):
        for _ in run.pages(listing):
            pass
    profile = watch.add_to(run.profile())
    if run.tally.done or run.tally.failed:
        report.write(profile, run.out)
    return profile


@contextmanager
def showing(run: Run, quiet: bool) -> Iterator[None]:
    """Draws the run's progress from a thread of its own while the block works."""
    from penstock.trace.progress import Progress

    ended = Event()
    began = time.monotonic()
    with Progress(None, quiet=quiet) as progress:

        def tick() -> None:
            while not ended.wait(TICK_S):
                progress.update(_state(run, time.monotonic() - began))

        thread = Thread(target=tick, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(2.0)
            progress.update(_state(run, time.monotonic() - began))


def _state(run: Run, elapsed_s: float) -> RunState:
    from penstock.trace.progress import RunState

    tally = run.tally
    return RunState(
        done=tally.done,
        failed=tally.failed,
        skipped=tally.skipped,
        total=None if tally.listing else tally.listed,
        stages=getattr(run.executor, "depths", lambda: ())(),
        elapsed_s=elapsed_s,
        unit=run.unit,
    )


def _finish(run: Run, profile: Profile, formats: list[str], password: str | None, as_json: bool) -> None:
    """Exports, tells what happened, and sets the exit code."""
    from penstock.exports.export import export

    tally = run.tally
    written = export(run.out, formats, password) if tally.listed else []
    if as_json:
        print(json.dumps(_summary(run, written), ensure_ascii=False))
    else:
        _tell(run, profile, written)
    if not tally.all_well:
        raise typer.Exit(1)


def _summary(run: Run, written: list[Path]) -> dict[str, Any]:
    tally = run.tally
    return {
        "out": str(run.out),
        "done": tally.done,
        "failed": tally.failed,
        "failed_regions": tally.failed_regions,
        "skipped": tally.skipped,
        "failed_before": tally.failed_before,
        "seconds": round(run.executor.trace.clock() - run.executor.trace.began, 3),
        "failures": [
            {"page": page, "reason": reason} for page, reason in (*tally.failures, *tally.failed_parts)
        ],
        "written": [str(path) for path in written],
    }


def _tell(run: Run, profile: Profile, written: list[Path]) -> None:
    from penstock.trace import report

    _tell_failures(run)
    if run.tally.done:
        print(report.render_text(profile))
    else:
        print(_told_of_nothing(run))
    for path in written[:3]:
        print(f"  {path}")
    if len(written) > 3:
        print(f"  and {len(written) - 3} more in {run.out}")


def _tell_failures(run: Run) -> None:
    from penstock.exports.export import RESULTS

    tally = run.tally
    told = [*tally.failures, *tally.failed_parts]
    for page, reason in told:
        # most reasons name their file, and the page if there are several
        named = reason.startswith(page.rpartition(" page ")[0] or page)
        print(f"failed: {reason}" if named else f"failed: {page}: {reason}", file=sys.stderr)
    untold = tally.failed + tally.failed_regions - len(told)
    if untold:
        print(f"failed: and {untold} more, in {run.out / 'failures'} and {RESULTS}", file=sys.stderr)
    if not tally.all_well:
        print("Run the same command with --retry-failed to try what failed again.", file=sys.stderr)


def _told_of_nothing(run: Run) -> str:
    from penstock.trace.phrases import plural

    tally, unit = run.tally, run.unit
    if tally.failed:
        return (
            f"Nothing could be read: {plural(tally.failed, f'{unit} or file', f'{unit}s or files')} failed."
        )
    failed = f"; {tally.failed_before} of them failed before" if tally.failed_before else ""
    return f"Nothing to do: {plural(tally.skipped, unit)} done before{failed}."
