"""Loops are cut while they are being written, and documents are not."""

from __future__ import annotations

import random
import re

import pytest

from penstock.documents.grounding.repetition import cut_tail
from penstock.repetition import LoopWatch, cut, find_loop, says_something
from tests.support.effort import cpu_seconds

PROSE = " ".join(f"word{i} says {i * 7919 % 1009}" for i in range(400))


def feed_all(text: str, step: int = 7) -> LoopWatch:
    watch = LoopWatch()
    for start in range(0, len(text), step):
        if watch.feed(text[start : start + step]):
            break
    return watch


@pytest.mark.parametrize(
    "unit", ["again and ", "다시 한번 읽어 보면 ", "<tr><td>0</td><td>1</td></tr>", "x" * 300 + "y"]
)
def test_a_loop_is_cut_to_one_copy(unit: str) -> None:
    watch = feed_all(PROSE + unit * 200)
    assert watch.loop is not None
    assert watch.kept().startswith(PROSE)
    assert len(watch.kept()) <= len(PROSE) + len(unit)
    assert re.sub(r"\s+", " ", unit).strip()[:5] in watch.kept()[len(PROSE) - 10 :] + unit


def test_a_loop_is_cut_soon() -> None:
    watch = feed_all(PROSE + "the same row again; " * 5_000)
    assert len(watch.text()) < len(PROSE) + 4_000


def test_a_long_paragraph_that_repeats_is_a_loop() -> None:
    paragraph = PROSE[:2_500] + "\n\n"
    watch = feed_all(paragraph * 20)
    assert watch.loop is not None
    assert watch.loop.period == len(paragraph)
    assert len(watch.text()) <= 20_000


def test_prose_is_no_loop() -> None:
    assert feed_all(PROSE * 1).loop is None


def test_dot_leaders_and_blank_cells_are_no_loop() -> None:
    leaders = "".join(f"Chapter {i} {'.' * 150} {i * 3}\n" for i in range(60))
    form = "<table>" + "<tr><td></td><td></td><td></td></tr>" * 60 + "</table>"
    assert feed_all(leaders).loop is None
    assert feed_all(form).loop is None


def test_blank_cells_without_end_are_a_loop() -> None:
    watch = feed_all("<table><tr><td>Name</td>" + "<td></td>" * 3_000)
    assert watch.loop is not None
    assert watch.kept().startswith("<table><tr><td>Name</td>")
    assert len(watch.kept()) < 60


def test_a_numbered_list_is_no_loop() -> None:
    assert feed_all("".join(f"{i}. same words here\n" for i in range(2_000))).loop is None


def test_a_finished_text_is_cut_too() -> None:
    text, looped = cut(PROSE + " over and out" * 90)
    assert looped
    assert len(text) < len(PROSE) + 30
    assert cut(PROSE) == (PROSE, False)


def test_a_unit_says_something_wherever_it_is_cut() -> None:
    assert not any(says_something(("<td></td>" * 2)[i : i + 9]) for i in range(9))
    assert all(says_something(("<td>7</td>" * 2)[i : i + 10]) for i in range(10))
    assert not says_something("._ ")


def test_agrees_with_the_definition_on_random_texts() -> None:
    chance = random.Random(3)
    for _ in range(30):
        unit = "".join(chance.choices("ab c", k=chance.randint(1, 60)))
        text = PROSE[:50] + unit * (2_000 // len(unit))
        found = find_loop(text)
        if found is None:
            assert not says_something(unit)
            continue
        tail = text[found.start :]
        assert tail[found.period :] == tail[: -found.period]
        assert len(tail) >= 2_000 - len(unit)


@pytest.mark.parametrize("kind", ["a", "ab", "prose"])
def test_time_grows_with_the_text_not_with_its_square(kind: str) -> None:
    def seconds(length: int) -> float:
        text = (PROSE * 40)[:length] if kind == "prose" else "".join(random.Random(1).choices(kind, k=length))
        if kind == "a":
            text = "." * length  # says nothing: looked at again and again

        def feed() -> None:
            watch = LoopWatch()
            for start in range(0, length, 64):
                watch.feed(text[start : start + 64])

        return min(cpu_seconds(feed) for _ in range(3))

    seconds(2_000)
    short, long = seconds(20_000), seconds(160_000)
    assert long < 8 * 4 * max(short, 0.005)  # a square would be 64 times as much


def test_a_loop_that_begins_before_the_window_keeps_one_unit() -> None:
    unit = "the same seventeen or so words again, "
    assert cut_tail("Before:" + unit * 400) == ("Before:" + unit, True)
