"""`penstock search`: questions to a run's index."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.options import AsJson, Config, Log, Out, words
from penstock.errors import UsageError

if TYPE_CHECKING:
    from penstock.search.searcher import Filters, Hit, Searcher

SHOWN_DOCUMENTS = 10
Given = tuple[
    tuple[str, ...], str | None, tuple[str, ...], tuple[str, ...]
]  # documents, pages, labels, sections


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
    as_json: AsJson = False,
) -> None:
    """Find pages by words and by meaning, with the region and the words that answer."""
    given = (tuple(document or ()), pages, tuple(label or ()), tuple(section or ()))
    hits = _found(out, question, top, given, weights, api_key)
    if as_json:
        print(json.dumps([asdict(hit) for hit in hits], ensure_ascii=False))
    elif hits:
        _show(hits)
    else:
        print("Nothing was found.")


def _found(
    out: Path, question: str, top: int, given: Given, weights: str | None, api_key: str | None
) -> list[Hit]:
    from penstock.cli.background import Ahead

    with Ahead() as ahead:
        # first, for nothing takes as long as Kiwi; words of other languages are there at once
        tokens = ahead.do(partial(_tokens, question)) if _is_korean(question) else None
        from penstock.search.searcher import Searcher, checked_question, checked_weights, compares_vectors

        checked_question(question)
        chosen, filters = checked_weights(_weights(weights)), _filters(given)
        vector = ahead.do(partial(_vector, out, question, api_key)) if compares_vectors(chosen) else None
        with Searcher(out) as searcher:
            hits = searcher.search(
                question,
                vector.result() if vector else None,
                tokens=tokens.result() if tokens else None,
                top=top,
                filters=filters,
                weights=chosen,
            )
            _warn(searcher, filters if not hits else None)
    return hits


def _filters(given: Given) -> Filters:
    from penstock.search.searcher import Filters
    from penstock.sources import PageRange

    documents, pages, labels, sections = given
    wanted = PageRange.parse(pages) if pages else None
    return Filters(documents=documents, pages=wanted, labels=labels, sections=sections)


def _is_korean(text: str) -> bool:
    return any("가" <= letter <= "힣" for letter in text)


def _tokens(question: str) -> list[str]:
    from penstock.search.tokens import Words

    return [word.token for word in Words().of(question)]


def _vector(out: Path, question: str, api_key: str | None) -> Any:
    from penstock.passes.embed import embed_question

    return embed_question(out, question, api_key)


def _warn(searcher: Searcher, fruitless: Filters | None) -> None:
    """Says on standard error why less was found than could have been."""
    if searcher.is_stale:
        print("The run was embedded anew: only words were compared. Run: penstock index OUT", file=sys.stderr)
    if fruitless and fruitless.documents:
        known = searcher.documents()
        for name in set(fruitless.documents) - set(known):
            shown = ", ".join(known[:SHOWN_DOCUMENTS]) + (", ..." if len(known) > SHOWN_DOCUMENTS else "")
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
