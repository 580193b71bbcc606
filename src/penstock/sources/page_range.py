"""Which pages of each document to read: `3-9`, `1,4,10-`, `-5`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral

from penstock.errors import UsageError

LAST = 1 << 62  # an open end
MAX_PAGES = 50_000  # of a document; the longest that was ever printed have half of it
Pages = str | int | Iterable[int]  # "3-9", 3, [1, 3], range(3, 10)


@dataclass(frozen=True, slots=True)
class PageRange:
    """Spans of page numbers counted from 1, both ends included, sorted and apart.

    >>> list(PageRange.parse("2-3,5-").indices(6))
    [1, 2, 4, 5]
    """

    spans: tuple[tuple[int, int], ...]

    @classmethod
    def parse(cls, text: str) -> PageRange:
        """Raises UsageError for anything but numbers, spans and commas."""
        return cls(_merged(sorted(_span(part.strip(), text) for part in text.split(","))))

    def indices(self, count: int) -> Iterator[int]:
        """Yields the chosen pages of a document of `count` pages, counted from 0, in order."""
        for first, last in self.spans:
            yield from range(first - 1, min(last, count))

    def __contains__(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.spans)

    def __str__(self) -> str:
        return ",".join(f"{a}-{'' if b == LAST else b}" if a != b else str(a) for a, b in self.spans)

    @property
    def last(self) -> int:
        """The highest page asked for."""
        return self.spans[-1][1]


def pages_text(pages: Pages | None) -> str | None:
    """Returns pages as a range is written. Raises UsageError for what is no page number.

    >>> pages_text([1, 2, 5])
    '1-2,5'
    """
    if pages is None or isinstance(pages, str):
        return pages
    numbers = [pages] if isinstance(pages, int) else list(pages)
    wrong = [number for number in numbers if not _is_page_number(number)]
    if wrong or not numbers:
        what = f"{wrong[0]!r} is no page number." if wrong else "No page is chosen."
        raise UsageError(what, 'Pages count from 1: pages=3, pages=[1, 3], pages="3-9"; None is all.')
    return str(PageRange(_merged(sorted((int(number), int(number)) for number in numbers))))


def _is_page_number(number: object) -> bool:
    return (
        not isinstance(number, bool) and isinstance(number, Integral) and int(number) >= 1
    )  # numpy's are, too


def _span(part: str, whole: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,12})|(\d{1,12})?\s*-\s*(\d{1,12})?", part, re.ASCII)
    if match is None or part == "-":
        raise UsageError(f"'{whole}' is not a page range.", "Write it like 3-9 or 1,4,10-.")
    single, start, end = match.groups()
    if single:
        first = last = int(single)
    else:
        first, last = int(start or 1), int(end) if end else LAST
    if first < 1 or last < first:
        raise UsageError(f"'{part}' is not a span of pages: they count from 1, the smaller first.")
    return first, last


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged = [spans[0]]
    for first, last in spans[1:]:
        if first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)
