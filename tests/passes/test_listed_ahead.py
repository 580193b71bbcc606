"""Listing ahead of a run: order, bound, errors in their place, and that it ends with the run."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from penstock.driver import Tally
from penstock.errors import UsageError
from penstock.executors.channel import Closed
from penstock.item import Item
from penstock.passes import listed_ahead as module
from penstock.passes.listed_ahead import listed_ahead


def items(count: int, closed: list[bool] | None = None) -> Iterator[Item]:
    try:
        for number in range(count):
            yield Item(id=str(number), uri="a.pdf", document="a", part=number)
    finally:
        if closed is not None:
            closed.append(True)


def ahead_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "list-ahead"]


def test_the_total_is_known_while_the_first_item_is_read() -> None:
    tally, ended = Tally(), threading.Event()

    def end() -> None:
        tally.find_no_more()
        ended.set()

    with listed_ahead(items(500), tally.find, end) as listing:
        first = next(listing)
        assert ended.wait(10)
        assert (first.part, tally.total, tally.is_total_final) == (0, 500, True)
        assert [item.part for item in listing] == list(range(1, 500))
    assert not ahead_threads()


def test_no_more_than_a_bounded_number_waits_and_the_total_says_that_it_grows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_AHEAD", 10)
    tally = Tally()
    closed: list[bool] = []
    with listed_ahead(items(1000, closed), tally.find, tally.find_no_more) as listing:
        next(listing)
        assert not tally.is_total_final
        assert tally.found <= 12  # ten that wait, one that was taken, one that is held
    assert closed == [True]
    assert not ahead_threads()


@pytest.mark.parametrize("error", [UsageError("The list ends here."), Closed("ends here")])
def test_an_error_of_the_listing_is_raised_after_what_came_before_it(error: Exception) -> None:
    def broken() -> Iterator[Item]:
        yield from items(2)
        raise error

    with listed_ahead(broken(), lambda: None, lambda: None) as listing:
        assert [next(listing).part, next(listing).part] == [0, 1]
        with pytest.raises(type(error), match="ends here"):
            next(listing)
