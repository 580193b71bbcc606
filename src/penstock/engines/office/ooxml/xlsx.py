"""XLSX: sheets as the tables that stand in them, each cell as it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from penstock.engines.office.blocks import StructureBlock, StructureUnit
from penstock.engines.office.ooxml.charts import chart_cells
from penstock.engines.office.ooxml.number_formats import BUILT_IN, shown_value
from penstock.engines.office.ooxml.sheet_tables import (
    MAX_FORMULA,
    MAX_SHEET_CELLS,
    MAX_STORED,
    SheetContent,
    column_name,
    whole_sheet,
)
from penstock.engines.office.package import (
    PartRelation,
    XmlPackage,
    attribute,
    child,
    children,
    descendants,
    local,
    relation_id,
    text_in,
)
from penstock.errors import BadInput

MAX_SHEETS = 20_000
MAX_COLUMNS = 16_384
COPY = "[Threaded comment]"  # how a comment begins that old versions of Excel show in place of a thread
MAX_STRINGS = 5_000_000
_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_RANGE = re.compile(r"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})")


def column_number(letters: str) -> int:
    """Returns a column from 0: A is 0, Z is 25, AA is 26."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


@dataclass(frozen=True, slots=True)
class _SheetPart:
    name: str
    part: str
    is_hidden: bool


class Workbook:
    """An open workbook. A sheet is one unit; the rows of a long one are in tables of bounded size."""

    def __init__(self, package: XmlPackage) -> None:
        self._package = package
        main = next(
            (name for name in package.names if re.fullmatch(r"xl/workbook\d*\.xml", name)), "xl/workbook.xml"
        )
        tree, relations = package.xml(main), package.relations(main)
        self._is_1904 = attribute(child(tree, "workbookPr"), "date1904") in ("1", "true")
        # a sheet that is named and not there stays one: it fails alone and is not lost
        self._sheets = [_sheet(row, relations) for row in children(child(tree, "sheets"), "sheet")]
        if len(self._sheets) > MAX_SHEETS:
            raise BadInput(f"it has {len(self._sheets):,} sheets, and {MAX_SHEETS:,} are read.")
        self._strings: list[str] | None = None
        self._formats: list[str] | None = None

    @property
    def num_units(self) -> int:
        return max(1, len(self._sheets))

    def close(self) -> None:
        self._package.close()

    def unit(self, index: int) -> StructureUnit:
        """Returns one sheet. Raises BadInput where it cannot be read."""
        if not self._sheets:
            return StructureUnit(blocks=())
        sheet = self._sheets[index]
        relations = self._package.relations(sheet.part)
        blocks = whole_sheet(sheet.name, sheet.is_hidden, self._content(sheet), self._others(relations))
        return StructureUnit(blocks=tuple(blocks))

    def _others(self, relations: dict[str, PartRelation]) -> Iterator[StructureBlock]:
        """Yields comments, pictures, charts and the names of embedded objects."""
        has_threads = any(relation.kind == "threadedComment" for relation in relations.values())
        for relation in relations.values():
            if relation.is_outside or not self._package.has(relation.target):
                continue
            if relation.kind in ("comments", "threadedComment"):
                yield from _comments(self._package.xml(relation.target), COPY if has_threads else "")
            elif relation.kind in ("oleObject", "package"):
                name = relation.target.rpartition("/")[2]
                yield StructureBlock(label="aside_text", text=f"Embedded object: {name}", mark="object")
            elif relation.kind == "drawing":
                yield from self._drawing(relation.target)

    def _drawing(self, part: str) -> Iterator[StructureBlock]:
        relations = self._package.relations(part)
        tree = self._package.xml(part)
        for element in tree.iter():
            name = local(element)
            key = {"blip": "embed", "chart": "id"}.get(name)
            relation = relations.get(attribute(element, key)) if key else None
            if relation is None or relation.is_outside or not self._package.has(relation.target):
                continue
            if name == "blip":
                yield StructureBlock(label="image", picture=self._package.picture(relation.target))
            else:
                cells = tuple(chart_cells(self._package.xml(relation.target)))
                yield StructureBlock(label="table", cells=cells, mark="chart")

    def _content(self, sheet: _SheetPart) -> SheetContent:
        """Reads a sheet row by row, and keeps no more of its tree than one row."""
        content, row = SheetContent(), -1
        shared: dict[str, str] = {}  # the cell that has a formula of several, by its number
        with self._package.open(sheet.part) as file:
            for _, element in _events(file):
                name = local(element)
                if name == "row":
                    told = attribute(element, "r")
                    row = int(told) - 1 if told.isdecimal() else row + 1
                    if len(content.texts) < MAX_SHEET_CELLS:
                        self._row(element, row, content, shared)
                    else:
                        content.is_cut = True
                    element.clear()
                elif name == "col" and attribute(element, "hidden") in ("1", "true"):
                    first, last = (attribute(element, end, "0") for end in ("min", "max"))
                    if first.isdecimal() and last.isdecimal():
                        content.hidden_columns.update(range(int(first) - 1, min(int(last), MAX_COLUMNS)))
                elif name == "mergeCell":
                    found = _RANGE.fullmatch(attribute(element, "ref"))
                    if found:
                        top, bottom = int(found[2]) - 1, int(found[4]) - 1
                        content.merged.append((top, column_number(found[1]), bottom, column_number(found[3])))
        return content

    def _row(self, element: Element, row: int, content: SheetContent, shared: dict[str, str]) -> None:
        if attribute(element, "hidden") in ("1", "true"):
            content.hidden_rows.add(row)
        column = -1
        for cell in children(element, "c"):
            place = _PLACE.fullmatch(attribute(cell, "r"))
            column = column_number(place[1]) if place else column + 1
            text = self._shown(cell)
            if text.strip():
                content.texts[row, column] = text
            named = f"{column_name(column)}{row + 1}"
            content.store(named, _stored(cell, text, named, shared))

    def _shown(self, cell: Element) -> str:
        kind = attribute(cell, "t")
        if kind == "inlineStr":
            return text_in(cell, "t")
        text = _value(cell)
        if kind == "s":
            strings = self._shared()
            return strings[int(text)] if text.isdecimal() and int(text) < len(strings) else ""
        if kind == "b":
            return "TRUE" if text == "1" else "FALSE" if text else ""
        if kind in ("str", "e", "d") or not text:
            return text
        style = attribute(cell, "s", "0")
        formats = self._number_formats()
        form = formats[int(style)] if style.isdecimal() and int(style) < len(formats) else "General"
        return shown_value(text, form, self._is_1904)

    def _shared(self) -> list[str]:
        """Returns the texts that cells name by number."""
        if self._strings is None:
            self._strings = []
            if self._package.has("xl/sharedStrings.xml"):
                with self._package.open("xl/sharedStrings.xml") as file:
                    for _, element in _events(file):
                        if local(element) == "si" and len(self._strings) < MAX_STRINGS:
                            self._strings.append(_string(element))
                            element.clear()
        return self._strings

    def _number_formats(self) -> list[str]:
        """Returns the number formats by style."""
        if self._formats is None:
            self._formats = _formats(self._package.xml_if_there("xl/styles.xml"))
        return self._formats


