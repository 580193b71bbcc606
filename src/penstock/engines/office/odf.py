"""OpenDocument: texts, presentations and sheets."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from penstock.engines.office.block_writer import BlockWriter, is_code_style
from penstock.engines.office.blocks import BlockFile, Hyperlink, StructureBlock, in_units
from penstock.engines.office.html_tree import HtmlNode
from penstock.engines.office.mathml import latex_of_mathml
from penstock.engines.office.ooxml.sheet_tables import tables_of
from penstock.engines.office.package import XmlPackage, attribute, child, children, descendants, local
from penstock.errors import BadInput
from penstock.region import CellPart, TableCell, text_of_parts, with_parts

MAX_NESTING = 20
MAX_SPACES = 200
MAX_SHEET_CELLS = 500_000
MAX_REPEATED = 1_000  # of one cell: a sheet says of its last one that it goes on to the end


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
    parts = children(kind, "page" if local(kind) == "presentation" else "table")
    read = reader.slide if local(kind) == "presentation" else reader.sheet
    return BlockFile([read(part) for part in parts])


class _Odf:
    def __init__(self, package: XmlPackage) -> None:
        self._package = package
        self._parents, self._breaks, self._ordered = _styles(package)
        self._writer = BlockWriter()
        self._deleted: dict[str, str] = {}
        self._notes = 0
        self._depth = 0

    def text(self, body: Element) -> list[StructureBlock]:
        for row in descendants(body, "changed-region"):
            if child(row, "deletion") is not None:
                self._deleted[attribute(row, "id")] = "".join(row.itertext()).strip()
        self._inside(body)
        return self._writer.finished()

    def slide(self, page: Element) -> list[StructureBlock]:
        self._writer = BlockWriter()
        for frame in page:
            if local(frame) == "notes":
                lines = ("".join(self._words(row)[0]).strip() for row in descendants(frame, "p"))
                self._writer.note("\n".join(line for line in lines if line), mark="speaker_notes")
            elif attribute(frame, "class") in ("title",):
                self._writer.heading(" ".join(self._words(row)[0] for row in descendants(frame, "p")), 1)
            else:
                self._frame(frame)
        return [block for part in in_units(self._writer.finished()) for block in part]

    def sheet(self, table: Element) -> list[StructureBlock]:
        """Returns a sheet's tables, then what hangs on their cells: pictures and comments."""
        self._writer = BlockWriter()
        texts: dict[tuple[int, int], str] = {}
        merged: list[tuple[int, int, int, int]] = []
        row_at = 0
        for row in _rows(table):
            column = 0
            for cell in row:
                if local(cell) not in ("table-cell", "covered-table-cell"):
                    continue
                times = _number(cell, "number-columns-repeated")
                is_own = local(cell) == "table-cell"
                text = text_of_parts(self._cell_parts(cell)) if is_own else ""
                for place in range(column, column + min(times, MAX_REPEATED)) if text else ():
                    if len(texts) < MAX_SHEET_CELLS:
                        texts[row_at, place] = text
                tall, wide = _number(cell, "number-rows-spanned"), _number(cell, "number-columns-spanned")
                if tall > 1 or wide > 1:
                    merged.append((row_at, column, row_at + tall - 1, column + wide - 1))
                column += times
            row_at += _number(row, "number-rows-repeated")
        name = StructureBlock(label="paragraph_title", text=attribute(table, "name"), level=2, mark="sheet")
        found = (
            StructureBlock(label="table", cells=tuple(cells)) if len(cells) > 1
            else StructureBlock(label="text", text=cells[0].text)
            for cells in tables_of(texts, merged)
        )  # fmt: skip
        return [block for part in in_units([name, *found, *self._writer.finished()]) for block in part]

    def _inside(self, element: Element, depth: int = -1, number: str = "") -> None:
        for inner in element:
            name = local(inner)
            if name == "h":
                self._heading(inner)
            elif name == "p":
                self._paragraph(inner, depth, number)
                number = ""
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
        self._writer.heading(text, max(1, _number(element, "outline-level")), links)
        self._frames(frames)

    def _paragraph(self, element: Element, depth: int, number: str) -> None:
        self._break(element)
        text, links, frames = self._words(element)
        style = self._family(attribute(element, "style-name"))
        if depth >= 0:
            self._writer.item(depth, text, number, links)
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
        if attribute(element, "style-name") in self._breaks and not self._writer.is_fresh:
            self._writer.page_break()

    def _family(self, style: str) -> str:
        for _ in range(MAX_NESTING):
            parent = self._parents.get(style)
            if parent is None or style in ("Title", "Caption"):
                break
            style = parent
        return style.replace("_20_", " ")

    def _list(self, element: Element, depth: int, style: str = "") -> None:
        if depth >= MAX_NESTING:
            return
        style = attribute(element, "style-name") or style
        ordered = (style, min(depth, 9)) in self._ordered
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
                    {"s": " " * min(max(1, _number(inner, "c")), MAX_SPACES), "tab": "\t"}.get(name, "\n")
                )
            elif name in ("frame", "custom-shape", "g"):
                formula = self._formula(inner)
                if formula:
                    words.append(f"${formula}$")
                else:
                    frames.append(inner)
            elif name == "change":
                self._change(inner)
            elif name not in ("tracked-changes", "bookmark", "ruby-text"):
                self._gather(inner, words, links, frames)
            words.append(inner.tail or "")

    def _comment(self, element: Element) -> None:
        lines = ("".join(row.itertext()).strip() for row in descendants(element, "p"))
        self._writer.text("\n".join(lines), label="aside_text", mark="comment")

    def _change(self, element: Element) -> None:
        text = self._deleted.pop(attribute(element, "change-id"), "")
        self._writer.text(text, label="aside_text", mark="deleted")

    def _note(self, element: Element, words: list[str]) -> None:
        self._notes += 1
        number = self._notes
        words.append(f"[^{number}]")
        body = child(element, "note-body")
        lines = (self._words(row)[0] for row in descendants(body, "p")) if body is not None else ()
        mark = attribute(element, "note-class", "footnote")
        self._writer.note(f"[^{number}]: " + "\n".join(lines), mark=mark)

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
            elif name in ("frame", "g", "custom-shape"):
                self._frame(inner)
            elif name == "object":
                latex = self._formula(frame)
                if latex:
                    self._writer.formula(latex)
                else:
                    self._writer.text("Embedded object", label="aside_text", mark="object")
            elif name in ("object-ole", "plugin", "applet"):
                self._writer.text(f"Embedded object: {name}", label="aside_text", mark="object")
        self._depth -= 1

    def _image(self, element: Element, words: str) -> None:
        name = attribute(element, "href").removeprefix("./")
        data = self._package.picture(name) if self._package.has(name) else b""
        self._writer.picture(data, words)

    def _formula(self, frame: Element) -> str:
        for inner in children(frame, "object"):
            name = f"{attribute(inner, 'href').removeprefix('./')}/content.xml"
            tree = child(inner, "math")
            if tree is None and self._package.has(name):
                tree = self._package.xml(name)
            if tree is not None and local(tree) == "math":
                return latex_of_mathml(_as_node(tree))
        return ""

    def _cells(self, table: Element) -> list[TableCell]:
        cells: list[TableCell] = []
        heads = {id(row) for head in descendants(table, "table-header-rows") for row in head}
        for r, row in enumerate(_rows(table)):
            c = 0
            for cell in row:
                if local(cell) not in ("table-cell", "covered-table-cell"):
                    continue
                times = min(_number(cell, "number-columns-repeated"), MAX_REPEATED)
                if local(cell) == "table-cell":
                    said = with_parts(TableCell(r, c), self._cell_parts(cell))
                    tall, wide = _number(cell, "number-rows-spanned"), _number(cell, "number-columns-spanned")
                    said = said._replace(row_span=tall, column_span=wide, is_header=id(row) in heads)
                    cells += [said._replace(column=c + n) for n in range(times)]
                c += times
        return cells

    def _cell_parts(self, cell: Element) -> list[CellPart]:
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
                self._comment(inner)
            elif local(inner) == "list":
                lines += [f"• {self._words(row)[0]}" for row in descendants(inner, "p")]
        return lines


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
            yield {"s": " " * min(max(1, _number(inner, "c")), MAX_SPACES), "tab": "\t"}.get(name, "\n")
        yield from _letters(inner)
        yield inner.tail or ""


