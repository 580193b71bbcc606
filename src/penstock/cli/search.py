"""`penstock search`: questions to a run's index."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import AsJson, Config, Log, Out, words
from penstock.errors import UsageError

if TYPE_CHECKING:
    from penstock.store.search import Hit


def search(
    out: Out,
    question: Annotated[str, typer.Argument(help="What you want to know.", metavar="QUESTION")],
    top: Annotated[int, typer.Option("--top", "-k", help="How many pages.", min=1)] = 10,
    document: Annotated[
        list[str] | None, typer.Option(help="Only in this document; may be repeated.")
    ] = None,
    pages: Annotated[str | None, typer.Option(help="Only on these pages, from 1: 3-9.")] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="Only regions with this label; may be repeated.")
    ] = None,
    section: Annotated[
        list[str] | None, typer.Option(help="Only under a title that has these words; may be repeated.")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(help="Of sources: text=1,image=1,region=1,bm25=1,region_bm25=1,chunk_bm25=1."),
    ] = None,
    config: Config = None,
    log: Log = None,
    as_json: AsJson = False,
) -> None:
    """Find pages by words and by meaning, with the region and the words that answer."""
    from penstock.embedding import embed_question
    from penstock.store.search import Filters, Searcher

    chosen = _weights(weights)
    filters = Filters(
        documents=tuple(document or ()),
        pages=_pages(pages),
        labels=tuple(label or ()),
        sections=tuple(section or ()),
    )
    with Searcher(out) as searcher:
        vector = embed_question(out, question)
        hits = searcher.search(question, vector, top=top, filters=filters, weights=chosen)
    if as_json:
        print(json.dumps([asdict(hit) for hit in hits], ensure_ascii=False))
    else:
        _show(hits)


def _show(hits: list[Hit]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not hits:
        print("Nothing was found.")
        return
    table = Table("", "page", "region", "what it says", "found by", show_lines=True)
    for place, hit in enumerate(hits, 1):
        where = f"{hit.label} {list(hit.box)}" if hit.box else ""
        by = "\n".join(f"{name} #{rank} ({score:.3g})" for name, (rank, score) in hit.sources.items())
        crop = f"\n{hit.crop}" if hit.crop else ""
        page = Text("\n".join(part for part in (f"{hit.document} p. {hit.page}", hit.section) if part))
        table.add_row(str(place), page, where + crop, Text(hit.snippet), by)
    Console().print(table)


def _pages(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, _, last = text.partition("-")
    if not first.isdigit() or (last and not last.isdigit()):
        raise UsageError(f"--pages {text} is not a range.", "Write it like 3-9.")
    return int(first), int(last or first)


def _weights(text: str | None) -> dict[str, float]:
    chosen = {}
    for part in words(text or ""):
        name, _, value = part.partition("=")
        try:
            chosen[name] = float(value)
        except ValueError:
            raise UsageError(f"--weights {part} is not a source and a number.") from None
    return chosen
