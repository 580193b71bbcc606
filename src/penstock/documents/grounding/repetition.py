"""Cuts what a model wrote over and over.

A loop that ends a text is cut by its shortest period; lines and blocks repeated many times in a row are
kept once. The common case, no loop, costs one search for the text's last characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

PROBE = 24  # characters at the end that a looping text must hold several times
WINDOW = 4_096  # how far back a period is looked for
MAX_PERIOD = 1_200  # characters; longer units are caught as repeated lines or blocks
MIN_TIMES = 5
MIN_LENGTH = 200  # characters of repetition: "ha ha ha ha ha" is no loop
MAX_EQUAL_LINES = 8  # the same line this often in a row: a form's dotted lines are fewer


def cut_tail(text: str) -> tuple[str, bool]:
    """Returns the text up to and with the first unit of the loop that ends it, and whether there was one."""
    body = text.rstrip()
    tail = body[-WINDOW:]
    if len(tail) < MIN_LENGTH or tail.count(tail[-PROBE:]) < 2:
        return text, False
    length = _looping(tail)
    if not length:
        return text, False
    period, run = length
    # the loop may begin before the window
    start = len(body) - run
    while start >= period and body[start - period : start] == body[start : start + period]:
        start -= period
    return body[: start + period], True


def _looping(tail: str) -> tuple[int, int] | None:
    """Period and length of the repetition that ends `tail`, or None."""
    reverse = tail[::-1]
    borders = _borders(reverse[:WINDOW])
    best: tuple[int, int] | None = None
    for length in range(MIN_LENGTH, len(reverse) + 1):
        period = length - borders[length - 1]
        if period <= MAX_PERIOD and length >= MIN_TIMES * period and length >= MIN_LENGTH:
            best = (period, length)
    return best


def _borders(text: str) -> list[int]:
    """For each prefix, its longest proper border (the failure function of Knuth, Morris and Pratt)."""
    borders = [0] * len(text)
    length = 0
    for i in range(1, len(text)):
        while length and text[i] != text[length]:
            length = borders[length - 1]
        length += text[i] == text[length]
        borders[i] = length
    return borders


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
