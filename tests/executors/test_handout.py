"""Items shared out over machines: each is out once, the lost are given again, a killer is found out."""

from __future__ import annotations

from penstock.executors.channel import Channel
from penstock.executors.handout import Handout
from penstock.item import Item


def handout(count: int, window: int) -> Handout:
    source: Channel[Item] = Channel(1000)
    for number in range(count):
        source.put(Item(id=str(number), uri="a", document="a", part=number))
    source.close()
    return Handout(source, window)


def ids(items: list[Item]) -> list[str]:
    return [item.id for item in items]


def test_a_machine_gets_its_window_and_more_only_when_something_came_back() -> None:
    work = handout(10, window=4)
    first = work.next_for("a")
    assert ids(first) == ["0", "1", "2", "3"]
    assert work.next_for("a") == []
    work.came_back("a", first[:1])
    assert ids(work.next_for("a")) == ["4"]
    assert ids(work.next_for("b")) == ["5", "6", "7", "8"]
    assert work.out == 8


def test_a_machine_that_runs_dry_gets_more_at_once_and_a_slow_one_does_not() -> None:
    work = handout(100, window=2)
    slow = work.next_for("slow")
    sizes = []
    for _ in range(5):
        given = work.next_for("fast")
        sizes.append(len(given))
        work.came_back("fast", given)
    assert sizes == [2, 4, 8, 8, 8]
    work.came_back("slow", slow[:1])
    assert len(work.next_for("slow")) == 1


def test_what_a_dead_machine_had_goes_to_another_before_anything_new() -> None:
    work = handout(10, window=3)
    work.next_for("a")
    assert work.lost("a") == []
    assert ids(work.next_for("b")) == ["0", "1", "2"]


def test_an_item_that_was_there_at_two_deaths_goes_alone_and_after_the_third_is_given_up() -> None:
    work = handout(4, window=2)
    for machine in ("a", "b"):
        assert ids(work.next_for(machine)) == ["0", "1"]
        assert work.lost(machine) == []
    [suspect] = work.next_for("c")
    assert suspect.id == "0"
    assert work.next_for("c") == [], "nothing beside a suspect"
    [failed] = work.lost("c")
    assert failed.id == "0"
    assert failed.failure is not None
    assert failed.failure.kind == "WorkerDied"
    [innocent] = work.next_for("d")
    work.came_back("d", [innocent])
    assert innocent.id == "1"
    assert ids(work.next_for("d")) == ["2", "3"]


def test_a_machine_at_work_is_not_given_a_suspect() -> None:
    work = handout(6, window=2)
    for machine in ("a", "b"):
        work.next_for(machine)
        work.lost(machine)
    work.next_for("c")  # "0", alone
    assert ids(work.next_for("d")) == ["1"], "the other suspect"
    assert ids(work.next_for("e")) == ["2", "3"]
    work.lost("c")
    assert work.out == 3


def test_a_machine_that_had_nothing_loses_nothing() -> None:
    work = handout(1, window=2)
    assert work.lost("never seen") == []
    assert work.out == 0
    assert work.held("never seen") == 0


def test_what_waits_to_be_published_keeps_nobody_waiting_and_is_lost_with_its_machine() -> None:
    work = handout(10, window=4)
    given = work.next_for("a")
    work.came_back("a", given[:1], finished=2)
    assert ids(work.next_for("a")) == ["4", "5", "6"]
    assert work.out == 6
    work.lost("a")
    assert ids(work.next_for("b"))[:3] == ["1", "2", "3"]
