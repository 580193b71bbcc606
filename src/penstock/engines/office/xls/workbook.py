"""XLS: sheets as the tables that stand in them, each cell as it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.engines.office.blocks import StructureBlock, StructureFile, StructureUnit
from penstock.engines.office.older.packages import needed
from penstock.engines.office.older.read import read_older
from penstock.engines.office.ooxml.number_formats import BUILT_IN
from penstock.engines.office.ooxml.sheet_tables import whole_sheet
from penstock.engines.office.xls.cells import BookStyles, SheetRecords
from penstock.engines.office.xls.drawings import kept_pictures, shown_pictures
from penstock.engines.office.xls.records import BiffRecord, BiffTexts, long, records_of, small
from penstock.errors import BadInput, first_line

STREAM = "Workbook"  # where Excel 97 and later write; older ones call it otherwise
MAX_BYTES = 512 << 20
MAX_STRINGS = 5_000_000
MAX_SHEETS = 20_000
BEGIN, END = 0x809, 0x0A
BIFF_8 = 0x600
PASSWORD, DATES, SHEET, FORMAT, STYLE = 0x2F, 0x22, 0x85, 0x41E, 0xE0
STRINGS, PICTURES, DRAWING, CHART_TEXT = 0xFC, 0xEB, 0xEC, 0x100D
MODULE = 6  # a sheet that is a program


@dataclass(frozen=True, slots=True)
class _Sheet:
    name: str
    start: int
    is_hidden: bool


@dataclass(slots=True)
class _Book:
    sheets: list[_Sheet] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    forms: dict[int, str] = field(default_factory=dict)  # number formats by id
    styles: list[int] = field(default_factory=list)  # ids of number formats
    pictures: list[bytes] = field(default_factory=list, repr=False)
    is_1904: bool = False

    def take(self, record: BiffRecord) -> None:
        """Takes what a record says of the whole workbook. Raises BadInput where it needs a password."""
        body = record.body
        if record.kind == PASSWORD:
            raise BadInput("it is encrypted.", "Save it without its password.")
        if record.kind == DATES:
            self.is_1904 = small(body, 0) == 1
        elif record.kind == SHEET and body[5:6] != bytes([MODULE]) and len(self.sheets) < MAX_SHEETS:
            name = BiffTexts(record.parts, 6).next(1)
            self.sheets.append(_Sheet(name, long(body, 0), bool(body[4] & 3)))
        elif record.kind == FORMAT:
            self.forms[small(body, 0)] = BiffTexts(record.parts, 2).next()
        elif record.kind == STYLE:
            self.styles.append(small(body, 2))
        elif record.kind == STRINGS:
            self.strings = _strings(record)
        elif record.kind == PICTURES:
            self.pictures += kept_pictures(b"".join(record.parts))

    def for_cells(self) -> BookStyles:
        formats = [self.forms.get(id) or BUILT_IN.get(id, "General") for id in self.styles]
        return BookStyles(self.strings, formats, self.is_1904)


def read_xls(path: str) -> StructureFile:
    """Returns the sheets, each read when it is asked for. Raises BadInput.

    Workbooks from before Excel 97 are read as the older kinds are.
    """
    data = _stream(path)
    begin = next(records_of(data), None)
    if begin is None or begin.kind != BEGIN or small(begin.body, 0) != BIFF_8:
        return read_older(path, "xls")
    return XlsSheets(data)


class XlsSheets:
    """An open workbook's stream. A sheet is one unit."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._book = _Book()
        for record, depth in _in_part(data, 0):
            if depth == 1:
                self._book.take(record)
        self._styles = self._book.for_cells()

    @property
    def num_units(self) -> int:
        return max(1, len(self._book.sheets))

    def close(self) -> None:
        self._data = b""

    def unit(self, index: int) -> StructureUnit:
        """Returns one sheet. Raises BadInput where it is not in the file."""
        if not self._book.sheets:
            return StructureUnit(blocks=())
        return StructureUnit(blocks=tuple(self._blocks(self._book.sheets[index])))

    def _blocks(self, sheet: _Sheet) -> list[StructureBlock]:
        said, drawings, chart_words = SheetRecords(self._styles), list[bytes](), list[str]()
        records = list(_in_part(self._data, sheet.start))
        if not records:
            raise BadInput(f"its sheet {sheet.name} is damaged.", "Open it in Excel and save it again.")
        for record, depth in records:
            if record.kind == CHART_TEXT:
                chart_words.append(BiffTexts(record.parts, 2).next(1))
            elif record.kind == DRAWING:
                drawings.append(b"".join(record.parts))
            elif depth == 1:
                said.take(record)
        floating = [*_pictures(b"".join(drawings), self._book), *_chart(chart_words)]
        return whole_sheet(sheet.name, sheet.is_hidden, said.content, [*_words_of_shapes(said), *floating])


def _stream(path: str) -> bytes:
    olefile = needed("olefile", "xls")
    try:
        with olefile.OleFileIO(path) as file:
            data: bytes = file.openstream(STREAM).read(MAX_BYTES) if file.exists(STREAM) else b""
            return data
    except Exception as exc:  # foreign code on foreign bytes: whatever it raises, the file cannot be read
        raise BadInput(f"it is no XLS that can be read: {first_line(exc)}.") from exc


def _in_part(data: bytes, start: int) -> Iterator[tuple[BiffRecord, int]]:
    """Yields the records of the workbook's head or of a sheet with their depth: charts in it lie deeper."""
    depth = 0
    for record in records_of(data, start):
        depth += record.kind == BEGIN
        depth -= record.kind == END
        if depth <= 0:
            return
        yield record, depth


def _strings(record: BiffRecord) -> list[str]:
    texts, found = BiffTexts(record.parts, 8), list[str]()
    while not texts.is_at_end and len(found) < min(long(record.body, 4), MAX_STRINGS):
        found.append(texts.next())
    return found


def _words_of_shapes(said: SheetRecords) -> Iterator[StructureBlock]:
    for shape, text in said.shape_texts.items():
        if not text.strip():
            continue
        if shape in said.comments:
            text = f"{said.comments[shape]}: {text.strip()}"
            yield StructureBlock(label="aside_text", text=text, mark="comment")
        else:
            yield StructureBlock(label="text", text=text.strip(), mark="shape")


def _pictures(drawings: bytes, book: _Book) -> Iterator[StructureBlock]:
    for number in shown_pictures(drawings):
        picture = book.pictures[number - 1] if 0 < number <= len(book.pictures) else b""
        yield StructureBlock(
            label="image", picture=picture, note="" if picture else "The picture is not in the file."
        )


def _chart(words: list[str]) -> Iterator[StructureBlock]:
    """Yields the words of charts: what they show stands in cells."""
    text = "\n".join(dict.fromkeys(word.strip() for word in words if word.strip()))
    if text:
        yield StructureBlock(label="aside_text", text=text, mark="chart")
