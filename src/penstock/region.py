"""What can be on a page, however it was found: labels, words, lines, cells, a text layer, regions.

Plain values without a page around them, so that engines and documents can speak of them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from penstock.box import Box
from penstock.errors import Failure
from penstock.redaction import SafeRepr

Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]

# The one label vocabulary of all layout engines, PP-DocLayoutV3's 25 classes in its own order.
LABELS = (
    "abstract", "algorithm", "aside_text", "chart", "content", "display_formula", "doc_title",
    "figure_title", "footer", "footer_image", "footnote", "formula_number", "header",
    "header_image", "image", "inline_formula", "number", "paragraph_title", "reference",
    "reference_content", "seal", "table", "text", "vertical_text", "vision_footnote",
)  # fmt: skip
# what people call them, where that is another word
_PLAIN_LABELS = {
    "aside_text": "margin text", "content": "contents", "display_formula": "formula", "doc_title": "title",
    "figure_title": "caption", "footer_image": "figure", "header_image": "figure", "image": "figure",
    "inline_formula": "formula", "number": "page number", "paragraph_title": "heading",
    "reference_content": "reference", "vertical_text": "text", "vision_footnote": "note",
    "complex_image": "figure",
}  # fmt: skip
PICTURE_LABELS = frozenset({"image", "chart", "header_image", "footer_image", "seal"})
FORMULA_LABELS = frozenset({"display_formula", "inline_formula"})
HEADING_LABELS = frozenset({"doc_title", "paragraph_title"})
WHOLE = "whole"  # the native label of a region that is a whole picture, by what is asked and not by a layout
STRUCTURE = "structure"  # the reader of what a file says itself, without a picture of it
FROM_FILE = ("layer", STRUCTURE)  # readers that read no picture: a text of theirs has no confidence
AskedTask = Literal["text", "table", "formula", "question", "fields"]
NOWHERE: Box = (0.0, 0.0, 0.0, 0.0)  # the box of a cell of which only the text is known
MARGIN_LABELS = frozenset({"header", "footer", "number", "header_image", "footer_image", "aside_text"})


def shortened(text: str, most: int = 40) -> str:
    """Returns the text on one line, in quotes, cut after `most` characters: for a repr."""
    line = " ".join(text.split())
    return repr(line if len(line) <= most else f"{line[:most]}…")


def plain_label(label: str) -> str:
    """Returns a label, or a kind of pass 2, as people say it: "figure", not "complex_image"."""
    return _PLAIN_LABELS.get(label, label.replace("_", " "))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file of OUT on its way there. `data` is empty once the store has written it."""

    path: str  # relative to OUT
    data: bytes | None = field(default=None, repr=False)
    shown: str = ""  # the name an export gives it, where that is another

    def stored(self) -> Asset:
        return replace(self, data=None)


def content_name(data: bytes) -> str:
    """Returns a file name made from what the file holds, so that equal files are one file."""
    return hashlib.sha256(data).hexdigest()[:24]


def asset(folder: str, data: bytes, ending: str) -> Asset:
    """Returns the bytes as a file of `folder` below OUT, named by their content."""
    return Asset(path=f"{folder}/{content_name(data)}.{ending}", data=data)


def on_grid(box: Sequence[float], width: int, height: int) -> list[int]:
    """Returns a box in pixels on the published grid: integers 0..1000 of the page's width and height."""
    x0, y0, x1, y1 = box
    grid = (x0 / width, y0 / height, x1 / width, y1 / height)
    return [min(1000, max(0, round(v * 1000))) for v in grid]


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a PDF's text layer. `size` is the font size in pixels of the picture.

    A word of several fonts or sizes, such as one with a raised letter, has `parts`: what is in one.
    """

    text: str
    box: Box
    font: str = ""
    size: float = 0.0
    bold: bool = False
    italic: bool = False
    baseline: float = 0.0  # in pixels from the top, by the first letter
    parts: tuple[Word, ...] = ()


class FormField(NamedTuple):
    """What a field of a PDF form holds, by the names that the form has for it: `label` is said to people.

    A box or button has ☒ or ☐ as its text.
    """

    name: str
    label: str
    text: str
    box: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLayer:
    """What a born-digital page says of itself, in the order the file gives it."""

    words: tuple[Word, ...] = ()
    strokes: tuple[Box, ...] = ()  # thin drawn lines and rectangle edges: table rulings
    pictures: tuple[Box, ...] = ()  # pictures inside the PDF


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text as an engine found it. Of a file's own text the confidence is None."""

    text: str
    box: Box
    confidence: float | None = None
    other: str = ""  # what a second reader read, where that is something else
    words: tuple[float, ...] = ()  # the confidence of each of its words, where letters have their own


