"""What a made document is: blocks in reading order, before any format has written them."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock_eval.made_documents.formula import Formula


@dataclass(frozen=True, slots=True)
class MadeRun:
    """Words of one look. A run may carry one note or comment, which hangs on its end."""

    text: str
    is_bold: bool = False
    is_italic: bool = False
    address: str = ""  # of a link
    footnote: str = ""
    endnote: str = ""
    comment: str = ""
    formula: Formula | None = None  # instead of words


Runs = tuple[MadeRun, ...]


@dataclass(frozen=True, slots=True)
class MadeHeading:
    """Level 0 is the document's title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    runs: Runs


@dataclass(frozen=True, slots=True)
class MadeItem:
    """An item of a list with the items below it."""

    text: str
    items: tuple[MadeItem, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemList:
    items: tuple[MadeItem, ...]
    is_numbered: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is stored, the format's code, and what a reader of the page sees."""

    value: float
    code: str
    shown: str
    kind: str = "float"  # or "percentage", "date"


@dataclass(frozen=True, slots=True)
class GridCell:
    """`lines` are paragraphs. A cell may hold a table, or a number in place of lines."""

    row: int
    column: int
    lines: tuple[str, ...] = ()
    tall: int = 1
    wide: int = 1
    number: Number | None = None
    table: Grid | None = None

    @property
    def shown(self) -> tuple[str, ...]:
        return (self.number.shown,) if self.number else self.lines


@dataclass(frozen=True, slots=True)
class Grid:
    """A table. `cells` are in order of rows, then columns; a place under a span has none."""

    height: int
    width: int
    cells: tuple[GridCell, ...]
    head_rows: int = 1

    def row(self, row: int) -> list[GridCell]:
        """Returns the cells that cover a row, also those that began above it."""
        return sorted(
            (cell for cell in self.cells if cell.row <= row < cell.row + cell.tall),
            key=lambda cell: cell.column,
        )


@dataclass(frozen=True, slots=True)
class MadePicture:
    data: bytes = field(repr=False)
    words: str = ""  # alternative text
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Display:
    """A formula on a line of its own."""

    formula: Formula


@dataclass(frozen=True, slots=True)
class PageBreak:
    pass


@dataclass(frozen=True, slots=True)
class Part:
    """A slide or a sheet. `notes` are the speaker's."""

    title: str
    blocks: tuple[Block, ...]
    notes: str = ""
    is_hidden: bool = False


Block = MadeHeading | Paragraph | ItemList | Grid | MadePicture | Display | PageBreak | Part


@dataclass(frozen=True, slots=True)
class MadeDocument:
    """`features` are the words by which scores are cut: "spans", "notes", "rtl" and so on."""

    id: str
    format: str
    language: str
    blocks: tuple[Block, ...]
    features: tuple[str, ...] = ()

    @property
    def is_rtl(self) -> bool:
        return self.language in ("ar", "he")

    @property
    def heading_shift(self) -> int:
        """1 where the document has a title: what the format calls the first level then stands below it."""
        return int(any(isinstance(block, MadeHeading) and not block.level for block in self.blocks))
