"""A page on its way to being read: one value that every step takes and gives back with more in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from penstock.box import Box, Pixels
from penstock.choices import LayerUse
from penstock.documents.tables.drawn import Drawings
from penstock.documents.tables.pictured import PicturedTable
from penstock.errors import Failure
from penstock.page import Page
from penstock.region import LineBox, Region, TableGrid, TextLine, Word

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Draft:
    """A region on its way to being read, with the layer's words and the picture's lines that it holds."""

    region: Region
    words: tuple[Word, ...] = ()
    lines: tuple[LineBox, ...] = ()  # found on the picture
    read: tuple[TextLine, ...] = ()  # the same, once an engine has read them
    grid: TableGrid | None = None  # of a table whose cells are drawn on the picture


@dataclass(frozen=True, slots=True)
class PageReading:
    """A page and what is known of it so far.

    `words` are the layer's words, as far as they may be used, and `layer_fault` says why a layer is not used.
    `loose` are the words that no draft holds yet. `without` names corrections that an experiment leaves out.
    """

    page: Page
    layer_use: LayerUse = "auto"
    words: tuple[Word, ...] = ()
    layer_fault: str = ""
    drafts: tuple[Draft, ...] = ()
    loose: tuple[Word, ...] = ()
    lines: tuple[LineBox, ...] = ()
    rules: tuple[Box, ...] = ()  # lines across the picture that may be a table's
    tables: tuple[PicturedTable, ...] = ()
    without: frozenset[str] = frozenset()

    @property
    def strokes(self) -> tuple[Box, ...]:
        return self.page.layer.strokes if self.page.layer else ()

    @property
    def pictures(self) -> tuple[Box, ...]:
        return self.page.layer.pictures if self.page.layer else ()


class Engines(Protocol):
    """What the steps need of engines. Boxes are in pixels of the page, unless it is said otherwise."""

    def find(self, pixels: Pixels, areas: Sequence[Box], as_page: bool) -> list[LineBox]:
        """Returns the lines of text in the areas, looked at as finely as the page, or each by its size."""

    def read_quickly(self, pixels: Pixels, lines: Sequence[LineBox]) -> list[TextLine]:
        """Returns the lines as read, without asking for their script."""

    def read(
        self, pixels: Pixels, groups: Sequence[Sequence[LineBox]]
    ) -> list[tuple[TextLine, ...] | Failure]:
        """Returns each group's lines as read, or why they could not be."""

    def drawings(self, pixels: Pixels, em: float) -> Drawings:
        """Returns the lines drawn on the picture, for text that is `em` high."""

    def table(self, pixels: Pixels, box: Box) -> TableGrid:
        """Returns the cells of the table in the box, in pixels of what is cut out."""

    def formula(self, pixels: Pixels, box: Box) -> tuple[str, float] | None:
        """Returns LaTeX and how sure it is, or None without weights or where it is unsure."""

    def crop(self, pixels: Pixels, region: Region) -> Region:
        """Returns the region with a picture of what is in its box."""

    def side_by_side(self, parts: Sequence[Callable[[], T]]) -> list[T | Failure]:
        """Returns each part's result, or why it has none, in the order given."""