def _value(cell: Element) -> str:
    value = child(cell, "v")
    return value.text or "" if value is not None else ""


def _stored(cell: Element, shown: str, place: str, shared: dict[str, str]) -> str:
    """Returns what a cell holds behind what it shows: its formula and its number; "" for nothing else."""
    number = _value(cell) if attribute(cell, "t") in ("", "n") else ""
    parts = (_formula(child(cell, "f"), place, shared), number if number != shown else "")
    return " ".join(part for part in parts if part)


def _formula(formula: Element | None, place: str, shared: dict[str, str]) -> str:
    """Returns a cell's formula; of one that several share, where it is written."""
    if formula is None:
        return ""
    group = attribute(formula, "si")
    if formula.text:
        if group and len(shared) < MAX_STORED:
            shared[group] = place
        return f"={formula.text[:MAX_FORMULA]}"
    return f"as in {shared[group]}" if group in shared else ""


def _events(file: IO[bytes]) -> Iterator[tuple[str, Element]]:
    """Yields elements as they end. Raises BadInput for a DTD and for what is no XML."""
    parser: ElementTree.XMLPullParser[Element] = ElementTree.XMLPullParser(("end",))
    try:
        while data := file.read(1 << 16):
            if b"<!DOCTYPE" in data:
                raise BadInput("its XML has a DTD, which no document of its kind needs.")
            parser.feed(data)
            yield from parser.read_events()  # type: ignore[misc]  # of "end", elements only
    except (ElementTree.ParseError, EOFError, OSError, ValueError) as exc:
        raise BadInput(f"a sheet is no XML that can be read: {exc}.") from exc


def _string(element: Element) -> str:
    """Returns a shared text; how Korean and Japanese are read aloud is no part of it."""
    parts = (
        row for inner in element if local(inner) != "rPh" for row in [inner, *inner] if local(row) == "t"
    )
    return "".join(row.text or "" for row in parts)


def _formats(tree: Element | None) -> list[str]:
    own = {attribute(row, "numFmtId"): attribute(row, "formatCode") for row in descendants(tree, "numFmt")}
    ids = [attribute(row, "numFmtId", "0") for row in children(child(tree, "cellXfs"), "xf")]
    return [own.get(id) or BUILT_IN.get(int(id) if id.isdecimal() else 0, "General") for id in ids]


def _sheet(row: Element, relations: dict[str, PartRelation]) -> _SheetPart:
    id = relation_id(row)
    part = relations[id].target if id in relations else id
    return _SheetPart(attribute(row, "name"), part, attribute(row, "state") in ("hidden", "veryHidden"))


def _comments(tree: Element, copy: str) -> Iterator[StructureBlock]:
    """Yields comments by their cells. Those that begin with `copy` are there a second time."""
    for row in (each for each in tree.iter() if local(each) in ("comment", "threadedComment")):
        text = "".join(each.text or "" for each in row.iter() if local(each) in ("t", "text")).strip()
        if text and not (copy and text.startswith(copy)):
            place = attribute(row, "ref")
            yield StructureBlock(
                label="aside_text", text=f"{place}: {text}" if place else text, mark="comment"
            )
