"""A picture that is shown to a recogniser as it is, with what is asked about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.page import Page
from penstock.region import Asking


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptedPage(Page):
    """A page that is one region: a line, a table, a formula, or a picture with a question about it."""

    unit: ClassVar[str] = "picture"
    listed: ClassVar[frozenset[str]] = Page.listed | {"asking"}

    asking: Asking | None = None  # None once it is read back from the ledger
