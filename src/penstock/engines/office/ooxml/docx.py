"""DOCX: paragraphs, lists, tables, notes, comments, changes, pictures, formulas, as Word keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from penstock.engines.office.block_writer import BlockWriter, is_code_style
from penstock.engines.office.blocks import HIDDEN_TEXT, BlockFile, StructureBlock, in_units
from penstock.engines.office.ooxml.charts import chart_cells
from penstock.engines.office.ooxml.docx_parts import (
    PLAIN,
    ParagraphStyle,
    number_of,
    read_notes,
    read_numbering,
    read_styles,
)
from penstock.engines.office.ooxml.docx_text import ParagraphReader, ParagraphText
from penstock.engines.office.ooxml.settings import setting
from penstock.engines.office.package import PartRelation, XmlPackage, attribute, child, descendants, local
from penstock.errors import BadInput
from penstock.region import CellPart, TableCell, with_parts

MAX_NESTING = 20  # of tables and text boxes in each other
CONTAINERS = frozenset(
    {"sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag", "AlternateContent", "Choice"}
)


def read_docx(package: XmlPackage) -> BlockFile:
    """Returns the document in pages, where the file says where they ended, or else in sections."""
    return BlockFile(in_units(_Docx(package).blocks()))


class _Docx:
    def __init__(self, package: XmlPackage) -> None:
        self._package = package
        self._part = _main_part(package)
        self._relations = package.relations(self._part)
        self._styles = read_styles(package, self._named("styles"))
        self._numbering = read_numbering(package, self._named("numbering"))
        self._footnotes = read_notes(package, self._named("footnotes"), "footnote")
        self._endnotes = read_notes(package, self._named("endnotes"), "endnote")
        self._comments = read_notes(package, self._named("comments"), "comment")
        self._paragraphs = ParagraphReader(self._relations)
        self._writer = BlockWriter()
        self._waiting_endnotes: list[str] = []
        self._depth = 0

    def blocks(self) -> list[StructureBlock]:
        body = child(self._package.xml(self._part), "body")
        if body is None:
            raise BadInput("its document has no body.", "Open it in its own program and save it again.")
        self._margins(body)
        self._children(body)
        for id in self._waiting_endnotes:
            self._write_note(self._endnotes, id, f"e{id}", "endnote")
        return self._writer.finished()

    def _named(self, kind: str) -> str:
        found = (
            each.target for each in self._relations.values() if each.kind == kind and not each.is_outside
        )
        return next(found, "")

    def _margins(self, body: Element) -> None:
        """Writes running headers and footers once; they are not repeated on every page."""
        seen: set[str] = set()
        for row in (each for section in descendants(body, "sectPr") for each in section):
            if local(row) not in ("headerReference", "footerReference"):
                continue
            relation = self._relations.get(attribute(row, "id"))
            if relation is None or relation.target in seen or not self._package.has(relation.target):
                continue
            seen.add(relation.target)
            reader = ParagraphReader(self._package.relations(relation.target))
            tree = self._package.xml(relation.target)
            texts = (reader.read(paragraph).text.strip() for paragraph in descendants(tree, "p"))
            label = "header" if local(row) == "headerReference" else "footer"
            self._writer.text("\n".join(text for text in texts if text), label=label)

    def _children(self, element: Element) -> None:
        for inner in _inside(element, "p", "tbl"):
            if local(inner) == "p":
                self._paragraph(inner)
            else:
                self._writer.table(self._cells(inner))

    def _paragraph(self, element: Element) -> None:
        style = self._style(element)
        found = self._paragraphs.read(element)
        self._breaks(
            found.breaks_before + (child(element, "pPr", "pageBreakBefore") is not None),
            found.rendered_before,
        )
        self._words(element, style, found)
        self._hanging(found)
        section = child(element, "pPr", "sectPr")
        ends = section is not None and setting(section, "type") not in ("continuous", "nextColumn")
        self._breaks(found.breaks_after + ends, found.rendered_after)

    def _breaks(self, own: int, rendered: int) -> None:
        for _ in range(min(own, MAX_NESTING)):
            self._writer.page_break()
        # Word notes the end of a page again after a break by the author
        if rendered and not own and not self._writer.is_fresh:
            self._writer.page_break()

    def _style(self, element: Element) -> ParagraphStyle:
        row = child(element, "pPr", "pStyle")
        return PLAIN if row is None else self._styles.get(attribute(row, "val"), PLAIN)

    def _words(self, element: Element, style: ParagraphStyle, found: ParagraphText) -> None:
        text = found.text.strip(" \t\n") if not is_code_style(style.name) else found.text.rstrip()
        number, depth = self._number(element, style) if text else (None, 0)
        outline = child(element, "pPr", "outlineLvl")
        told = number_of(attribute(outline, "val")) + 1 if outline is not None else style.outline
        if told is not None and told <= 9 and text:
            self._writer.heading(f"{number} {text}" if number else text, told, found.links)
        elif style.is_title:
            self._writer.heading(text, 0, found.links)
        elif number is not None:
            self._writer.item(depth, text, number, found.links)
        else:
            self._writer.text(text, found.links, _label(style))
        for latex in found.formulas:
            self._writer.formula(latex)

    def _number(self, element: Element, style: ParagraphStyle) -> tuple[str | None, int]:
        """Returns the item's number, "" for a bullet, None for what is in no list; and its depth."""
        id = setting(element, "pPr", "numPr", "numId", default=style.list_id)
        level = number_of(setting(element, "pPr", "numPr", "ilvl", default=str(style.list_level)))
        if not id or id == "0":
            return None, 0
        return self._numbering.number(id, level), level

    def _hanging(self, found: ParagraphText) -> None:
        self._writer.text("".join(found.deleted), label="aside_text", mark="deleted")
        self._writer.text("".join(found.hidden), label="aside_text", mark=HIDDEN_TEXT)
        for id, words in found.pictures:
            self._picture(self._relations.get(id), words)
        for id in found.charts:
            self._writer.table(chart_cells(self._package.related(self._relations.get(id))), mark="chart")
        for name in found.objects:
            self._writer.text(f"Embedded object: {name or 'unknown'}", label="aside_text", mark="object")
        self._boxes(found.boxes)
        for id in found.footnotes:
            self._write_note(self._footnotes, id, id, "footnote")
        self._waiting_endnotes += found.endnotes
        for id in found.comments:
            self._comment(id)

    def _boxes(self, boxes: list[Element]) -> None:
        if self._depth >= MAX_NESTING:
            return
        self._depth += 1
        for box in boxes:
            self._children(box)
        self._depth -= 1

    def _picture(self, relation: PartRelation | None, words: str) -> None:
        if relation is None:
            return
        if relation.is_outside:
            self._writer.picture(
                b"", words, "The picture is not in the file but at an address, which is not fetched."
            )
        else:
            self._writer.picture(self._package.picture(relation.target), words)

    def _write_note(self, notes: dict[str, Element], id: str, name: str, mark: str) -> None:
        if id in notes:
            text = self._plain(notes[id])
            self._writer.note(f"[^{name}]: {text}", mark=mark)

    def _comment(self, id: str) -> None:
        row = self._comments.get(id)
        if row is not None:
            author = attribute(row, "author")
            text = self._plain(row)
            self._writer.text(f"{author}: {text}" if author else text, label="aside_text", mark="comment")

    def _plain(self, element: Element) -> str:
        reader = ParagraphReader({})
        texts = (reader.read(row).text.strip() for row in descendants(element, "p"))
        return "\n".join(text for text in texts if text)

    def _cells(self, table: Element) -> list[TableCell]:
        """Returns the cells; one that goes on below (vMerge) is one cell with a span."""
        cells: dict[tuple[int, int], TableCell] = {}
        open_at: dict[int, tuple[int, int]] = {}  # column -> the cell that goes on below
        for row, element in enumerate(_inside(table, "tr")):
            head = child(element, "trPr", "tblHeader")
            is_head = head is not None and attribute(head, "val", "1") not in ("0", "false", "off")
            column = number_of(setting(element, "trPr", "gridBefore"))
            for cell in _inside(element, "tc"):
                wide = max(1, number_of(setting(cell, "tcPr", "gridSpan")))
                merge = child(cell, "tcPr", "vMerge")
                home = (
                    open_at.get(column)
                    if merge is not None and attribute(merge, "val") != "restart"
                    else None
                )
                if home is not None:
                    cells[home] = cells[home]._replace(row_span=row - home[0] + 1)
                else:
                    placed = TableCell(row, column, "", 1, wide, is_head)
                    cells[row, column] = with_parts(placed, self._cell_parts(cell))
                    home = (row, column)
                open_at[column] = home if merge is not None else (row, column)
                if merge is None:
                    open_at.pop(column)
                column += wide
        return list(cells.values())

    def _cell_parts(self, cell: Element) -> list[CellPart]:
        """Returns a cell's lines and the tables in it; pictures are blocks after the table."""
        lines: list[CellPart] = []
        for inner in _inside(cell, "p", "tbl"):
            if local(inner) == "tbl":
                if self._depth < MAX_NESTING:
                    self._depth += 1
                    lines.append(tuple(self._cells(inner)))
                    self._depth -= 1
                continue
            style, found = self._style(inner), self._paragraphs.read(inner)
            number, depth = self._number(inner, style)
            text = " ".join(
                part for part in [found.text.strip(), *(f"${each}$" for each in found.formulas)] if part
            )
            lines.append(f"{'  ' * depth}{number or '•'} {text}" if number is not None and text else text)
            found.links.clear()
            self._hanging(found)
        return lines


def _label(style: ParagraphStyle) -> str:
    if is_code_style(style.name):
        return "algorithm"
    return "figure_title" if style.name.lower() in ("caption", "캡션") else "text"


def _main_part(package: XmlPackage) -> str:
    found = (each for each in package.relations("").values() if each.kind == "officeDocument")
    part = next((each.target for each in found if package.has(each.target)), "word/document.xml")
    if not package.has(part):
        raise BadInput("it has no document part.", "Open it in Word and save it again.")
    return part


def _inside(element: Element, *names: str) -> Iterator[Element]:
    """Yields the children of these names, those in containers too."""
    for inner in element:
        if local(inner) in names:
            yield inner
        elif local(inner) in CONTAINERS:
            yield from _inside(inner, *names)
