"""Cuts what a model wrote over and over.

A loop that ends a text is cut by its shortest period; lines and blocks repeated many times in a row are
kept once. The common case, no loop, costs one search for the text's last characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from penstock.repetition import Patience, cut_near_end

WINDOW = 4_096  # how far back a loop is looked for; longer units are caught as repeated lines or blocks
MAX_EQUAL_LINES = 8  # the same line this often in a row: a form's dotted lines are fewer
# 200 characters: "ha ha ha ha ha" is no loop
PATIENCE = Patience(copies=5, characters=200, long_copies=5, long_characters=200, blank_characters=200)


def cut_tail(text: str) -> tuple[str, bool]:
    """Returns the text up to and with the first unit of the loop that ends it, and whether there was one."""
    cut, looped = cut_near_end(text.rstrip(), WINDOW, PATIENCE)
    return (cut, True) if looped else (text, False)


def cut_lines(text: str) -> tuple[str, bool]:
    """Returns the text with runs of one and the same line kept once."""
    if text.count("\n") < MAX_EQUAL_LINES:
        return text, False
    kept: list[str] = []
    cut = False
    for line, run in groupby(text.split("\n")):
        times = sum(1 for _ in run)
        looped = times > MAX_EQUAL_LINES and bool(line.strip())
        cut = cut or looped
        kept.extend([line] * (1 if looped else times))
    return ("\n".join(kept), True) if cut else (text, False)


def runs(keys: Sequence[object]) -> list[tuple[int, int]]:
    """(start, length) of every run of equal keys."""
    found, start = [], 0
    for _, run in groupby(keys):
        length = sum(1 for _ in run)
        found.append((start, length))
        start += length
    return found
