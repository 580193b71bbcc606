"""Numbers and dates of sheets are shown as the sheet's own program shows them."""

from __future__ import annotations

import pytest

from penstock.engines.office.ooxml.number_formats import BUILT_IN, shown_value

DAY = 45_296.646354166667  # 2024-01-05 15:30:45, a Friday


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ('yyyy"년" m"월" d"일"', "2024년 1월 5일"),
        ("dd.mm.yyyy", "05.01.2024"),
        ("m/d/yy", "1/5/24"),
        ("yyyy\\-mm\\-dd;@", "2024-01-05"),
        ("yyyy-mm-dd hh:mm:ss", "2024-01-05 15:30:45"),
        ("h:mm AM/PM", "3:30 PM"),
        ("[$-412]AM/PM h:mm", "오후 3:30"),
        ("mm:ss.0", "30:45.0"),
        ("mmm d, yyyy", "Jan 5, 2024"),
        ("ddd, d mmmm yyyy", "Fri, 5 January 2024"),
        ("yyyy/mm/dd (aaa)", "2024/01/05 (금)"),
        ("[$-411]aaaa", "金曜日"),
        ('[$-412]yyyy"년" mmm', "2024년 1"),
        (BUILT_IN[15], "5-Jan-24"),
        (BUILT_IN[31], "2024년 01월 05일"),
        (BUILT_IN[46], "1087119:30:45"),
    ],
)
def test_a_date_is_shown_by_its_format(form: str, shown: str) -> None:
    assert shown_value(str(DAY), form) == shown


@pytest.mark.parametrize(
    ("number", "form", "shown"),
    [
        ("1.5625", "[h]:mm:ss", "37:30:00"),
        ("0.0104166667", "[m]", "15"),
        ("42", "0000", "0042"),
        ("5551234", "000-0000", "555-1234"),
        ("5551234", "[<=9999999]000-0000;(000) 000-0000", "555-1234"),
        ("8212345678", "[<=9999999]000-0000;(000) 000-0000", "(821) 234-5678"),
        ("2.25", "# ?/?", "2 1/4"),
        ("0.5", "# ?/8", "4/8"),
        ("0.3333333", "?/?", "1/3"),
        ("1234567", '#,##0,"천"', "1,235천"),
        ("0.125", "0.00", "0.13"),
        ("1234.5", "#,##0.0#", "1,234.5"),
        ("12", "00,000", "00,012"),
        ("-1234", "#,##0;[Red](#,##0)", "(1,234)"),
        ("-1234", "#,##0;[Red]#,##0", "-1,234"),
        ("-1234", "#,##0;▲#,##0", "▲1,234"),
        ("-0.001", "0.00", "-0.00"),
        ("3", 'General"원"', "3원"),
        ("-3", "0;;0", "-3"),
        ("1e27", "0." + "0" * 300, "1" + "0" * 27 + "." + "0" * 253),
        ("0", '0.0;-0.0;"-"', "-"),
        ("0", '#,##0;-#,##0;""', ""),
        ("0.256", "0.0%", "25.6%"),
        ("42", "0.00E+00", "4.20E+01"),
        ("42", "[$₩-412]#,##0", "₩42"),
        ("42", '"No. "0', "No. 42"),
        ("0.5", "#.##", ".5"),
        ("12345678901234567890", "0", "12345678901234567000"),
        ("1e300", "0.00", "1e+300"),
        ("-5", "[<0]-0.0;0", "-5.0"),
        ("-5", "[<=9]0.0;0", "-5.0"),
        ("nan", "0", "nan"),
        ("1e999", "yyyy", "1e999"),
        ("-3", "yyyy-mm-dd", "-3"),
        ("abc", "0", "abc"),
    ],
)
def test_a_number_is_shown_by_its_format(number: str, form: str, shown: str) -> None:
    assert shown_value(number, form) == shown


def test_days_are_counted_from_1904_where_the_file_says_so() -> None:
    assert shown_value("1", "yyyy-mm-dd", is_1904=True) == "1904-01-02"


def test_a_format_of_any_letters_is_no_error() -> None:
    for form in ("[", '"', "\\", "0/0/0", "?/", "E+", "[>]0", "[h", ";;;", "[>x]0", "%%%", ",,,0", "0.0.0"):
        for number in ("0", "-1.5", "45296.5", "1e20"):
            shown_value(number, form)
