"""Answers a question for `penstock search`, and shows the hits."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TextIO
from unicodedata import east_asian_width

from penstock.addresses.locator import is_locator
from penstock.errors import UsageError
from penstock.options.option import words
from penstock.passes.search_runs import search_runs
from penstock.passes.small_search import small_search
from penstock.processes.background import Background
from penstock.region import plain_label
from penstock.retrieval.hits import Filters, Hit, SearchOptions, SearchResult
from penstock.scripts import has_syllable
from penstock.sources.page_range import PageRange

MAX_SHOWN = 10  # documents named in a message
BOLD, PLAIN = "\x1b[1;33m", "\x1b[0m"
_MARKED = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
HALF_PAGE = 500  # what is wider stands at neither side


def answer(outs: Sequence[Path], question: str, wanted: Wanted, as_json: bool) -> None:
    """Prints the hits, best first."""
    options = wanted.options()
    found = search_runs(outs, question, options, partial(_of_one_run, question))
    _warn(found, options.filters)
    hits = found.hits
    if as_json:
        print(json.dumps([hit.row() for hit in hits], ensure_ascii=False))
    elif hits:
        show(hits)
    else:
        print("Nothing was found.")


def _of_one_run(question: str, out: Path, options: SearchOptions) -> SearchResult:
    small = None if is_locator(question) else small_search(out, question, options)
    return small or _searched(out, question, options)


def _searched(out: Path, question: str, options: SearchOptions) -> SearchResult:
    """Searches an index that is too large for the quick way: the modules it needs take seconds to load."""
    from penstock.retrieval.tokens import question_tokens

    with Background() as background:
        # before what follows is loaded: nothing takes as long as Kiwi. Other languages' words need no model
        is_korean = has_syllable(question) and not is_locator(question)
        tokens = background.do(partial(question_tokens, question)) if is_korean else None
        from penstock.passes.search import search_out

        return search_out(out, question, options, background, tokens)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of the command line as they are typed."""

    top: int
    document: list[str] | None
    pages: str | None
    label: list[str] | None
    section: list[str] | None
    where: list[str] | None
    weights: str | None
    api_key: str | None = field(repr=False)
    rerank: str
    rerank_model: str
    rerank_key: str | None = field(repr=False)

    def options(self) -> SearchOptions:
        filters = Filters(
            documents=tuple(self.document or ()),
            pages=PageRange.parse(self.pages) if self.pages else None,
            labels=tuple(self.label or ()),
            sections=tuple(self.section or ()),
            where=tuple(self.where or ()),
        )
        return SearchOptions(
            top=self.top, filters=filters, weights=_weights(self.weights), api_key=self.api_key,
            rerank=self.rerank, rerank_model=self.rerank_model, rerank_key=self.rerank_key,
        )  # fmt: skip


def _warn(found: SearchResult, filters: Filters) -> None:
    """Says on standard error why less was found than could have been."""
    if found.is_stale:
        print("The run was embedded anew: only words were compared. Run: penstock index OUT", file=sys.stderr)
    for name in set(filters.documents) - set(found.documents) if found.documents else ():
        known = found.documents
        shown = ", ".join(known[:MAX_SHOWN]) + (", ..." if len(known) > MAX_SHOWN else "")
        print(f"There is no document {name!r} in the index. It has: {shown}.", file=sys.stderr)


def show(hits: list[Hit]) -> None:
    """Prints three lines a hit: where it stands, under which titles, and the words that answer."""
    coloured = _is_coloured(sys.stdout)
    width = shutil.get_terminal_size().columns - 4 if sys.stdout.isatty() else sys.maxsize
    for place, hit in enumerate(hits, 1):
        text = _printable(hit.snippet)
        section = _printable(hit.section)
        lines = [_where(hit), "" if section.endswith(text.replace("**", "")) else section, text]
        shown = f"\n{' ' * 4}".join(part for line in lines if line for part in wrapped(line, width))
        shown = _marked(shown, coloured)
        print(f"{place:>2}. {shown}")


def wrapped(text: str, width: int) -> list[str]:
    """Returns the text in lines of at most `width` columns, cut between words; marks take no room."""
    lines, room = [""], width
    for word in text.split(" "):
        letters = word.replace("**", "")
        columns = len(letters) + sum(east_asian_width(letter) in "WF" for letter in letters)
        if columns > room and lines[-1]:
            lines.append("")
            room = width
        lines[-1] += f" {word}" if lines[-1] else word
        room -= columns + 1
    return lines


def _is_coloured(stream: TextIO) -> bool:
    """Whether escape sequences may be written: in a terminal where NO_COLOR is not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _marked(snippet: str, coloured: bool) -> str:
    """Words between ** in bold on a terminal; elsewhere the ** stay, so that a pipe loses nothing."""
    return _MARKED.sub(rf"{BOLD}\1{PLAIN}", snippet) if coloured else snippet


def _where(hit: Hit) -> str:
    """`report.pdf, page 3, at the top right: table`, and the crop where there is one."""
    place = f", {_place_on_page(hit.box)}: {plain_label(hit.label or 'text')}" if hit.box else ""
    crop = f" ({hit.crop})" if hit.crop else ""
    run = f" ({hit.out})" if hit.out else ""
    return _printable(f"{hit.document}{run}, page {hit.page}{place}{crop}")


def _place_on_page(box: tuple[int, ...]) -> str:
    """Returns where the middle of a box stands; its numbers are on a grid of 1,000 each way."""
    across, down = (box[0] + box[2]) // 2, (box[1] + box[3]) // 2
    height = ("at the top", "in the middle", "at the bottom")[min(2, down * 3 // 1000)]
    is_wide = box[2] - box[0] > HALF_PAGE
    side = "" if is_wide else (" left", "", " right")[min(2, across * 3 // 1000)]
    return height + side


def _printable(text: str) -> str:
    """In one line, without control characters: a document must not speak to the terminal."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _weights(text: str | None) -> dict[str, float]:
    chosen = {}
    for part in words(text or ""):
        name, _, value = part.partition("=")
        try:
            chosen[name] = float(value)
        except ValueError:
            raise UsageError(f"--weights {part} is not a source and a number.") from None
    return chosen
