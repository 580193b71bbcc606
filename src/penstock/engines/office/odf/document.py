"""Reads an OpenDocument: a text by its pages, a presentation by slides, a workbook by sheets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from penstock.engines.office.block_writer import BlockWriter, is_code_style
from penstock.engines.office.blocks import BlockFile, Hyperlink, StructureBlock, as_hidden, in_units
from penstock.engines.office.html_tree import HtmlNode
from penstock.engines.office.mathml import latex_of_mathml
from penstock.engines.office.odf.places import own_box, page_size, shapes_of
from penstock.engines.office.odf.sheets import CELLS, MAX_REPEATED, rows_of, sheet_content
from penstock.engines.office.odf.styles import number, read_styles
from penstock.engines.office.ooxml.sheet_tables import MAX_SHEET_CELLS, whole_sheet
from penstock.engines.office.package import XmlPackage, attribute, child, children, descendants, local
from penstock.errors import BadInput
from penstock.region import CellPart, TableCell, text_of_parts, with_parts

MAX_NESTING = 20
MAX_SPACES = 200


def read_odf(package: XmlPackage) -> BlockFile:
    """Returns a text in its own pages, a presentation in slides, a workbook in sheets."""
    body = child(package.xml("content.xml"), "body")
    kinds = ("text", "presentation", "spreadsheet")
    kind = next((inner for inner in body if local(inner) in kinds), None) if body is not None else None
    if kind is None:
        raise BadInput("its content is no text, no presentation and no workbook.")
    reader = _Odf(package)
    if local(kind) == "text":
        return BlockFile(in_units(reader.text(kind)))
    if local(kind) == "spreadsheet":
        return BlockFile([reader.sheet(table) for table in children(kind, "table")])
    pages = list(children(kind, "page"))
    slides = [reader.slide(page) for page in pages]
    return BlockFile(slides, page_size(package, pages[0])) if pages else BlockFile(slides)


class _Odf:
    def __init__(self, package: XmlPackage) -> None:
        self._package = package
        self._styles = read_styles(package)
        self._writer = BlockWriter()
        self._deleted: dict[str, str] = {}
        self._notes = 0
        self._depth = 0
        self._room = MAX_SHEET_CELLS  # for rows that a table says once for several

    def text(self, body: Element) -> list[StructureBlock]:
        for row in descendants(body, "changed-region"):
            if child(row, "deletion") is not None:
                lines = ("".join(line.itertext()) for line in _lines(row))
                self._deleted[attribute(row, "id")] = "\n".join(lines).strip()
        self._margins()
        self._inside(body)
        return self._writer.finished()

    def _margins(self) -> None:
        """Writes running headers and footers once; they are not repeated on every page."""
        said: dict[str, str] = {}
        for row in self._styles.margins:
            lines = (self._words(line)[0] for line in descendants(row, "p"))
            said.setdefault("\n".join(line for line in lines if line), local(row)[:6])
        for text, label in said.items():
            self._writer.text(text, label=label)

    def slide(self, page: Element) -> list[StructureBlock]:
        found = [block for shape in shapes_of(page) for block in self._of_shape(shape)]
        blocks = [block for part in in_units(found) for block in part]
        if attribute(page, "style-name") not in self._styles.hidden:
            return blocks
        return as_hidden(blocks, "hidden_slide")

    def _of_shape(self, shape: Element) -> list[StructureBlock]:
        self._writer = BlockWriter()
        if local(shape) == "notes":
            lines = ("".join(self._words(row)[0]).strip() for row in descendants(shape, "p"))
            self._writer.note("\n".join(line for line in lines if line), mark="speaker_notes")
            return self._writer.finished()
        if attribute(shape, "class") == "title":
            self._writer.heading(" ".join(self._words(row)[0] for row in descendants(shape, "p")), 1)
        else:
            self._frame(shape)
        return [replace(block, box=own_box(shape)) for block in self._writer.finished()]

    def sheet(self, table: Element) -> list[StructureBlock]:
        """Returns a sheet's tables, then what hangs on their cells or floats over them."""
        self._writer = BlockWriter()
        content = sheet_content(table, lambda cell, name: text_of_parts(self._cell_parts(cell, name)))
        for shapes in children(table, "shapes"):
            self._frames(list(shapes))
        is_hidden = attribute(table, "style-name") in self._styles.hidden
        return whole_sheet(attribute(table, "name"), is_hidden, content, self._writer.finished())

    def _inside(self, element: Element, depth: int = -1, item: str = "") -> None:
        for inner in element:
            name = local(inner)
            if name == "h":
                self._heading(inner)
            elif name == "p":
                self._paragraph(inner, depth, item)
                item = ""
            elif name == "list":
                self._list(inner, depth + 1)
            elif name == "table":
                self._writer.table(self._cells(inner))
            elif name in (
                "section",
                "index-body",
                "table-of-content",
                "illustration-index",
                "index-title",
                "text-box",
            ):
                self._inside(inner, depth)
            elif name in ("frame", "g", "custom-shape", "rect"):
                self._frame(inner)
            elif name == "change":
                self._change(inner)

    def _heading(self, element: Element) -> None:
        self._break(element)
        text, links, frames = self._words(element)
        self._writer.heading(text, max(1, number(element, "outline-level")), links)
        self._frames(frames)

    def _paragraph(self, element: Element, depth: int, item: str) -> None:
        self._break(element)
        text, links, frames = self._words(element)
        style = self._family(attribute(element, "style-name"))
        if depth >= 0:
            self._writer.item(depth, text, item, links)
        elif style == "Title":
            self._writer.heading(text, 0, links)
        elif is_code_style(style):
            self._writer.text("".join(_letters(element)), label="algorithm")
        elif text.startswith("$") and text.endswith("$") and text.count("$") == 2:
            self._writer.formula(text[1:-1])
        else:
            label = (
                "figure_title"
                if style in ("Caption", "Illustration", "Table", "Figure", "Drawing")
                else "text"
            )
            self._writer.text(text, links, label)
        self._frames(frames)

    def _break(self, element: Element) -> None:
        if attribute(element, "style-name") in self._styles.breaks and not self._writer.is_fresh:
            self._writer.page_break()

    def _family(self, style: str) -> str:
        for _ in range(MAX_NESTING):
            parent = self._styles.parents.get(style)
            if parent is None or style in ("Title", "Caption"):
                break
            style = parent
        return style.replace("_20_", " ")

    def _list(self, element: Element, depth: int, style: str = "") -> None:
        if depth >= MAX_NESTING:
            return
        style = attribute(element, "style-name") or style
        ordered = (style, min(depth, 9)) in self._styles.ordered
        count = 0
        for row in element:
            if local(row) not in ("list-item", "list-header"):
                continue
            count += local(row) == "list-item"
            for inner in row:
                if local(inner) == "list":
                    self._list(inner, depth + 1, style)
                # an item's own words come before the lists in it
                else:
                    holder = Element("item")
                    holder.append(inner)
                    self._inside(holder, depth, f"{count}." if ordered and local(row) == "list-item" else "")

    def _words(self, element: Element) -> tuple[str, list[Hyperlink], list[Element]]:
        words: list[str] = []
        links: list[Hyperlink] = []
        frames: list[Element] = []
        self._gather(element, words, links, frames)
        return "".join(words).strip(), links, frames

    def _gather(
        self, element: Element, words: list[str], links: list[Hyperlink], frames: list[Element]
    ) -> None:
        words.append(element.text or "")
        for inner in element:
            name = local(inner)
            if name == "note":
                self._note(inner, words)
            elif name == "annotation":
                self._comment(inner)
            elif name == "a":
                start = len(words)
                self._gather(inner, words, links, frames)
                text = "".join(words[start:]).strip()
                if text:
                    links.append(Hyperlink(text, attribute(inner, "href")))
            elif name in ("s", "tab", "line-break"):
                words.append(
                    {"s": " " * min(max(1, number(inner, "c")), MAX_SPACES), "tab": "\t"}.get(name, "\n")
                )
            elif name in ("frame", "custom-shape", "g"):
                formula = self._formula(inner)
                if formula:
                    words.append(f"${formula}$")
                else:
                    frames.append(inner)
            elif name == "change":
                self._change(inner)
            elif name not in ("tracked-changes", "bookmark", "ruby-text", "page-number"):
                self._gather(inner, words, links, frames)
            words.append(inner.tail or "")

    def _comment(self, element: Element, cell: str = "") -> None:
        """Writes a comment; of a sheet's, with its cell."""
        lines = ("".join(row.itertext()).strip() for row in descendants(element, "p"))
        text = "\n".join(lines).strip()
        text = f"{cell}: {text}" if cell and text else text
        self._writer.text(text, label="aside_text", mark="comment")

    def _change(self, element: Element) -> None:
        text = self._deleted.pop(attribute(element, "change-id"), "")
        self._writer.text(text, label="aside_text", mark="deleted")

    def _note(self, element: Element, words: list[str]) -> None:
        self._notes += 1
        sign = f"[^{self._notes}]"
        words.append(sign)
        body = child(element, "note-body")
        lines = (self._words(row)[0] for row in descendants(body, "p"))
        mark = attribute(element, "note-class", "footnote")
        self._writer.note(f"{sign}: " + "\n".join(lines), mark=mark)

    def _frames(self, frames: list[Element]) -> None:
        for frame in frames:
            self._frame(frame)

    def _frame(self, frame: Element) -> None:
        if self._depth >= MAX_NESTING:
            return
        self._depth += 1
        title = next((row.text or "" for row in frame if local(row) in ("desc", "title")), "")
        for inner in frame:
            name = local(inner)
            if name == "image":
                self._image(inner, title)
                break  # what follows is the same picture in another way
            if name == "text-box":
                self._inside(inner)
            elif name in ("p", "list"):
                holder = Element("shape")
                holder.append(inner)
                self._inside(holder)
            elif name == "table":
                self._writer.table(self._cells(inner))
                break  # what follows is a picture of it
            elif name in ("frame", "g", "custom-shape"):
                self._frame(inner)
            elif name == "object":
                self._object(frame)
            elif name in ("object-ole", "plugin", "applet"):
                self._writer.text(f"Embedded object: {name}", label="aside_text", mark="object")
        self._depth -= 1

    def _image(self, element: Element, words: str) -> None:
        name = attribute(element, "href").removeprefix("./")
        data = self._package.picture(name) if self._package.has(name) else b""
        self._writer.picture(data, words)

    def _object(self, frame: Element) -> None:
        """Writes a formula, the table that a chart was drawn from, or that there is an object."""
        tree = self._embedded(frame)
        chart = next(descendants(tree, "chart"), None)
        table = next(descendants(chart, "table"), None)
        latex = self._formula(frame)
        if latex:
            self._writer.formula(latex)
        elif table is not None:
            self._writer.table(self._cells(table), mark="chart")
        else:
            self._writer.text("Embedded object", label="aside_text", mark="object")

    def _formula(self, frame: Element) -> str:
        tree = self._embedded(frame)
        return latex_of_mathml(_as_node(tree)) if tree is not None and local(tree) == "math" else ""

    def _embedded(self, frame: Element) -> Element | None:
        """Returns the tree of what a frame holds that is a document of its own."""
        for inner in children(frame, "object"):
            name = f"{attribute(inner, 'href').removeprefix('./')}/content.xml"
            tree = child(inner, "math")
            if tree is None:
                tree = self._package.xml_if_there(name)
            if tree is not None:
                return tree
        return None

    def _cells(self, table: Element) -> list[TableCell]:
        cells: list[TableCell] = []
        heads = {id(row) for head in descendants(table, "table-header-rows") for row in head}
        at = 0
        for row in rows_of(table):
            times = min(number(row, "number-rows-repeated"), MAX_REPEATED)
            own = self._row_cells(row, id(row) in heads)
            copies = min(times, 1 + self._room // max(1, len(own)))
            self._room -= (copies - 1) * len(own)
            cells += [cell._replace(row=at + n) for n in range(copies) for cell in own]
            at += times
        return cells

    def _row_cells(self, row: Element, is_head: bool) -> list[TableCell]:
        cells: list[TableCell] = []
        column = 0
        for cell in row:
            if local(cell) not in CELLS:
                continue
            times = min(number(cell, "number-columns-repeated"), MAX_REPEATED)
            if local(cell) == "table-cell":
                said = with_parts(TableCell(0, column), self._cell_parts(cell))
                tall, wide = number(cell, "number-rows-spanned"), number(cell, "number-columns-spanned")
                said = said._replace(row_span=tall, column_span=wide, is_header=is_head)
                cells += [said._replace(column=column + n) for n in range(times)]
            column += times
        return cells

    def _cell_parts(self, cell: Element, name: str = "") -> list[CellPart]:
        lines: list[CellPart] = []
        for inner in cell:
            if local(inner) == "table" and self._depth < MAX_NESTING:
                self._depth += 1
                lines.append(tuple(self._cells(inner)))
                self._depth -= 1
            elif local(inner) in ("p", "h"):
                text, _, frames = self._words(inner)
                lines.append(text)
                self._frames(frames)
            elif local(inner) == "annotation":
                self._comment(inner, name)
            elif local(inner) == "list":
                lines += [f"• {self._words(row)[0]}" for row in descendants(inner, "p")]
        return lines


def _lines(element: Element) -> Iterator[Element]:
    """Yields the paragraphs and headings in it: who wrote it and when are no words of the text."""
    return (row for row in element.iter() if local(row) in ("p", "h"))


def _as_node(element: Element) -> HtmlNode:
    node = HtmlNode(local(element), {key.rpartition("}")[2]: value for key, value in element.attrib.items()})
    node.children.append(element.text or "")
    for inner in element:
        node.children += [_as_node(inner), inner.tail or ""]
    return node


def _letters(element: Element) -> Iterator[str]:
    yield element.text or ""
    for inner in element:
        name = local(inner)
        if name in ("s", "tab", "line-break"):
            yield {"s": " " * min(max(1, number(inner, "c")), MAX_SPACES), "tab": "\t"}.get(name, "\n")
        yield from _letters(inner)
        yield inner.tail or ""
