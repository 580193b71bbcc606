"""How far two readers agree, and what that is worth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from penstock.documents.confidence.answers import answer_confidence, answer_signals
from penstock.documents.confidence.calibration import LINE_FEATURES, LINES, likely_right, line_features
from penstock.documents.confidence.comparison import agreement, digits_agreed, distance, script_agreed
from penstock.documents.confidence.signals import as_line, signals_of
from penstock.region import TextLine

TEXTS = st.text("ab가1", max_size=9)


@given(TEXTS, TEXTS)
def test_the_distance_is_levenshteins_and_within_a_text_that_of_its_nearest_part(a: str, b: str) -> None:
    assert distance(a, b) == Levenshtein.distance(a, b)
    parts = (b[start:end] for start in range(len(b) + 1) for end in range(start, len(b) + 1))
    assert distance(a, b, within=True) == min(Levenshtein.distance(a, part) for part in parts)


def test_letters_numbers_and_scripts_are_compared_apart() -> None:
    assert agreement("Total 12.50", "Total12.60") == pytest.approx(0.9)
    assert agreement("<table><tr><td>쌀</td></tr></table>", "쌀") == 1.0
    assert digits_agreed("12.50 on 2026-11-19", "12.60 on 2026-11-19") == 0.5
    assert digits_agreed("no number", "12") is None
    assert script_agreed("Москва", "Mockва") == pytest.approx(2 / 6)
    assert agreement("", "") == 1.0 and script_agreed("12", "x") is None


def line(text: str = "a line of text", sure: float = 0.97, **more: object) -> TextLine:
    return TextLine(text, (0, 0, 9, 9), sure, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("reader", list(LINES))
def test_a_line_is_likelier_right_the_surer_its_network_and_its_second_reader_are(reader: str) -> None:
    assert len(line_features(line())) == len(LINE_FEATURES)
    low, high = likely_right(line(sure=0.5, reader=reader)), likely_right(line(sure=0.99, reader=reader))
    assert 0 < low < high < 1
    same = likely_right(line(reader=reader, other="a line of text"))
    other = likely_right(line(reader=reader, other="o 1jme at fexf"))
    assert other < same or (reader == "scripts" and other == same)  # its lines are looked at once


def test_each_word_of_a_line_is_as_sure_as_its_letters() -> None:
    sures = (*[0.99] * 5, *[0.99, 0.4, 0.9, 0.99, 0.9])
    read = line("Total 12.50", 0.92, sures=sures)
    total, sum_ = as_line(read).words
    assert sum_ < as_line(read).confidence < total  # type: ignore[operator]
    assert as_line(line("Total 12.50", 0.92, sures=sures[1:])).words == ()  # letters were changed since
    assert as_line(line("Total 12.50")).words == ()


def test_what_a_second_look_read_is_kept_only_where_it_differs() -> None:
    assert as_line(line(other="a lineof text")).other == ""
    assert as_line(line(other="a 1ine of text")).other == "a 1ine of text"
    signals = signals_of([line("1,200", 0.9, other="1,260"), line("ten", 0.8)])
    assert signals is not None and (signals.weakest, signals.digits) == (0.8, 0.0)
    assert signals.network == pytest.approx(0.8625) and signals.agreement == pytest.approx(0.8)
    assert signals_of([]) is None


def test_an_answer_that_repeats_or_refuses_or_is_alone_is_doubted() -> None:
    good = answer_confidence(answer_signals("Total 12.50", "stop", "Total 12.50", "builtin"))
    other = answer_confidence(answer_signals("Total 12.50", "stop", "Tolal 17.60", "builtin"))
    marked = answer_signals("I'm sorry, but I can't read this picture.", "length")
    assert marked.marks == ("cut off", "refused")
    bad = answer_confidence(marked)
    assert good is not None and other is not None and bad is not None
    assert good > other > bad
    assert answer_confidence(answer_signals("Total", "stop")) is None  # nobody said anything of it
    assert answer_signals("I'm sorry for your loss. " * 30, "stop").marks == ()
