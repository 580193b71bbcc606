"""Keeps track of which machine has which items of one listing, and gives out again what a dead one had.

An item that was with a machine when it died goes to another. After a second death it goes alone, so that a
page that kills machines takes no other page with it. Bookkeeping only: no clock, no network.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from penstock.errors import Failure
from penstock.executors.channel import Channel
from penstock.item import Item

ALONE = 2  # deaths after which an item is a suspect
GIVEN_UP = 3
MAX_WIDER = 4  # times the window of a plan: what a machine may hold, and lose


class Handout:
    """Gives a machine at most `window` items of `source`, more where one runs dry; notes what came back."""

    def __init__(self, source: Channel[Item], window: int) -> None:
        self._source = source
        self._window = window
        self._again: deque[Item] = deque()
        self._suspects: deque[Item] = deque()
        self._held: dict[str, dict[str, Item]] = {}
        self._windows: dict[str, int] = {}  # of machines that ran dry: they get more at once
        self._deaths: dict[str, int] = {}
        self._finished: dict[str, int] = {}  # of those held: they only wait to be published

    def next_for(self, machine: str) -> list[Item]:
        """Returns the items this machine gets now; none while it has enough, or has a suspect."""
        held = self._held.setdefault(machine, {})
        if any(self._deaths.get(item_id, 0) >= ALONE for item_id in held):
            return []
        if not held and self._suspects:
            given = [self._suspects.popleft()]
        else:
            given = self._fresh(self._windows.get(machine, self._window) - self.at_work(machine))
        held.update((item.id, item) for item in given)
        return given

    def came_back(self, machine: str, items: Iterable[Item], finished: int = 0) -> None:
        """Notes items that are done; so many more are `finished`, and lost if the machine dies now."""
        self._finished[machine] = finished
        for item in items:
            del self._held[machine][item.id]
            self._deaths.pop(item.id, None)
        if not self.at_work(machine):  # faster than we ask
            wider = 2 * self._windows.get(machine, self._window)
            self._windows[machine] = min(wider, MAX_WIDER * self._window)

    def lost(self, machine: str) -> list[Item]:
        """Gives out again what a dead machine had. Returns the items that are given up."""
        given_up = []
        for item in self._held.pop(machine, {}).values():
            deaths = self._deaths[item.id] = self._deaths.get(item.id, 0) + 1
            if deaths >= GIVEN_UP:
                given_up.append(_failed(item))
            elif deaths >= ALONE:
                self._suspects.append(item)
            else:
                self._again.append(item)
        return given_up

    def at_work(self, machine: str) -> int:
        return self.held(machine) - self._finished.get(machine, 0)

    def held(self, machine: str) -> int:
        return len(self._held.get(machine, ()))

    @property
    def out(self) -> int:
        """Items that are with a machine or wait to be given out again."""
        return sum(map(len, self._held.values())) + len(self._again) + len(self._suspects)

    def _fresh(self, most: int) -> list[Item]:
        again = [self._again.popleft() for _ in range(min(most, len(self._again)))]
        room = most - len(again)
        return again + (self._source.take(room) if room > 0 and len(self._source) else [])


def _failed(item: Item) -> Item:
    failure = Failure(
        stage="ray",
        kind="WorkerDied",
        message=f"The machine that worked on it died {GIVEN_UP} times, at last with nothing else on it.",
        advice="Look at its memory and its system log; --retry-failed tries again.",
    )
    return replace(item, failure=failure)
