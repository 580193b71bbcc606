"""HWPX: Hancom's documents, with their pages where the file says where lines stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from penstock.engines.office.block_writer import BlockWriter
from penstock.engines.office.blocks import BlockFile, Hyperlink, StructureBlock, in_units
from penstock.engines.office.hwp_equation import latex_of_script
from penstock.engines.office.hwp_records import HwpRecords, NumberLevel
from penstock.engines.office.ooxml.docx_parts import CIRCLED, HANGUL, JAMO, roman
from penstock.engines.office.package import (
    XmlPackage,
    attribute,
    child,
    children,
    descendants,
    local,
    number,
    text_in,
)
from penstock.region import CellPart, TableCell, with_parts

MAX_NESTING = 20
_SECTION = re.compile(r"Contents/section(\d{1,5})\.xml")
_MASTER = re.compile(r"Contents/masterpage\d{1,5}\.xml")  # what is printed on every page
_OUTLINE = re.compile(r"(?:개요|outline)\s*(\d{1,2})", re.IGNORECASE)
VOWELS = (0, 4, 8, 13, 18, 20)  # after 하 come 거, 너, ..., then 고, 노, ...: places of vowels in Unicode
SYLLABLES = "".join(chr(ord(letter) + 28 * vowel) for vowel in VOWELS for letter in HANGUL)
LETTERS = {"HANGUL_SYLLABLE": SYLLABLES, "HANGUL_JAMO": JAMO, "CIRCLED_DIGIT": CIRCLED}
SHAPES = frozenset(
    {"rect", "ellipse", "container", "polygon", "arc", "curve", "line", "connectLine", "textart"}
)
LINKS = re.compile(r"(https?|mailto|ftp)\\?:[^;]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Head:
    """How a paragraph begins: as an outline's heading, as a numbered or a bulleted item."""

    kind: str = "NONE"
    list_id: str = ""
    level: int = 0


