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

from penstock.cli.options import AsJson, Config, Log, Quiet, words

if TYPE_CHECKING:
    from penstock.driver import Run

TICK_S = 0.25


def parse(
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="Files, folders, globs, datasets, @LIST of paths, or - for standard input.",
            metavar="INPUT...",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results; a run there is resumed.")],
    recipe: Annotated[str, typer.Option(help="Which pipeline.")] = "documents",
    pages: Annotated[str | None, typer.Option(help="Pages of each document, from 1: 3-9 or 1,4,7-.")] = None,
    lang: Annotated[
        str | None,
        typer.Option(help="Languages of the pages: ko, en, zh, ja, ...; found out when not given."),
    ] = None,
    dpi: Annotated[
        int | None, typer.Option(help="Resolution PDF pages are rendered at.", min=36, max=600)
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(
            help="How regions are found. documents: model, or rules (fonts and geometry, no model)."
            " glm-ocr and its like: pp-doclayoutv3, or cdla (on the CPU)."
        ),
    ] = None,
    server: Annotated[
        list[str] | None, typer.Option(help="A model server that runs already; may be given several times.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model as the server calls it, or a folder.")] = None,
    layout_model: Annotated[str | None, typer.Option(help="Folder or hub name of PP-DocLayoutV3.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="Flags of a server that is started; see `penstock engine`.")
    ] = None,
    in_flight: Annotated[int | None, typer.Option(help="Requests in flight at the servers.", min=1)] = None,
    furniture: Annotated[str | None, typer.Option(help="Headers and footers: drop or read.")] = None,
    text_height: Annotated[
        float | None,
        typer.Option(help="Scale regions down to print this high (pixels); saves tokens.", min=8),
    ] = None,
    polygons: Annotated[
        bool | None, typer.Option("--polygons/--boxes", help="Cut regions along their outline.")
    ] = None,
    api_key: Annotated[str | None, typer.Option(help="Key of the servers.")] = None,
    text_layer: Annotated[
        str | None, typer.Option(help="Use a PDF's own text: auto (where it is good), always, never.")
    ] = None,
    password: Annotated[str | None, typer.Option(help="Password of encrypted PDFs.")] = None,
    image_column: Annotated[
        str | None, typer.Option(help="Image column of a dataset; found when not given.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Id column of a dataset; found when not given.")
    ] = None,
    export: Annotated[
        str, typer.Option(help="Files to write at the end; see `penstock export`.")
    ] = "md,jsonl",
    crops: Annotated[
        bool | None, typer.Option("--crops/--no-crops", help="Keep crops of pictures and charts.")
    ] = None,
    max_pixels: Annotated[
        int | None, typer.Option(help="Refuse pictures with more pixels than this.", min=1)
    ] = None,
    retry_failed: Annotated[bool, typer.Option(help="Try failed pages and regions again.")] = False,
    fresh: Annotated[bool, typer.Option(help="Forget what OUT holds and start over.")] = False,
    dry_run: Annotated[
        bool, typer.Option(help="Say what would run, how long and how large, and stop.")
    ] = False,
    page_timeout: Annotated[
        float | None, typer.Option(help="Seconds after which a page that is being read is given up.", min=1)
    ] = None,
    cores: Annotated[int | None, typer.Option(help="CPU cores to use; all when not given.", min=1)] = None,
    executor: Annotated[str, typer.Option(help="local, or inline for debugging.")] = "local",
    config: Config = None,
    log: Log = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Turn documents into Markdown, JSON and crops. Run it again to go on where it stopped."""
    from penstock import recipes, sources
    from penstock.driver import Run
    from penstock.executors import executor as make_executor
    from penstock.store.export import check_formats
    from penstock.trace.spans import Trace

    formats = words(export)
    check_formats(formats)
    options = {
        "dpi": dpi,
        "lang": tuple(words(lang)) if lang else None,
        "layout": layout,
        "server": tuple(server) if server else None,
        "model": model,
        "layout_model": layout_model,
        "preset": preset,
        "in_flight": in_flight,
        "furniture": furniture,
        "text_height": text_height,
        "polygons": polygons,
        "api_key": api_key,
        "text_layer": text_layer,
        "crops": crops,
        "max_pixels": max_pixels,
        "password": password,
        "page_timeout": page_timeout,
        "cores": cores,
    }
    plan = recipes.build(recipe, {key: value for key, value in options.items() if value is not None})
    listing = sources.list_items(
        inputs,
        pages=sources.PageRange.parse(pages) if pages else None,
        password=password,
        image_column=image_column,
        id_column=id_column,
    )
    run = Run(
        plan,
        make_executor(executor, Trace()),
        out,
        retry_failed=retry_failed,
        fresh=fresh,
        facts={"inputs": [str(name) for name in inputs], "pages": pages},
    )
    if dry_run:
        from penstock.cli.forecast import forecast

        print(forecast(run, listing, as_json))
        return
    _work(run, listing, quiet or as_json)
    _finish(run, formats, password, as_json)


def _work(run: Run, listing: Iterator[Any], quiet: bool) -> None:
    with _showing(run, quiet):
        for _ in run.pages(listing):
            pass


@contextmanager
def _showing(run: Run, quiet: bool) -> Iterator[None]:
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


def _state(run: Run, elapsed_s: float) -> Any:
    from penstock.trace.progress import StageState, State

    depths = getattr(run.executor, "depths", lambda: ())()
    tally = run.tally
    return State(
        done=tally.done,
        failed=tally.failed,
        skipped=tally.skipped,
        total=None if tally.listing else tally.listed,
        stages=tuple(StageState(d.stage, d.waiting, d.running, d.done) for d in depths),
        elapsed_s=elapsed_s,
    )


def _finish(run: Run, formats: list[str], password: str | None, as_json: bool) -> None:
    """Exports, writes the profile, tells what happened, and sets the exit code."""
    from penstock.store.export import export
    from penstock.trace import report

    tally = run.tally
    if tally.done or tally.failed:
        report.write(run.profile(), run.out)
    written = export(run.out, formats, password) if tally.listed else []
    if as_json:
        print(json.dumps(_summary(run, written), ensure_ascii=False))
    else:
        _tell(run, written)
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
        "seconds": round(run.executor.trace.clock() - run.executor.trace.began, 3),
        "failures": [{"page": page, "reason": reason} for page, reason in tally.failures],
        "written": [str(path) for path in written],
    }


def _tell(run: Run, written: list[Path]) -> None:
    from penstock.trace import report

    tally = run.tally
    for page, reason in tally.failures:
        print(f"failed: {page}: {reason}", file=sys.stderr)
    if tally.failed > len(tally.failures):
        print(
            f"failed: and {tally.failed - len(tally.failures)} more, in {run.out / 'failures'}",
            file=sys.stderr,
        )
    if tally.done or tally.failed:
        print(report.render_text(run.profile()))
    else:
        print(f"Nothing to do: all {tally.skipped} pages are done.")
    for path in written[:3]:
        print(f"  {path}")
    if len(written) > 3:
        print(f"  and {len(written) - 3} more in {run.out}")
