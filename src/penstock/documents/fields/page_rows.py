"""A page as rows of pieces: lines that stand side by side are one row, whichever regions they belong to.

A piece knows its address, so that whatever is found in it can be shown where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from penstock.addresses.locator import Locator
from penstock.box import Box
from penstock.documents.docjson.model import Table
from penstock.documents.docjson.table import read_table
from penstock.documents.fields.labels import fold
from penstock.documents.text.runs import runs_of
from penstock.page import Page
from penstock.region import FormField, Region

SAME_ROW = 0.5  # of the lower piece's height: how far apart the middles of one row's pieces may be
GAP = "  "  # between two pieces of a row
MAX_ROW_PIECES = 60


@dataclass(frozen=True, slots=True)
class RowPiece:
    """A line as it was read."""

    text: str
    box: Box
    locator: Locator
    confidence: float | None = None

    def x_at(self, offset: int) -> float:
        """Returns about where a letter stands: as if all were equally wide."""
        return self.box[0] + (self.box[2] - self.box[0]) * offset / max(1, len(self.text))


@dataclass(frozen=True)
class VisualRow:
    """Pieces side by side, from left to right."""

    page: int
    pieces: tuple[RowPiece, ...]

    @cached_property
    def text(self) -> str:
        return GAP.join(piece.text for piece in self.pieces)

    @cached_property
    def folded(self) -> str:
        return fold(self.text)

    @property
    def height(self) -> float:
        return median(piece.box[3] - piece.box[1] for piece in self.pieces)

    @property
    def middle(self) -> float:
        return median((piece.box[1] + piece.box[3]) / 2 for piece in self.pieces)

    def at(self, offset: int) -> tuple[RowPiece, int]:
        """Returns the piece that holds this letter of the row, and the letter's place in it."""
        for piece in self.pieces:
            if offset <= len(piece.text):
                return piece, max(0, offset)
            offset -= len(piece.text) + len(GAP)
        return self.pieces[-1], len(self.pieces[-1].text)

    def end_of_piece(self, offset: int) -> int:
        """Returns where the piece that holds this letter ends in the row."""
        end = -len(GAP)
        for piece in self.pieces:
            end += len(GAP) + len(piece.text)
            if offset <= end:
                return end
        return len(self.text)


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of a page, with the address of its region."""

    page: int
    table: Table
    locator: Locator


@dataclass(frozen=True)
class DocumentText:
    """What a document says, as rows and tables."""

    rows: tuple[VisualRow, ...]
    tables: tuple[PageTable, ...]
    form: tuple[tuple[int, FormField], ...] = ()  # by the number of their page

    @classmethod
    def of(cls, pages: Iterable[Page]) -> DocumentText:
        rows: list[VisualRow] = []
        tables: list[PageTable] = []
        form: list[tuple[int, FormField]] = []
        for page in pages:
            if page.failure is None:
                rows += _rows(page)
                tables += _tables(page)
                form += ((page.number, field) for field in page.form)
        return cls(tuple(rows), tuple(tables), tuple(form))

    @cached_property
    def cells(self) -> dict[tuple[int, int], PageTable]:
        """The tables by page and region."""
        return {(one.page, one.locator.region or 0): one for one in self.tables}

    def address(self, piece: RowPiece, words: str) -> Locator:
        """Returns the address of these words of a piece: their cell where only one of its table has them."""
        table = self.cells.get((piece.locator.page or 0, piece.locator.region or 0))
        if table is None:
            return piece.locator
        wanted = "".join(words.split())
        holding = [cell for cell in table.table.cells if wanted and wanted in "".join(cell.text.split())]
        if len(holding) != 1:
            return piece.locator
        return replace(table.locator, cell=(holding[0].r, holding[0].c))

    def address_at(self, row: VisualRow, start: int, end: int) -> str:
        """Returns the address of these letters of a row."""
        piece, _ = row.at(start)
        return str(self.address(piece, row.text[start:end]))

    def holding(self, number: int, field: FormField) -> RowPiece | None:
        """Returns the line that shows what a form's field holds; None where a person has corrected it."""
        words = f" {' '.join(field.text.splitlines()[0].split())} "
        found = [
            piece
            for row in self.rows
            if row.page == number
            for piece in row.pieces
            if words in f" {' '.join(piece.text.split())} "
        ]
        x, y = (field.box[0] + field.box[2]) / 2, (field.box[1] + field.box[3]) / 2
        return min(found, key=lambda piece: _distance(piece.box, x, y), default=None)


def _distance(box: Box, x: float, y: float) -> float:
    return max(box[0] - x, 0.0, x - box[2]) + max(box[1] - y, 0.0, y - box[3])


def _rows(page: Page) -> list[VisualRow]:
    pieces = [piece for region in page.regions for piece in _pieces(page, region)]
    upright = [one for one in pieces if not _is_vertical(one)]
    rows = runs_of(
        sorted(upright, key=lambda one: one.box[1] + one.box[3]),
        lambda row, piece: len(row) < MAX_ROW_PIECES and _stand_together(row[0], piece),
    )
    vertical = [[one] for one in pieces if _is_vertical(one)]
    return [
        VisualRow(page.number, tuple(sorted(row, key=lambda one: one.box[0]))) for row in [*rows, *vertical]
    ]


def _stand_together(first: RowPiece, other: RowPiece) -> bool:
    heights = [one.box[3] - one.box[1] for one in (first, other)]
    apart = abs(first.box[1] + first.box[3] - other.box[1] - other.box[3]) / 2
    is_beside = other.box[0] >= first.box[2] or other.box[2] <= first.box[0]
    return is_beside and apart <= SAME_ROW * min(heights)


def _is_vertical(piece: RowPiece) -> bool:
    width, height = piece.box[2] - piece.box[0], piece.box[3] - piece.box[1]
    return len(piece.text) > 3 and height > 3 * width


def _pieces(page: Page, region: Region) -> Iterator[RowPiece]:
    here = page.locator.at_region(region.index)
    if region.lines:
        for index, line in enumerate(region.lines):
            if line.text.strip():
                yield RowPiece(line.text, line.box, replace(here, line=index), line.confidence)
        return
    said = _cell_lines(region) if region.label == "table" else (region.content or "").splitlines()
    texts = [text for text in said if text.strip()]
    x0, y0, x1, y1 = region.box
    step = (y1 - y0) / max(1, len(texts))
    for index, text in enumerate(texts):  # where each stands is not known: one under the other
        yield RowPiece(text, (x0, y0 + index * step, x1, y0 + (index + 1) * step), here, region.confidence)


def _cell_lines(region: Region) -> list[str]:
    rows: dict[int, list[str]] = {}
    for cell in read_table((region.content or "").strip()).cells:
        rows.setdefault(cell.r, []).append(" ".join(cell.text.split()))
    return [GAP.join(cell for cell in row if cell) for row in rows.values()]


def _tables(page: Page) -> Iterator[PageTable]:
    for region in page.regions:
        if region.label == "table" and region.content:
            table = read_table(region.content.strip())
            if table.cells:
                yield PageTable(page.number, table, page.locator.at_region(region.index))
