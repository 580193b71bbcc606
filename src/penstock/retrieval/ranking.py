"""Puts rankings of pages together by their ranks: a page's score is the sum of weight / (60 + rank)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.addresses.locator import Locator
from penstock.retrieval.hits import CHUNKS, PAGES, Filters, Hit

RANK_OFFSET = 60  # Cormack et al. 2009: the first ranks count, but none decides alone
CANDIDATES = 50  # of each source
ANSWERS = ("region_bm25", "chunk_bm25", "region")  # what tells of a page which part of it was meant

Row = Mapping[str, Any]  # of a table, with the columns that a hit shows


@dataclass(frozen=True, slots=True)
class Match:
    """A row that speaks for a page. `row` is the table's own number of it, for taking it out fast."""

    page_id: str
    rank: int
    value: float
    table: str
    row: int


Ranked = dict[str, Match]  # by page


def ranked(table: str, found: Iterable[tuple[int, float, Iterable[str]]]) -> Ranked:
    """Returns pages by their first place; of several regions or chunks of one page the best counts.

    `found` are a table's rows, the best first: number, value, ids of pages.
    """
    places: Ranked = {}
    rank = 0
    for row, value, page_ids in found:
        new = [id for id in page_ids if id not in places]
        rank += bool(new)  # all pages of one chunk share its rank: it does not say which one is meant
        places |= {id: Match(id, rank, value, table, row) for id in new}
    return places


def pages_of(table: str, row: Row, filters: Filters) -> Iterator[str]:
    """Yields the ids of the pages that a row of a table speaks for, as far as they pass."""
    if table != CHUNKS:
        yield row["id" if table == PAGES else "page_id"]
        return
    pages = zip(row["page_ids"], row["pages"], strict=True)
    yield from (id for id, page in pages if filters.has_page(page))


def fused(rankings: Mapping[str, Ranked], weights: Mapping[str, float], top: int) -> dict[str, float]:
    """Returns the scores of the best pages, the best first."""
    scores: dict[str, float] = defaultdict(float)
    for name, places in rankings.items():
        for id, one in places.items():
            scores[id] += weights[name] / (RANK_OFFSET + one.rank)
    return {id: scores[id] for id in sorted(scores, key=lambda id: (-scores[id], id))[:top]}


def hits_of(
    scores: Mapping[str, float],
    rankings: Mapping[str, Ranked],
    rows_of: Callable[[Sequence[Match]], Mapping[tuple[str, int], Row]],
    snippet: Callable[[str], str],
) -> list[Hit]:
    """Returns a hit for each page of `scores`. `rows_of` takes rows out of their tables, all at once."""
    answers = {id: _answer(id, rankings) for id in scores}
    rows = rows_of(list(answers.values()))
    return [
        _hit(id, scores[id], rankings, rows[answer.table, answer.row], snippet)
        for id, answer in answers.items()
    ]


def _hit(
    id: str, score: float, rankings: Mapping[str, Ranked], row: Row, snippet: Callable[[str], str]
) -> Hit:
    pages = dict(zip(row.get("page_ids", [id]), row.get("pages", [row["page"]]), strict=True))
    return Hit(
        page_id=id,
        document=row["document"],
        page=pages[id],
        score=round(score, 6),
        snippet=snippet(row["text"]),
        sources={name: _place(places[id]) for name, places in rankings.items() if id in places},
        section=row.get("section", ""),
        pages=tuple(row.get("pages", ())),
        text=row["text"],
        locator=str(Locator(document=row["document"], page=pages[id], region=row.get("index"))),
        **_part(row),
    )


def _answer(page: str, rankings: Mapping[str, Ranked]) -> Match:
    """Returns what answers best of a page: found by words, else by a vector, else the whole page."""
    names = (*ANSWERS, *rankings)
    return next(rankings[name][page] for name in names if page in rankings.get(name, {}))


def _part(row: Row) -> dict[str, Any]:
    names = {"region": "index", "label": "label", "crop": "crop"}
    box = row.get("box")
    return {**{name: row.get(column) for name, column in names.items()}, "box": tuple(box) if box else None}


def _place(one: Match) -> tuple[int, float]:
    return one.rank, round(one.value, 4)