@dataclass(frozen=True, slots=True)
class LineBox:
    """Where a line of text is.

    `box` is upright. `quad` is set when the text is slanted: its corners from the text's own top
    left, clockwise.
    """

    box: Box
    score: float = 1.0
    quad: Quad | None = None

    @property
    def width(self) -> float:
        """Along the text's own direction."""
        return math.dist(self.quad[0], self.quad[1]) if self.quad else self.box[2] - self.box[0]

    @property
    def height(self) -> float:
        return math.dist(self.quad[0], self.quad[3]) if self.quad else self.box[3] - self.box[1]


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line as it was read. `reader` is the engine that did: "ppocr" or "hangul".

    `confidence` is the network's own mean, `sures` its certainty of each character that is no space, where
    that is known. `other` is what a second look at a doubtful line read, also where that is the same.
    """

    text: str
    box: Box
    confidence: float
    reader: str = "ppocr"
    quad: Quad | None = None
    sures: tuple[float, ...] = ()
    other: str = ""

    @property
    def least(self) -> float:
        return min(self.sures, default=self.confidence)


class TableCell(NamedTuple):
    """A cell of a table: its place and spans in the grid, what it says, and its box where it has one.

    DocJSON's `Cell` is its published form. A tuple: a page may have thousands, and a frozen dataclass takes
    four times as long to make.
    """

    row: int
    column: int
    text: str = ""
    row_span: int = 1
    column_span: int = 1
    is_header: bool = False
    box: Box = NOWHERE
    confidence: float | None = None  # of what an engine read in it
    other: str = ""  # what a second reader read in it, where that is something else
    inner: tuple[str | tuple[TableCell, ...], ...] = ()  # texts and tables in order, where it holds a table


CellPart = str | tuple[TableCell, ...]


def with_parts(cell: TableCell, parts: Sequence[CellPart]) -> TableCell:
    """Returns the cell with what it holds. Its text says a table in it, too."""
    has_table = any(part and not isinstance(part, str) for part in parts)
    inner = tuple(part for part in parts if part) if has_table else ()
    return cell._replace(text=text_of_parts(parts), inner=inner)


def text_of_parts(parts: Sequence[CellPart]) -> str:
    """Returns what a cell says; of a table in it a line a row, with bars between cells."""
    return "\n".join(part if isinstance(part, str) else _lines(part) for part in parts if part)


def _lines(cells: Sequence[TableCell]) -> str:
    rows: dict[int, list[str]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(" ".join(cell.text.split()))
    return "\n".join(" | ".join(texts) for _, texts in sorted(rows.items()))


class CellPlace(NamedTuple):
    """Where on its page a cell of a table is, how surely it was read, and what else a second reader read."""

    row: int
    column: int
    box: Box
    confidence: float | None = None
    other: str = ""


@dataclass(frozen=True, slots=True)
class TableGrid:
    """A grid of `rows` x `columns`. `head` counts the rows of its heading."""

    rows: int = 0
    columns: int = 0
    cells: tuple[TableCell, ...] = ()
    head: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(SafeRepr):
    """Words of a region that lead to an address, which is kept and never opened."""

    text: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Signs of how surely a region was read, each from 0 to 1; None where there is no such sign.

    `network` is the mean of the network's own certainty over characters and `weakest` its least sure line;
    `probability` and `least_probability` are those of a served model's tokens. `agreement`, `digits` and
    `script` compare the text with `other`, which `other_reader` read: letters, runs of digits, kinds of
    letters. `marks` name what went wrong with an answer: "repeated", "cut off", "refused".
    """

    network: float | None = None
    weakest: float | None = None
    probability: float | None = None
    least_probability: float | None = None
    agreement: float | None = None
    digits: float | None = None
    script: float | None = None
    marks: tuple[str, ...] = ()
    other: str = ""
    other_reader: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """One block of a page. `content` is plain text, table HTML or LaTeX, by label.

    `reader` names what read it ("layer", "ppocr", "hangul", "scripts", "structure", ...); `note`
    tells a user why a region has no content although nothing failed. A region that a file's own structure
    gave
    without a place has the whole of its page as its box.
    """

    label: str
    box: Box
    index: int = 0  # reading order on its page, from 0
    native_label: str = ""
    score: float = 1.0  # the layout engine's
    content: str | None = None
    confidence: float | None = None  # the part of its characters that is likely right; None: not known
    signals: Signals | None = None  # what the confidence is made of
    reader: str = ""
    lines: tuple[Line, ...] = ()
    cells: tuple[CellPlace, ...] = ()  # of a table, those whose places are known
    polygon: tuple[tuple[float, float], ...] = ()  # its outline, where an engine gives one
    crop: Asset | None = None  # the picture of it that is kept
    links: tuple[Link, ...] = ()
    request: bytes | None = field(default=None, repr=False)  # encoded, until a model server has read it
    note: str = ""
    failure: Failure | None = None

    def __repr__(self) -> str:
        said = self.failure.message if self.failure is not None else self.content or self.note
        corners = ", ".join(f"{value:.0f}" for value in self.box)
        return f"<Region {self.index} {self.label} at ({corners}): {shortened(said)}>"

    @property
    def crop_path(self) -> str | None:
        """The kept picture's file, relative to OUT."""
        return self.crop.path if self.crop is not None else None

    @property
    def crop_link(self) -> str | None:
        """What an export's files call the kept picture: by default its file."""
        return self.crop.shown or self.crop.path if self.crop is not None else None

    def bbox_2d(self, width: int, height: int) -> list[int]:
        """Returns the box on the published grid: integers 0..1000 of the page's width and height."""
        return on_grid(self.box, width, height)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What is asked about a whole picture.

    `words` is the question of a "question", `fields` are the names of the values that "fields" wants.
    """

    task: AskedTask
    words: str = ""
    fields: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """A short name for all that is asked: another question has another one."""
        key = json.dumps([self.task, self.words, self.fields])
        return hashlib.sha256(key.encode()).hexdigest()[:12]
