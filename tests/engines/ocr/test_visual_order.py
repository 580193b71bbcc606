"""Lines of Arabic and Hebrew as they are seen and as they are written."""

from __future__ import annotations

import pytest

from penstock.engines.ocr.visual_order import turned

LINES = [
    ("plain text (of 3 words)", "plain text (of 3 words)"),
    ("привет 12:30", "привет 12:30"),
    ("שלום", "םולש"),
    ("שלום (עולם)", "(םלוע) םולש"),
    ("עלה 12.50 ₪ ביום", "םויב ₪ 12.50 הלע"),
    ("הנחה 50% היום", "םויה 50% החנה"),
    ("بنسبة 50% اليوم", "مويلا %50 ةبسنب"),
    ("يوم ١٢/٠٥/٢٠٢٤", "١٢/٠٥/٢٠٢٤ موي"),
    ("افتح user@example.org الآن", "نآلا user@example.org حتفا"),
    ("גרסה Visual Studio Code 2024 חדשה", "השדח Visual Studio Code 2024 הסרג"),
    ("Press אישור, then OK and go", "Press רושיא, then OK and go"),
    ("The words שלום 12 עולם and לא here", "The words םלוע 12 םולש and אל here"),
]


@pytest.mark.parametrize(("written", "seen"), LINES)
def test_a_line_is_turned_there_and_back(written: str, seen: str) -> None:
    assert turned(written)[0] == seen
    assert turned(seen)[0] == written


def test_marks_stay_on_their_letters() -> None:
    assert turned("كُتِب")[0] == "بتِكُ"
    assert turned("بتِكُ")[0] == "كُتِب"


def test_each_character_tells_where_it_stood() -> None:
    text, order = turned("אב 12")
    assert text == "12 בא" and order == [3, 4, 2, 1, 0]


def test_nothing_stays_nothing() -> None:
    assert turned("") == ("", [])