@dataclass(slots=True)
class _Words:
    text: list[str] = field(default_factory=list)
    links: list[Hyperlink] = field(default_factory=list)
    open_links: list[tuple[str, int]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    is_deleted: bool = False


def read_hwpx(package: XmlPackage, records: HwpRecords = HwpRecords()) -> BlockFile:  # noqa: B008  it is frozen
    """Returns the document in pages, as far as the file tells where they begin.

    `records` are what the HWP says that the package was made of.
    """
    return BlockFile(in_units(_Hwpx(package, records).blocks()))


class _Hwpx:
    def __init__(self, package: XmlPackage, records: HwpRecords) -> None:
        self._package = package
        header = package.xml_if_there("Contents/header.xml")
        self._heads = _heads(header)
        self._styles = _styles(header)
        self._numberings = {**_numberings(header), **records.numberings}
        self._records = records.sections
        self._outline_id = "1"  # the numbering of this section's outline
        self._counts: dict[str, list[int]] = {}
        self._pictures = _pictures(package)
        self._writer = BlockWriter()
        self._notes = 0
        self._depth = 0

    def blocks(self) -> list[StructureBlock]:
        sections = sorted(
            (int(found[1]), name) for name in self._package.names if (found := _SECTION.fullmatch(name))
        )
        for name in (name for name in self._package.names if _MASTER.fullmatch(name)):
            self._writer.text(self._plain(self._package.xml(name)), label="header")
        for place, (_, name) in enumerate(sections):
            if place:
                self._writer.page_break()
            self._section(self._package.xml(name), place)
        return self._writer.finished()

    def _section(self, section: Element, place: int) -> None:
        self._outline_id = self._outline_of(section, place)
        columns = [attribute(row, "colCount", "1") for row in descendants(section, "colPr")]
        has_columns = any(count not in ("0", "1") for count in columns)
        last = -1
        for paragraph in children(section, "p"):
            places = [number(row, "vertpos") for row in children(child(paragraph, "linesegarray"), "lineseg")]
            # lines are measured from the top of their page
            starts_page = bool(places) and places[0] < last and not has_columns
            if (attribute(paragraph, "pageBreak") == "1" or starts_page) and not self._writer.is_fresh:
                self._writer.page_break()
            last = places[-1] if places else last
            self._paragraph(paragraph)
        for text, is_comment in self._records[place].texts if place < len(self._records) else ():
            self._left_out(text, is_comment)

    def _left_out(self, text: str, is_comment: bool) -> None:
        if is_comment:
            self._writer.text(text, label="aside_text", mark="comment")
        else:
            self._writer.text(text)

    def _outline_of(self, section: Element, place: int) -> str:
        settings = next(descendants(section, "secPr"), None)
        told = attribute(settings, "outlineShapeIDRef")
        id = self._records[place].outline if place < len(self._records) else told
        return id if id in self._numberings else "1"

    def _paragraph(self, paragraph: Element) -> None:
        words = _Words()
        later: list[Element] = []
        for run in children(paragraph, "run"):
            for inner in run:
                self._inner(inner, words, later)
        self._write(paragraph, words)
        for element in later:
            self._hanging(element)

    def _inner(self, inner: Element, words: _Words, later: list[Element]) -> None:
        name = local(inner)
        if name == "t":
            self._letters(inner, words)
        elif name == "ctrl":
            for control in inner:
                self._control(control, words)
        elif name == "equation":
            latex = latex_of_script(text_in(inner, "script"))
            words.text.append(f"${latex}$" if latex else "")
        elif name in ("compose", "dutmal"):
            words.text.append(attribute(inner, "composeText") or text_in(inner, "mainText"))
        elif name == "checkBtn":
            words.text.append("☒" if attribute(inner, "value") == "CHECKED" else "☐")
        elif name in ("edit", "comboBox"):
            words.text.append(text_in(inner, "text"))
        else:
            later.append(inner)

    def _letters(self, element: Element, words: _Words) -> None:
        kept = words.deleted if words.is_deleted else words.text
        kept.append(element.text or "")
        for mark in element:
            name = local(mark)
            if name in ("deleteBegin", "deleteEnd"):
                words.is_deleted = name == "deleteBegin"
            kept = words.deleted if words.is_deleted else words.text
            kept.append(
                {"tab": "\t", "lineBreak": "\n", "nbSpace": " ", "fwSpace": " ", "hyphen": "-"}.get(name, "")
            )
            kept.append(mark.tail or "")

    def _control(self, control: Element, words: _Words) -> None:
        name = local(control)
        if name in ("footNote", "endNote"):
            self._notes += 1
            mark = f"[^{self._notes}]"
            words.text.append(mark)
            kind = "footnote" if name == "footNote" else "endnote"
            self._writer.note(f"{mark}: {self._plain(control)}", mark=kind)
        elif name in ("header", "footer"):
            self._writer.text(self._plain(control), label=name)
        elif name == "hiddenComment":
            self._writer.text(self._plain(control), label="aside_text", mark="comment")
        elif name == "fieldBegin":
            self._begin_field(control, words)
        elif name == "fieldEnd" and words.open_links:
            address, start = words.open_links.pop()
            text = "".join(words.text[start:]).strip()
            if address and text:
                words.links.append(Hyperlink(text, address))

    def _begin_field(self, control: Element, words: _Words) -> None:
        kind = attribute(control, "type")
        said = " ".join(row.text or "" for row in descendants(control, "stringParam")
                        if attribute(row, "name") in ("Command", "Path"))  # fmt: skip
        found = LINKS.search(said) if kind == "HYPERLINK" else None
        words.open_links.append((found[0].replace("\\", "").strip() if found else "", len(words.text)))
        if kind == "MEMO":
            self._writer.text(self._plain(control), label="aside_text", mark="comment")

    def _write(self, paragraph: Element, words: _Words) -> None:
        text = "".join(words.text).strip()
        if "".join(words.deleted).strip():
            self._writer.text("".join(words.deleted).strip(), label="aside_text", mark="deleted")
        formula = re.fullmatch(r"\$([^$]+)\$", text)
        head = self._heads.get(attribute(paragraph, "paraPrIDRef"), _Head())
        outline = self._styles.get(attribute(paragraph, "styleIDRef"), 0)
        if not text:
            return
        if formula:
            self._writer.formula(formula[1])
        elif head.kind == "OUTLINE" or outline:
            shown = self._next_number(head) if head.kind == "OUTLINE" else ""
            self._writer.heading(f"{shown} {text}".strip(), outline or head.level + 1, words.links)
        elif head.kind in ("NUMBER", "BULLET"):
            shown = self._next_number(head) if head.kind == "NUMBER" else ""
            self._writer.item(head.level, text, shown, words.links)
        else:
            self._writer.text(text, words.links)

    def _next_number(self, head: _Head) -> str:
        id = head.list_id if head.list_id in self._numberings else self._outline_id
        levels = self._numberings.get(id, [])
        if not head.level < len(levels):
            return ""
        before = [level.start - 1 for level in levels]
        counts = self._counts.setdefault(id, list(before))
        counts[head.level] += 1
        counts[head.level + 1 :] = before[head.level + 1 :]
        form = levels[head.level].form
        return re.sub(r"\^(\d{1,2})", lambda found: _shown(levels, counts, int(found[1]) - 1), form)

    def _hanging(self, element: Element) -> None:
        """Writes what hangs on a paragraph: tables, pictures, text boxes, objects."""
        name = local(element)
        if self._depth >= MAX_NESTING:
            return
        self._depth += 1
        if name == "tbl":
            self._writer.table(self._cells(element))
        elif name == "pic":
            image = next(descendants(element, "img"), None)
            part = self._pictures.get(attribute(image, "binaryItemIDRef"))
            self._writer.picture(self._package.picture(part) if part else b"")
        elif name in SHAPES:
            self._shape(element)
        elif name == "ole":
            self._writer.text("Embedded object", label="aside_text", mark="object")
        caption = child(element, "caption")
        if caption is not None:
            self._writer.text(self._plain(caption), label="figure_title")
        self._depth -= 1

    def _shape(self, shape: Element) -> None:
        for inner in shape:
            if local(inner) == "drawText":
                for paragraph in children(child(inner, "subList"), "p"):
                    self._paragraph(paragraph)
            elif local(inner) in SHAPES | {"pic"}:
                self._hanging(inner)

    def _plain(self, element: Element) -> str:
        """Returns the words of paragraphs as lines; running numbers of pages are not among them."""
        lines = []
        for paragraph in descendants(element, "p"):
            words = _Words()
            for run in children(paragraph, "run"):
                for inner in run:
                    if local(inner) in ("t", "equation"):
                        self._inner(inner, words, [])
            lines.append("".join(words.text).strip())
        return "\n".join(line for line in lines if line)

    def _cells(self, table: Element) -> list[TableCell]:
        cells: list[TableCell] = []
        for row in children(table, "tr"):
            for cell in children(row, "tc"):
                place, span = child(cell, "cellAddr"), child(cell, "cellSpan")
                r, c = number(place, "rowAddr"), number(place, "colAddr")
                tall, wide = max(1, number(span, "rowSpan")), max(1, number(span, "colSpan"))
                placed = TableCell(r, c, "", tall, wide, attribute(cell, "header") == "1")
                cells.append(with_parts(placed, list(self._cell_parts(cell))))
        return cells

    def _cell_parts(self, cell: Element) -> Iterator[CellPart]:
        for paragraph in children(child(cell, "subList"), "p"):
            words, later = _Words(), list[Element]()
            for run in children(paragraph, "run"):
                for inner in run:
                    self._inner(inner, words, later)
            text = "".join(words.text).strip()
            head = self._heads.get(attribute(paragraph, "paraPrIDRef"), _Head())
            if text:
                mark = {"NUMBER": self._next_number(head), "BULLET": "•"}.get(head.kind, "") if head else ""
                yield f"{mark} {text}".strip()
            for element in later:
                if local(element) == "tbl" and self._depth < MAX_NESTING:
                    self._depth += 1
                    yield tuple(self._cells(element))
                    self._depth -= 1
                elif local(element) in SHAPES:
                    yield self._plain(element)
                else:
                    self._hanging(element)


def _heads(header: Element | None) -> dict[str, _Head]:
    found = {}
    for row in descendants(header, "paraPr"):
        head = next(descendants(row, "heading"), None)
        if head is not None:
            found[attribute(row, "id")] = _Head(
                attribute(head, "type"), attribute(head, "idRef"), number(head, "level")
            )
    return found


def _styles(header: Element | None) -> dict[str, int]:
    """Returns the level of a heading by its style: "개요 1" is the first."""
    rows = descendants(header, "style")
    names = ((attribute(row, "id"), _OUTLINE.fullmatch(attribute(row, "name").strip())) for row in rows)
    return {id: int(found[1]) for id, found in names if found}


def _numberings(header: Element | None) -> dict[str, list[NumberLevel]]:
    return {
        attribute(row, "id"): [
            NumberLevel(attribute(head, "numFormat"), head.text or "", number(head, "start"))
            for head in children(row, "paraHead")
        ]
        for row in descendants(header, "numbering")
    }


def _shown(levels: Sequence[NumberLevel], counts: list[int], level: int) -> str:
    if not level < len(levels):
        return ""
    form, value = levels[level].kind, max(1, counts[level])
    letters = LETTERS.get(form, "")
    if letters:
        return letters[(value - 1) % len(letters)]
    if form.startswith("ROMAN"):
        return roman(value) if form.endswith("CAPITAL") else roman(value).lower()
    if form.startswith("LATIN"):
        letter = chr(ord("A") + (value - 1) % 26)
        return letter if form.endswith("CAPITAL") else letter.lower()
    return str(value)


def _pictures(package: XmlPackage) -> dict[str, str]:
    """Returns the parts that are pictures, by id: by the list of parts, and by their names."""
    named = {
        name.rpartition("/")[2].rpartition(".")[0]: name
        for name in package.names
        if name.startswith("BinData/")
    }
    rows = descendants(package.xml_if_there("Contents/content.hpf"), "item")
    listed = {attribute(row, "id"): attribute(row, "href").lstrip("/") for row in rows}
    return named | {id: name for id, name in listed.items() if package.has(name)}
