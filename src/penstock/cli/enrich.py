"""`penstock enrich`: summaries and keywords for the tables and pictures of a run."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from penstock.cli.options import AsJson, Config, Executor, Log, Out, Quiet


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
    api_key: Annotated[str | None, typer.Option(help="Key of the servers.")] = None,
    in_flight: Annotated[int, typer.Option(help="Requests in flight at the servers.", min=1)] = 64,
    retry_failed: Annotated[bool, typer.Option(help="Try failed blocks again.")] = False,
    fresh: Annotated[bool, typer.Option(help="Forget earlier summaries and start over.")] = False,
    executor: Executor = "local",
    config: Config = None,
    log: Log = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write summaries and keywords for tables and pictures; `export --to docjson` shows them."""
    from penstock.enriching import blocks, run_of
    from penstock.recipes.enrich import enrich as plan_of

    plan = plan_of(
        text_engine=text_engine,  # type: ignore[arg-type]  # the plan says what it does not know
        server=tuple(server or ()),
        model=model,
        vision_server=tuple(vision_server or ()),
        vision=vision,
        vision_model=vision_model,
        api_key=api_key,
        in_flight=in_flight,
    )
    run = run_of(out, plan, executor, fresh=fresh, retry_failed=retry_failed)
    for _ in blocks(run, out):
        pass
    _tell(run, as_json)


def _tell(run: Any, as_json: bool) -> None:
    tally = run.tally
    if as_json:
        counts = {"done": tally.done, "failed": tally.failed, "skipped": tally.skipped}
        print(json.dumps({"out": str(run.out), **counts}, ensure_ascii=False))
    else:
        for block, reason in tally.failures:
            print(f"failed: {block}: {reason}", file=sys.stderr)
        print(f"{tally.done} blocks enriched, {tally.failed} failed, {tally.skipped} done before.")
    if tally.failed:
        raise typer.Exit(1)
