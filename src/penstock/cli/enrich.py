"""`penstock enrich`: summaries and keywords for the tables and pictures of a run."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import AsJson, Config, Executor, Log, LogLevel, Out, Quiet
from penstock.cli.progress import progress

if TYPE_CHECKING:
    from penstock.driver import Tally

WrittenIn = Annotated[
    str, typer.Option(help="Languages to write: ko, en or ko,en. [default: the document's, and en]")
]
SHOWN = 5  # reasons why blocks have less than was asked for, the most frequent first
MaxTokens = Annotated[
    int | None, typer.Option(help="Tokens of one answer at most; 1500 to look, 700 to write.", min=1)
]


def enrich(
    out: Out,
    text_engine: Annotated[
        str, typer.Option(help="Who writes: rule (no model), llm (a language model's server), none.")
    ] = "rule",
    server: Annotated[
        list[str] | None, typer.Option(help="Server of the language model; may be given several times.")
    ] = None,
    model: Annotated[str, typer.Option(help="The language model as its server calls it.")] = "",
    vision_server: Annotated[
        list[str] | None, typer.Option(help="Server of a vision model that looks at pictures first.")
    ] = None,
    vision: Annotated[
        str, typer.Option(help="How the vision model is asked: deepseek-ocr, openai, ...")
    ] = "deepseek-ocr",
    vision_model: Annotated[str, typer.Option(help="The vision model as its server calls it.")] = "",
    max_tokens: MaxTokens = None,
    api_key: Annotated[str | None, typer.Option(help="Key of the servers.")] = None,
    in_flight: Annotated[int, typer.Option(help="Requests in flight at the servers.", min=1)] = 64,
    lang: WrittenIn = "",
    retry_failed: Annotated[bool, typer.Option(help="Try failed blocks again.")] = False,
    fresh: Annotated[bool, typer.Option(help="Forget earlier summaries and start over.")] = False,
    executor: Executor = "local",
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write summaries and keywords for tables and pictures; `export --to docjson` shows them.

    A block whose model does not answer keeps the rules' words; --retry-failed asks again.
    """
    from penstock.passes.enrich import EnrichOptions, enrich_work
    from penstock.store.arrow import leave_pandas_out

    leave_pandas_out()
    options = EnrichOptions(
        text_engine=text_engine,  # type: ignore[arg-type]  # the plan says what it does not know
        server=tuple(server or ()),
        model=model,
        vision_server=tuple(vision_server or ()),
        vision=vision,
        vision_model=vision_model,
        max_tokens=max_tokens or 0,
        api_key=api_key,
        in_flight=in_flight,
        lang=lang,
        executor=executor,
        retry_failed=retry_failed,
        fresh=fresh,
    )
    work = enrich_work(options, out)
    short: Counter[str] = Counter()
    with progress(quiet or as_json)(work.run):
        for block in work:
            short.update(shortfall.message for shortfall in block.shortfalls)
    _tell(work.run.tally, short, out, as_json, quiet)


def _tell(tally: Tally, short: Counter[str], out: Path, as_json: bool, quiet: bool) -> None:
    from penstock.trace.phrases import plural

    if as_json:
        counts = {"done": tally.done, "failed": tally.failed, "skipped": tally.skipped}
        print(json.dumps({"out": str(out), **counts, "short": tally.failed_regions}, ensure_ascii=False))
    else:
        for block, reason in tally.failures:
            print(f"failed: {block}: {reason}", file=sys.stderr)
        for reason, num in short.most_common(SHOWN):
            print(f"{plural(num, 'block')} with less than was asked for: {reason}", file=sys.stderr)
        if tally.listed:
            less = f", {tally.failed_before} of them failed or short" if tally.failed_before else ""
            done = plural(tally.done, "block")
            if not quiet or less:
                print(f"{done} enriched, {tally.failed} failed, {tally.skipped} done before{less}.")
        elif not quiet:
            print(f"{out} holds no table and no picture: there is nothing to enrich.")
        if not tally.all_well:
            print("Run again with --retry-failed.", file=sys.stderr)
    if not tally.all_well:
        raise typer.Exit(1)
