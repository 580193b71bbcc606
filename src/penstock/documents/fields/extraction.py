"""What was found of a document by a schema: the values, and for each the places that prove it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from penstock.addresses.locator import Locator
from penstock.errors import Failure
from penstock.item import Item
from penstock.page import Page

FoundBy = Literal["field", "label", "table", "form", "model"]
NOT_ON_PAGE = "no page holds it"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundField:
    """One value. `path` is its JSON pointer in the values, `text` what the page says, `locators` where.

    `by` says what led to it: a PDF form's own field, a label next to it, a column of a table, its form alone,
    or a model. `score`, 0 to 1, says how well the place fits the field; it is no probability.
    """

    path: str
    value: Any
    text: str
    locators: tuple[str, ...]
    by: FoundBy
    label: str = ""
    score: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedValue:
    """What a model said and no page proves; its field does not get it."""

    path: str
    value: Any
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The values in the shape of the schema, null where nothing was found."""

    values: dict[str, Any]
    fields: tuple[FoundField, ...] = ()
    refused: tuple[RefusedValue, ...] = ()
    missing: tuple[str, ...] = ()  # paths of fields without a value
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedDocument(Item):
    """One document on its way through extraction.

    A document whose model did not answer keeps what rules found; `shortfall` says why, and `--retry-failed`
    tries again.
    """

    unit: ClassVar[str] = "document"
    heavy: ClassVar[tuple[str, ...]] = ("pages",)
    listed: ClassVar[frozenset[str]] = Item.listed | {"pages"}

    pages: tuple[Page, ...] = field(default=(), repr=False, compare=False)
    extraction: Extraction | None = None
    shortfall: Failure | None = None

    @property
    def place(self) -> str:
        return self.document

    @property
    def locator(self) -> Locator:
        return Locator(document=self.document)

    def failed_parts(self) -> Iterator[tuple[str, Failure]]:
        if self.shortfall is not None:
            yield "model", self.shortfall