def _rows(table: Element) -> Iterator[Element]:
    for inner in table:
        if local(inner) == "table-row":
            yield inner
        elif local(inner) in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(inner)


def _styles(package: XmlPackage) -> tuple[dict[str, str], set[str], set[tuple[str, int]]]:
    """Returns parents of styles, styles that begin a page, and lists that count, by style and depth."""
    parents: dict[str, str] = {}
    breaks: set[str] = set()
    ordered: set[tuple[str, int]] = set()
    for part in ("styles.xml", "content.xml"):
        tree = package.xml(part) if package.has(part) else None
        for row in tree.iter() if tree is not None else ():
            name = attribute(row, "name")
            if local(row) == "style":
                parents[name] = attribute(row, "parent-style-name") or name
                settings = child(row, "paragraph-properties")
                if settings is not None and attribute(settings, "break-before") == "page":
                    breaks.add(name)
            elif local(row) == "list-style":
                levels = children(row, "list-level-style-number")
                ordered |= {
                    (name, _number(level, "level") - 1) for level in levels if attribute(level, "num-format")
                }
    return {name: parent for name, parent in parents.items() if parent != name}, breaks, ordered


def _number(element: Element, name: str) -> int:
    text = attribute(element, name)
    return int(text) if text.isdecimal() and len(text) < 9 else 1
