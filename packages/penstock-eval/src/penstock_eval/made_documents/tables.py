"""Grows tables: spans, lines and tables inside of cells, numbers with formats."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

from penstock_eval.made_documents.tree import Grid, GridCell, Number
from penstock_eval.made_documents.words import phrase

EPOCH = date(
    1899, 12, 30
)  # day 0 of sheets, as ECMA-376 part 1, 18.17.4.1 has it for days after February 1900
MAX_TRIES = 12


def grow_table(random: Random, language: str, features: frozenset[str], *, may_nest: bool = True) -> Grid:
    height, width = random.randint(3, 6), random.randint(3, 5)
    spans = _spans(random, height, width) if "spans" in features else {}
    covered = {
        (row + down, column + across)
        for (row, column), (tall, wide) in spans.items()
        for down in range(tall)
        for across in range(wide)
        if down or across
    }
    nested = (random.randrange(1, height), random.randrange(width)) if "nested table" in features else None
    cells = []
    for row in range(height):
        for column in range(width):
            if (row, column) in covered:
                continue
            tall, wide = spans.get((row, column), (1, 1))
            holds_table = may_nest and (row, column) == nested
            cells.append(_cell(random, language, features, row, column, tall, wide, holds_table))
    return Grid(height, width, tuple(cells))


def _cell(
    random: Random,
    language: str,
    features: frozenset[str],
    row: int,
    column: int,
    tall: int,
    wide: int,
    holds_table: bool,
) -> GridCell:
    if holds_table:
        inner = grow_small_table(random, language)
        return GridCell(row, column, (phrase(random, language, 1, 2),), tall, wide, table=inner)
    if row and column and "numbers" in features and random.random() < 0.7:
        return GridCell(row, column, (), tall, wide, number=grow_number(random))
    lines = 2 if row and "lines in cells" in features and random.random() < 0.4 else 1
    return GridCell(row, column, tuple(phrase(random, language, 1, 3) for _ in range(lines)), tall, wide)


def grow_small_table(random: Random, language: str) -> Grid:
    cells = [
        GridCell(row, column, (phrase(random, language, 1, 2),)) for row in range(2) for column in range(2)
    ]
    return Grid(2, 2, tuple(cells))


def _spans(random: Random, height: int, width: int) -> dict[tuple[int, int], tuple[int, int]]:
    """Returns where cells over several rows or columns begin. No row and no column is all under spans."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    taken: set[tuple[int, int]] = set()
    for _ in range(MAX_TRIES):
        tall, wide = random.choice([(1, 2), (2, 1), (2, 2), (1, 3), (3, 1)])
        if tall >= height or wide >= width or len(found) == 3:
            continue
        row, column = random.randint(0, height - tall), random.randint(0, width - wide)
        if row == 0 and tall > 1:
            continue  # the head row repeats on every page: no program lets it hang together with the next
        places = {(row + down, column + across) for down in range(tall) for across in range(wide)}
        wider = {(r + dr, c + dc) for r, c in places for dr in (-1, 0, 1) for dc in (-1, 0, 1)}
        if wider & taken:
            continue
        taken |= places
        found[row, column] = (tall, wide)
    return found


def grow_number(random: Random) -> Number:
    """Returns a number in one of the formats that sheets are full of."""
    kind = random.choice(["whole", "money", "share", "date", "plain"])
    if kind == "whole":
        value = random.randint(1000, 9_999_999)
        return Number(value, "#,##0", f"{value:,}")
    if kind == "money":
        cents = random.randint(100, 999_999)
        return Number(cents / 100, "#,##0.00", f"{cents / 100:,.2f}")
    if kind == "share":
        tenths = random.randint(1, 999)
        return Number(tenths / 1000, "0.0%", f"{tenths / 10:.1f}%", "percentage")
    if kind == "date":
        day = date(2001, 1, 1) + timedelta(days=random.randint(0, 9000))
        return Number((day - EPOCH).days, "yyyy\\-mm\\-dd", day.isoformat(), "date")
    value = random.randint(1, 999)
    return Number(value, "General", str(value))
