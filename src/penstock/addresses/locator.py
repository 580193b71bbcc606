"""The address of what was read: a document, a page, a region, a line, a cell, a chunk, a thing in a photo.

    penstock:report.pdf                a document
    penstock:report.pdf/p3             its third page
    penstock:report.pdf/p3/r7          region 7 of that page
    penstock:report.pdf/p3/r7/l2       line 2 of that region
    penstock:report.pdf/p3/r7/c1.0     of a table, the cell in row 1 and column 0
    penstock:report.pdf/c00012         chunk c00012 of its DocJSON
    penstock:room.jpg/p1/o2            thing 2 of a photo

Pages count from 1 and all else from 0, as in the rows. The document's name is percent-encoded: a locator is
ASCII without spaces, so that a link, a shell and a file on any system can hold it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import quote, unquote

from penstock.errors import UsageError

SCHEME = "penstock:"
EXAMPLE = "penstock:report.pdf/p3/r7"
_FORM = re.compile(
    r"penstock:(?P<document>[^/]+)"
    r"(?:/c(?P<chunk>\d{1,9})|/p(?P<page>[1-9]\d{0,8})"
    r"(?:/o(?P<thing>\d{1,9})|/r(?P<region>\d{1,9})"
    r"(?:/l(?P<line>\d{1,9})|/c(?P<row>\d{1,9})\.(?P<column>\d{1,9}))?)?)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator:
    """An address. `str(locator)` writes it and `Locator.parse(text)` reads it back.

    >>> str(Locator(document="보고서 1.pdf", page=3, region=7))
    'penstock:%EB%B3%B4%EA%B3%A0%EC%84%9C%201.pdf/p3/r7'
    """

    document: str
    page: int | None = None
    region: int | None = None
    line: int | None = None
    cell: tuple[int, int] | None = None  # row and column of its table
    thing: int | None = None
    chunk: int | None = None

    @classmethod
    def parse(cls, text: str) -> Locator:
        """Returns the locator that a text is. Raises UsageError for any other text."""
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise UsageError(f"{text!r} is not a locator.", f"A locator reads like {EXAMPLE}.")
        numbers = {
            name: int(digits) for name, digits in found.groupdict().items() if name in _NUMBERS and digits
        }
        cell = (int(found["row"]), int(found["column"])) if found["row"] else None
        return cls(document=unquote(found["document"], errors="surrogateescape"), cell=cell, **numbers)

    def __str__(self) -> str:
        parts = [
            ("c", None if self.chunk is None else f"{self.chunk:05d}"),
            ("p", self.page),
            ("o", self.thing),
            ("r", self.region),
            ("l", self.line),
            ("c", None if self.cell is None else f"{self.cell[0]}.{self.cell[1]}"),
        ]
        return _encoded(self.document) + "".join(
            f"/{key}{value}" for key, value in parts if value is not None
        )

    def at_region(self, index: int) -> Locator:
        return replace(self, region=index)

    def at_thing(self, index: int) -> Locator:
        return replace(self, thing=index)


_NUMBERS = frozenset({"chunk", "page", "thing", "region", "line"})


def is_locator(text: str) -> bool:
    """Returns whether a text is meant as a locator, well written or not."""
    return text.lstrip().startswith(SCHEME)


@lru_cache(maxsize=256)
def _encoded(document: str) -> str:
    return SCHEME + quote(document, safe="", errors="surrogateescape")
