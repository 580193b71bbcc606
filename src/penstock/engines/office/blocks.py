"""What a file says of itself: blocks in reading order, in units of the file's own or of bounded size.

A unit becomes one row: a slide, a sheet, a chapter, what stands between two page breaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from penstock.box import Box
from penstock.region import TableCell

UNIT_SIDE = 1000  # of a unit that has no size of its own: boxes are published in thousandths
MAX_UNIT_CHARS = 40_000  # about ten printed pages: a row that people and models can still read
MAX_UNIT_BLOCKS = 400
MAX_CELLS = 20_000  # of one table; a larger one goes on in the next unit
STORED = "stored"  # a mark: formulas of a sheet, and its numbers as they are stored
HIDDEN_CELLS, SHOWN_CELLS = "hidden_cells", "shown_cells"  # marks: a table with its hidden cells, and without
HIDDEN_TEXT = "hidden_text"  # a mark: words of a text that it does not show
BESIDE_SLIDES = frozenset({"comment", "speaker_notes"})  # marks
BULLETS = "•◦▪‣●∙·"  # one for each depth of a list


class Hyperlink(NamedTuple):
    """Words of a block that lead somewhere. The address is kept and never opened."""

    text: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureBlock:
    """One block. `label` is of the common vocabulary; `mark` says what the file calls it, where that differs.

    `level` is a heading's, from 1; 0 for all else. `box` is in the unit's own measure; None where the file
    gives no place.
    """

    label: str
    text: str = ""
    level: int = 0
    mark: str = ""
    cells: tuple[TableCell, ...] = ()
    picture: bytes = field(default=b"", repr=False)
    links: tuple[Hyperlink, ...] = ()
    note: str = ""
    box: Box | None = None

    @property
    def size(self) -> int:
        """Characters, of cells too."""
        return len(self.text) + sum(len(cell.text) for cell in self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureUnit:
    """What one row holds. `width` and `height` are what the boxes of its blocks are measured by."""

    blocks: tuple[StructureBlock, ...]
    width: float = UNIT_SIDE
    height: float = UNIT_SIDE


def as_hidden(blocks: Iterable[StructureBlock], mark: str) -> list[StructureBlock]:
    """Returns the blocks of a slide that is not shown, marked so; notes and comments keep their marks."""
    return [block if block.mark in BESIDE_SLIDES else replace(block, mark=mark) for block in blocks]


class StructureFile(Protocol):
    """An open file. Units are made when they are asked for, so that a long file needs no more memory."""

    @property
    def num_units(self) -> int: ...

    def unit(self, index: int) -> StructureUnit:
        """Returns one unit, from 0. Raises BadInput where it cannot be read."""

    def close(self) -> None: ...


class BlockFile:
    """A file whose blocks were all read at once. `size` is a unit's width and height."""

    def __init__(
        self, units: Sequence[Sequence[StructureBlock]], size: tuple[float, float] = (UNIT_SIDE, UNIT_SIDE)
    ) -> None:
        self._units = [tuple(blocks) for blocks in units] or [()]
        self._size = size

    @property
    def num_units(self) -> int:
        return len(self._units)

    def unit(self, index: int) -> StructureUnit:
        width, height = self._size
        return StructureUnit(blocks=self._units[index], width=width, height=height)

    def close(self) -> None:
        self._units = []


PAGE_BREAK = StructureBlock(label="page_break")


def in_units(blocks: Iterable[StructureBlock]) -> list[list[StructureBlock]]:
    """Returns blocks cut at page breaks, and where too many follow each other, before the next heading.

    A file with page breaks of its own keeps its page numbers: an empty page is a unit without blocks.
    """
    pages: list[list[StructureBlock]] = [[]]
    for block in blocks:
        if block is PAGE_BREAK:
            pages.append([])
        else:
            pages[-1].append(block)
    if len(pages) > 1 and not pages[-1]:
        pages.pop()
    return [part for page in pages for part in _bounded(page)]


def _bounded(page: Sequence[StructureBlock]) -> Iterator[list[StructureBlock]]:
    part: list[StructureBlock] = []
    size = 0
    for block in (piece for whole in page for piece in _pieces(whole)):
        full = size + block.size > MAX_UNIT_CHARS or len(part) >= MAX_UNIT_BLOCKS
        # a heading may end a unit a little early: a section is better whole
        early = block.level > 0 and size > MAX_UNIT_CHARS * 3 // 4
        if part and (full or early):
            yield part
            part, size = [], 0
        part.append(block)
        size += block.size
    yield part


def _pieces(block: StructureBlock) -> Iterator[StructureBlock]:
    """Yields a table of many cells as several with the same header rows, and all else as it is."""
    if len(block.cells) <= MAX_CELLS and block.size <= MAX_UNIT_CHARS:
        yield block
        return
    if not block.cells:
        for start in range(0, len(block.text), MAX_UNIT_CHARS):
            yield replace(block, text=block.text[start : start + MAX_UNIT_CHARS])
        return
    yield from _cut_table(block)


def _cut_table(block: StructureBlock) -> Iterator[StructureBlock]:
    rows: dict[int, list[TableCell]] = {}
    for cell in block.cells:
        rows.setdefault(cell.row, []).append(cell)
    part: list[TableCell] = []
    size, first, covered = 0, min(rows), 0
    for row in sorted(rows):
        added = sum(len(cell.text) for cell in rows[row])
        too_many = size + added > MAX_UNIT_CHARS or len(part) + len(rows[row]) > MAX_CELLS
        if part and too_many and row >= covered:  # a span is not cut
            yield replace(block, cells=tuple(part))
            part, size, first = [], 0, row
        part += [cell._replace(row=cell.row - first) for cell in rows[row]]
        size += added
        covered = max(covered, *(cell.row + cell.row_span for cell in rows[row]))
    yield replace(block, cells=tuple(part))


def listed(depth: int, text: str, number: str = "") -> str:
    """Returns a line of a list at a depth from 0: a number set in by its depth, or a depth's bullet."""
    return f"{'  ' * depth}{number} {text}" if number else f"{BULLETS[min(depth, len(BULLETS) - 1)]} {text}"
