"""`penstock search`: questions to a run's index."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import AsJson, Config, Log, LogLevel, Out, words
from penstock.errors import UsageError
from penstock.processes.background import Background
from penstock.retrieval.tokens import question_tokens
from penstock.scripts import has_syllable

if TYPE_CHECKING:
    from penstock.passes.search import SearchOptions, SearchResult
    from penstock.retrieval.searcher import Filters, Hit

MAX_SHOWN = 10  # documents named in a message


def search(
    out: Out,
    question: Annotated[str, typer.Argument(help="What you want to know.", metavar="QUESTION")],
    top: Annotated[int, typer.Option("--top", "-k", help="How many pages.", min=1)] = 10,
    document: Annotated[
        list[str] | None, typer.Option(help="Only in this document; may be repeated.")
    ] = None,
    pages: Annotated[str | None, typer.Option(help="Only on these pages, from 1: 3-9 or 1,4,7-.")] = None,
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
    api_key: Annotated[str | None, typer.Option(help="Key of the server that embedded the run.")] = None,
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
    as_json: AsJson = False,
) -> None:
    """Find pages by words and by meaning, with the region and the words that answer."""
    hits = _found(out, question, _Wanted(top, document, pages, label, section, weights, api_key))
    if as_json:
        print(json.dumps([asdict(hit) for hit in hits], ensure_ascii=False))
    elif hits:
        _show(hits)
    else:
        print("Nothing was found.")


def _found(out: Path, question: str, wanted: _Wanted) -> list[Hit]:
    with Background() as background:
        # before what follows is loaded: nothing takes as long as Kiwi. Other languages' words need no model
        tokens = background.do(partial(question_tokens, question)) if has_syllable(question) else None
        from penstock.passes.search import search_out

        options = wanted.options()
        found = search_out(out, question, options, background, tokens)
    _warn(found, options.filters)
    return found.hits


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The options of the command line as they are typed."""

    top: int
    document: list[str] | None
    pages: str | None
    label: list[str] | None
    section: list[str] | None
    weights: str | None
    api_key: str | None = field(repr=False)

    def options(self) -> SearchOptions:
        from penstock.passes.search import SearchOptions
        from penstock.retrieval.searcher import Filters
        from penstock.sources import PageRange

        filters = Filters(
            documents=tuple(self.document or ()),
            pages=PageRange.parse(self.pages) if self.pages else None,
            labels=tuple(self.label or ()),
            sections=tuple(self.section or ()),
        )
        weights = _weights(self.weights)
        return SearchOptions(top=self.top, filters=filters, weights=weights, api_key=self.api_key)


def _warn(found: SearchResult, filters: Filters) -> None:
    """Says on standard error why less was found than could have been."""
    if found.is_stale:
        print("The run was embedded anew: only words were compared. Run: penstock index OUT", file=sys.stderr)
    for name in set(filters.documents) - set(found.documents) if found.documents else ():
        known = found.documents
        shown = ", ".join(known[:MAX_SHOWN]) + (", ..." if len(known) > MAX_SHOWN else "")
        print(f"There is no document {name!r} in the index. It has: {shown}.", file=sys.stderr)


def _show(hits: list[Hit]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("", "page", "region", "what it says", "found by", show_lines=True)
    for place, hit in enumerate(hits, 1):
        where = f"{hit.label} {list(hit.box)}" if hit.box else ""
        by = "\n".join(f"{name} #{rank} ({score:.3g})" for name, (rank, score) in hit.sources.items())
        crop = f"\n{hit.crop}" if hit.crop else ""
        page = "\n".join(part for part in (f"{hit.document} p. {hit.page}", hit.section) if part)
        table.add_row(str(place), *(Text(_shown(cell)) for cell in (page, where + crop, hit.snippet)), by)
    Console().print(table)


def _shown(text: str) -> str:
    """Without control characters: a document must not speak to the terminal."""
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)


def _weights(text: str | None) -> dict[str, float]:
    chosen = {}
    for part in words(text or ""):
        name, _, value = part.partition("=")
        try:
            chosen[name] = float(value)
        except ValueError:
            raise UsageError(f"--weights {part} is not a source and a number.") from None
    return chosen
