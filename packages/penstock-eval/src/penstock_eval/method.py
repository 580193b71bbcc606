"""How predictions were made, and what scores are called that were not made in the benchmark's own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from penstock.region import AskedTask

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Method:
    """How predictions were made. `mark` is put after the name of every score; "" is the official way."""

    words: str
    mark: str = ""

    def protocol(self, rules: str) -> str:
        """Returns the name of the rules that the scores are by."""
        return f"{self.words} (not the official {rules})" if self.mark else rules

    def named(self, scores: Mapping[str, Value]) -> dict[str, Value]:
        return {f"{name}{self.mark}": value for name, value in scores.items()}

    def bare(self, scores: Mapping[str, Value]) -> dict[str, Value]:
        """Returns the scores by the names that the benchmark gave them."""
        return {name.removesuffix(self.mark): value for name, value in scores.items()}


GIVEN = Method("given predictions")
READ = Method("pictures read as pages")
ASKED: dict[AskedTask, Method] = {
    "text": Method("pictures asked for their text"),
    "table": Method("pictures asked for their table"),
    "formula": Method("pictures asked for their formula"),
    "question": Method("questions asked with their pictures"),
    "fields": Method("pictures asked for their fields"),
}
# where a recipe only reads pages: what it wrote is scored, and must not be taken for the benchmark's figure
_PAGE_TEXT = " (page text)"
FROM_PAGES: dict[AskedTask, Method] = {
    "text": Method("text of the picture read as a page", _PAGE_TEXT),
    "table": Method("table found on the picture read as a page", _PAGE_TEXT),
    "formula": Method("text of the picture read as a page", _PAGE_TEXT),
    "question": Method("answer found in page text", _PAGE_TEXT),
}
