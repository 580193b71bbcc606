"""One page of a document, and what readers tried to read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from penstock.box import WayBack
from penstock.errors import Failure
from penstock.item import PictureItem
from penstock.region import Asset, FormField, Region, TextLayer


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAttempt:
    """One attempt of a model to read a whole page. `issues` names what was wrong with its answer."""

    way: str
    finish_reason: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderChoice:
    """Who reads a page, and why. `likely_wrong` is the part of its characters that the cheaper readers
    likely read wrong, from 0 to 1."""

    reader: Literal["layer", "built-in", "server"]
    reason: str
    likely_wrong: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(PictureItem):
    """One page. Its regions are in reading order; `attempts` are those of a model that reads whole pages.

    `shortfall` says why a page has less than it should although it has content: it is not a failed page,
    and `--retry-failed` reads it again. `resumed` tells a page that an earlier run left in OUT from one that
    was read now. `flattened` says what was done to a photograph of a page before it was read. Its boxes are
    in the photograph's own pixels once the page is composed; until then `way_back` leads there.
    `layer_fault` says why the text layer that a page has was not used, `layout` names the network that found
    the regions. `choice` says who reads it where the recipe chooses among readers. `form` is what a PDF form
    was filled in with.
    """

    heavy: ClassVar[tuple[str, ...]] = (*PictureItem.heavy, "layer", "way_back")
    listed: ClassVar[frozenset[str]] = PictureItem.listed | {
        "layer",
        "way_back",
    }  # None counts: not every page has one

    layer: TextLayer | None = field(default=None, repr=False)
    flattened: str = ""
    layer_fault: str = ""
    layout: str = ""
    choice: ReaderChoice | None = None
    form: tuple[FormField, ...] = ()
    way_back: WayBack | None = field(default=None, repr=False, compare=False)
    regions: tuple[Region, ...] = ()
    markdown: str = ""
    attempts: tuple[PageAttempt, ...] = ()
    raw_answer: Asset | None = None  # what the model said in all attempts, as JSON
    shortfall: Failure | None = None
    resumed: bool = field(default=False, compare=False)

    def __repr__(self) -> str:
        holds = f"{len(self.regions)} regions" if self.failure is None else f"failed, {self.failure.kind}"
        return f"<Page {self.number} of {self.document!r}: {holds}>"

    @property
    def number(self) -> int:
        """Its number in the document, from 1."""
        return self.part + 1

    def failed_parts(self) -> Iterator[tuple[str, Failure]]:
        for region in self.regions:
            if region.failure is not None:
                yield region.label, region.failure
        if self.shortfall is not None:
            yield "page", self.shortfall
