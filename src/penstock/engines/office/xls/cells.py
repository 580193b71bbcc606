"""The cells of a sheet of XLS, each as it is shown, and the notes on them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.engines.office.ooxml.number_formats import shown_value
from penstock.engines.office.ooxml.sheet_tables import MAX_SHEET_CELLS, SheetContent, column_name
from penstock.engines.office.xls.records import BiffRecord, BiffTexts, long, small

HEAD = 6  # bytes: row, column, style
ERRORS = {
    0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?", 0x24: "#NUM!",
    0x2A: "#N/A",
}  # fmt: skip
FORMULA_TEXT, FORMULA_TRUTH, FORMULA_ERROR = range(3)
HIDDEN_ROW, HIDDEN_COLUMN = 0x20, 0x01
MAX_COLUMNS = 256


@dataclass(frozen=True, slots=True)
class BookStyles:
    """What a workbook says once for all sheets."""

    strings: Sequence[str] = ()
    formats: Sequence[str] = ()  # number formats by style
    is_1904: bool = False

    def shown(self, number: float, style: int) -> str:
        form = self.formats[style] if style < len(self.formats) else "General"
        return shown_value(as_stored(number), form, self.is_1904)


@dataclass(slots=True)
class SheetRecords:
    """What the records of one sheet say."""

    styles: BookStyles
    content: SheetContent = field(default_factory=SheetContent)
    comments: dict[int, str] = field(default_factory=dict)  # shape -> the cell that it is a comment on
    shape_texts: dict[int, str] = field(default_factory=dict)  # shape -> its words
    _shape: int = 0
    _waiting: tuple[int, int] | None = None  # the cell of a formula whose text follows

    def take(self, record: BiffRecord) -> None:
        """Takes what a record says of the sheet; others are passed by."""
        reader = _READERS.get(record.kind)
        if reader is not None:
            reader(self, record)

    def put(self, row: int, column: int, text: str, stored: str = "") -> None:
        if not text.strip():
            return
        if len(self.content.texts) >= MAX_SHEET_CELLS:
            self.content.is_cut = True
            return
        self.content.texts[row, column] = text
        self.content.store(f"{column_name(column)}{row + 1}", stored if stored != text else "")

    def number(self, row: int, column: int, style: int, number: float) -> None:
        self.put(row, column, self.styles.shown(number, style), as_stored(number))

    def _shared_text(self, record: BiffRecord) -> None:
        row, column, _ = _place(record)
        number = long(record.body, HEAD)
        if number < len(self.styles.strings):
            self.put(row, column, self.styles.strings[number])

    def _own_text(self, record: BiffRecord) -> None:
        row, column, _ = _place(record)
        self.put(row, column, BiffTexts(record.parts, HEAD).next())

    def _double(self, record: BiffRecord) -> None:
        self.number(*_place(record), struct.unpack("<d", record.body[HEAD : HEAD + 8].ljust(8, b"\0"))[0])

    def _packed(self, record: BiffRecord) -> None:
        self.number(*_place(record), unpacked(long(record.body, HEAD)))

    def _several_packed(self, record: BiffRecord) -> None:
        row, first, _ = _place(record)
        for count, at in enumerate(range(4, len(record.body) - 7, 6)):
            self.number(row, first + count, small(record.body, at), unpacked(long(record.body, at + 2)))

    def _truth(self, record: BiffRecord) -> None:
        row, column, _ = _place(record)
        value, is_error = record.body[HEAD : HEAD + 2].ljust(2, b"\0")
        self.put(row, column, ERRORS.get(value, "#N/A") if is_error else ("FALSE", "TRUE")[value > 0])

    def _formula(self, record: BiffRecord) -> None:
        row, column, _ = _place(record)
        value = record.body[HEAD : HEAD + 8].ljust(8, b"\0")
        if value[6:] != b"\xff\xff":
            self._double(record)
        elif value[0] == FORMULA_TEXT:
            self._waiting = (row, column)
        elif value[0] == FORMULA_TRUTH:
            self.put(row, column, ("FALSE", "TRUE")[value[2] > 0])
        elif value[0] == FORMULA_ERROR:
            self.put(row, column, ERRORS.get(value[2], "#N/A"))

    def _formula_text(self, record: BiffRecord) -> None:
        if self._waiting is not None:
            self.put(*self._waiting, BiffTexts(record.parts).next())
        self._waiting = None

    def _row(self, record: BiffRecord) -> None:
        if small(record.body, 12) & HIDDEN_ROW:
            self.content.hidden_rows.add(small(record.body, 0))

    def _columns(self, record: BiffRecord) -> None:
        if small(record.body, 8) & HIDDEN_COLUMN:
            last = min(small(record.body, 2), MAX_COLUMNS - 1)
            self.content.hidden_columns.update(range(small(record.body, 0), last + 1))

    def _merged(self, record: BiffRecord) -> None:
        for at in range(2, len(record.body) - 7, 8):
            top, bottom, left, right = struct.unpack_from("<4H", record.body, at)
            self.content.merged.append((top, left, bottom, right))

    def _note(self, record: BiffRecord) -> None:
        row, column, _ = _place(record)
        self.comments[small(record.body, HEAD)] = f"{column_name(column)}{row + 1}"

    def _object(self, record: BiffRecord) -> None:
        self._shape = small(record.body, 6)

    def _shape_text(self, record: BiffRecord) -> None:
        self.shape_texts[self._shape] = BiffTexts(record.parts[1:]).letters(small(record.body, 10))


def _place(record: BiffRecord) -> tuple[int, int, int]:
    return small(record.body, 0), small(record.body, 2), small(record.body, 4)


def unpacked(value: int) -> float:
    """Returns the number that four bytes hold: whole, or the upper half of a double; hundredfold or not."""
    if value & 2:
        number = float((value >> 2) - (1 << 30 if value >> 31 else 0))
    else:
        number = struct.unpack("<d", struct.pack("<Q", (value & 0xFFFFFFFC) << 32))[0]
    return number / 100 if value & 1 else number


def as_stored(number: float) -> str:
    """Returns a number in the fifteen digits that Excel keeps."""
    return f"{number:.15g}"


_READERS: Mapping[int, Callable[[SheetRecords, BiffRecord], None]] = {
    0x06: SheetRecords._formula, 0x1C: SheetRecords._note, 0x5D: SheetRecords._object,
    0x7D: SheetRecords._columns, 0xBD: SheetRecords._several_packed, 0xD6: SheetRecords._own_text,
    0xE5: SheetRecords._merged, 0xFD: SheetRecords._shared_text, 0x1B6: SheetRecords._shape_text,
    0x203: SheetRecords._double, 0x204: SheetRecords._own_text, 0x205: SheetRecords._truth,
    0x207: SheetRecords._formula_text, 0x208: SheetRecords._row, 0x27E: SheetRecords._packed,
}  # fmt: skip
