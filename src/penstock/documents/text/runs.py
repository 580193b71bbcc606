"""Puts things that follow each other into runs: lines into paragraphs, words into cells, cells into rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Thing = TypeVar("Thing")


def runs_of(things: Iterable[Thing], goes_on: Callable[[list[Thing], Thing], bool]) -> list[list[Thing]]:
    """Returns the things in their order; each joins the run before it where it goes on with that one."""
    runs: list[list[Thing]] = []
    for thing in things:
        if runs and goes_on(runs[-1], thing):
            runs[-1].append(thing)
        else:
            runs.append([thing])
    return runs
