"""Addresses are written and read back without loss, and nothing else passes for one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.addresses.locator import Locator, is_locator
from penstock.errors import UsageError

NUMBERS = st.integers(0, 10**8)
DOCUMENTS = st.text(min_size=1).filter(
    lambda name: not any("\ud800" <= letter <= "\udfff" for letter in name)
)
PLACES = st.one_of(
    st.just({}),
    st.builds(lambda n: {"chunk": n}, NUMBERS),
    st.builds(lambda p: {"page": p + 1}, NUMBERS),
    st.builds(lambda p, n: {"page": p + 1, "thing": n}, NUMBERS, NUMBERS),
    st.builds(lambda p, n: {"page": p + 1, "region": n}, NUMBERS, NUMBERS),
    st.builds(lambda p, n, line: {"page": p + 1, "region": n, "line": line}, NUMBERS, NUMBERS, NUMBERS),
    st.builds(lambda p, r, c: {"page": p + 1, "region": r, "cell": (c, r)}, NUMBERS, NUMBERS, NUMBERS),
)


@given(DOCUMENTS, PLACES)
def test_a_locator_is_ascii_without_spaces_and_comes_back_as_it_was(
    document: str, place: dict[str, Any]
) -> None:
    locator = Locator(document=document, **place)
    assert re.fullmatch(r"penstock:[A-Za-z0-9%/._~-]+", str(locator))
    assert Locator.parse(str(locator)) == locator


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("penstock:보고서.pdf/p3", Locator(document="보고서.pdf", page=3)),
        ("penstock:a%2Fb.pdf", Locator(document="a/b.pdf")),
        ("penstock:a.pdf/c12", Locator(document="a.pdf", chunk=12)),
        (" penstock:a.pdf/p1/r0/c2.10\n", Locator(document="a.pdf", page=1, region=0, cell=(2, 10))),
    ],
)
def test_what_people_type_is_understood(written: str, meant: Locator) -> None:
    assert Locator.parse(written) == meant


@pytest.mark.parametrize(
    "text",
    ["penstock:", "report.pdf/p3", "penstock:a.pdf/p0", "penstock:a.pdf/r3", "penstock:a/b.pdf/p1",
     "penstock:a.pdf/p1/r1/c2", "penstock:a.pdf/p1/r1/", "penstock:a.pdf/p9999999999"],
)  # fmt: skip
def test_other_words_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"not a locator") as refused:
        Locator.parse(text)
    assert "penstock:report.pdf/p3/r7" in refused.value.advice


def test_a_question_about_penstocks_is_no_locator() -> None:
    assert not is_locator("what is a penstock: a pipe?")
    assert is_locator("penstock:a.pdf/p1")
