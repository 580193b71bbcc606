"""HTML as blocks: the body's headings, lists, tables, pictures and formulas. Nothing is fetched or run."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from penstock.engines.office.block_writer import BlockWriter
from penstock.engines.office.blocks import Hyperlink, StructureBlock
from penstock.engines.office.html_tree import BLOCKS, HIDDEN, HtmlNode, tree_of
from penstock.engines.office.mathml import latex_of_mathml
from penstock.engines.office.text import decoded
from penstock.region import CellPart, TableCell, text_of_parts, with_parts

PictureOf = Callable[[str], bytes]
MAX_SPAN = 1_000
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w-]{2,30})", re.IGNORECASE)
_DATA = re.compile(r"data:image/[\w.+-]{1,20};base64,(.+)", re.DOTALL)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# what is around a page's own words
MARGINS = {"nav": "aside_text", "aside": "aside_text"}
MARKS = {"sup": "^", "sub": "_"}
# notes and their marks, as EPUB 3 and DPUB-ARIA call them
NOTES = frozenset({"footnote", "endnote", "rearnote", "doc-footnote", "doc-endnote"})
NOTE_MARKS = frozenset({"noteref", "doc-noteref"})
MAX_NOTE_NAME = 12  # letters


def no_picture(source: str) -> bytes:
    """Returns a picture that is written in the page itself; others are not fetched."""
    found = _DATA.fullmatch(source)
    try:
        return base64.b64decode("".join(found[1].split()), validate=False) if found else b""
    except (binascii.Error, ValueError):
        return b""


def decoded_page(data: bytes) -> str:
    """Returns the text of a page, by the letters that it says it has."""
    told = _CHARSET.search(data[:4096])
    return decoded(data, told[1].decode("ascii") if told else "")


def html_blocks(text: str, picture_of: PictureOf = no_picture) -> list[StructureBlock]:
    """Returns the blocks of a page. `picture_of` gives the bytes of a picture by its address."""
    reader = _HtmlReader(picture_of)
    root = tree_of(text)
    body = next(root.find("body"), root)
    reader.inside(body)
    reader.end_paragraph()
    return reader.writer.finished()


class _HtmlReader:
    def __init__(self, picture_of: PictureOf) -> None:
        self.writer = BlockWriter()
        self._picture_of = picture_of
        self._words: list[str] = []
        self._links: list[Hyperlink] = []
        self._note_names: dict[str, str] = {}  # what the marks of notes say, by the notes' ids
        self._label, self._mark = "text", ""
        self._lists: list[tuple[str, int]] = []  # open lists: kind, and the number of the item before
        self._element: dict[str, Callable[[HtmlNode], None]] = {
            "br": self._break, "a": self._anchor, "img": self._picture, "table": self._table, 
            "pre": self._code,
            "ul": self._list, "ol": self._list, "menu": self._list, "math": self._formula, "hr": self._end,
            "figcaption": self._caption, "nav": self._margin, "aside": self._margin, "input": self._box,
            **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), self._heading),
        }  # fmt: skip

    def inside(self, node: HtmlNode) -> None:
        for each in node.children:
            if isinstance(each, str):
                self._words.append(re.sub(r"[ \t\r\n\f]+", " ", each))
            elif each.tag not in HIDDEN and not _is_hidden(each):
                self._take(each)

    def _take(self, node: HtmlNode) -> None:
        if node.tag in self._element:
            self._element[node.tag](node)
        elif node.tag in BLOCKS:
            self.end_paragraph()
            self.inside(node)
            self.end_paragraph()
        else:
            self.inside(node)

    def end_paragraph(self) -> None:
        """Writes the words that were gathered as one block."""
        text = _tidy("".join(self._words))
        links, self._words, self._links = tuple(self._links), [], []
        if not text:
            return
        if self._lists:
            kind, number = self._lists[-1]
            self.writer.item(len(self._lists) - 1, text, f"{number}." if kind == "ol" else "", links)
        elif re.fullmatch(r"\$\$.+\$\$", text, re.DOTALL):
            self.writer.formula(text[2:-2].strip())
        else:
            self.writer.text(text, links, self._label, self._mark)

    def _end(self, _: HtmlNode) -> None:
        self.end_paragraph()

    def _break(self, _: HtmlNode) -> None:
        self._words.append("\n")

    def _box(self, node: HtmlNode) -> None:
        if node.get("type") in ("checkbox", "radio"):
            self._words.append("☒ " if "checked" in node.attributes else "☐ ")

    def _anchor(self, node: HtmlNode) -> None:
        if _says(node, NOTE_MARKS):
            id = node.get("href").rpartition("#")[2]
            name = self._note_names.setdefault(id, _note_name(node.text() or id))
            self._words.append(f"[^{name}]")
            return
        start = len(self._words)
        self.inside(node)
        text, address = _tidy("".join(self._words[start:])), node.get("href").strip()
        if text and re.match(r"(?:https?|mailto|ftps?|tel):", address, re.IGNORECASE):
            self._links.append(Hyperlink(text, address))

    def _heading(self, node: HtmlNode) -> None:
        self.end_paragraph()
        lists, self._lists = self._lists, []
        self.inside(node)
        text, links = _tidy("".join(self._words)), self._links
        self._words, self._links = [], []
        self.writer.heading(text, int(node.tag[1]), links)
        self._lists = lists

    def _picture(self, node: HtmlNode) -> None:
        data, words = self._picture_of(node.get("src")), node.get("alt").strip()
        width = node.get("width")
        if width in ("0", "1") or (not data and not words):  # pixels that count visitors
            return
        note = "" if data else "The picture is not in the file but at an address, which is not fetched."
        self.end_paragraph()
        self.writer.picture(data, words, note)

    def _caption(self, node: HtmlNode) -> None:
        self._labelled(node, "figure_title", "")

    def _margin(self, node: HtmlNode) -> None:
        if _says(node, NOTES):
            self.end_paragraph()
            name = self._note_names.get(node.get("id"), "") or _note_name(node.get("id"))
            self.writer.note(f"[^{name}]: {text_of_parts(self._cell_parts(node))}")
            return
        self._labelled(node, MARGINS[node.tag], node.tag)

    def _labelled(self, node: HtmlNode, label: str, mark: str) -> None:
        self.end_paragraph()
        before, self._label, self._mark = (self._label, self._mark), label, mark
        self.inside(node)
        self.end_paragraph()
        self._label, self._mark = before

    def _code(self, node: HtmlNode) -> None:
        self.end_paragraph()
        self.writer.text(node.text().strip("\n"), label="algorithm")

    def _formula(self, node: HtmlNode) -> None:
        latex = latex_of_mathml(node)
        if node.get("display") == "block":
            self.end_paragraph()
            self.writer.formula(latex)
        elif latex:
            self._words.append(f"${latex}$")

    def _list(self, node: HtmlNode) -> None:
        self.end_paragraph()
        start = node.get("start", "1")
        number = int(start) - 1 if start.lstrip("-").isdecimal() and len(start) < 8 else 0
        self._lists.append(("ol" if node.tag == "ol" else "ul", number))
        for each in node.elements():
            if each.tag in HIDDEN or _is_hidden(each):
                continue
            if each.tag == "li":
                kind, count = self._lists[-1]
                self._lists[-1] = (kind, count + 1)
                self.inside(each)
                self.end_paragraph()
            else:
                self._take(each)
        self._lists.pop()

    def _table(self, node: HtmlNode) -> None:
        self.end_paragraph()
        for caption in node.elements():
            if caption.tag == "caption":
                self._labelled(caption, "figure_title", "")
        elements = [each for row in _rows(node) for each in row]
        if node.get("role") in ("presentation", "none") or len(elements) == 1:  # it only gives places
            self.inside(HtmlNode("div", {}, [*elements]))
            self.end_paragraph()
            return
        lists, self._lists = self._lists, []
        self.writer.table(self._cells(node))
        self._lists = lists
        for picture in node.find("img"):
            self._picture(picture)

    def _cells(self, node: HtmlNode) -> list[TableCell]:
        cells: list[TableCell] = []
        taken: dict[int, int] = {}  # column -> the first row in which it is free
        for row, elements in enumerate(_rows(node)):
            column = 0
            for element in elements:
                while taken.get(column, 0) > row:
                    column += 1
                tall, wide = _span(element.get("rowspan")), _span(element.get("colspan"))
                wide = max(1, min(wide, MAX_SPAN - column))
                is_head = element.tag == "th" or "in-head" in element.attributes
                placed = TableCell(row, column, "", tall, wide, is_head)
                cells.append(with_parts(placed, self._cell_parts(element)))
                taken.update(dict.fromkeys(range(column, column + wide), row + tall))
                column += wide
        return _fitting(cells)

    def _cell_parts(self, node: HtmlNode) -> list[CellPart]:
        inner = _HtmlReader(lambda _: b"")
        inner.inside(node)
        inner.end_paragraph()
        blocks = inner.writer.finished()
        return [block.cells or _as_words(block) for block in blocks if block.label != "image"]


def _as_words(block: StructureBlock) -> str:
    return f"${block.text}$" if block.label == "display_formula" else block.text


def _rows(table: HtmlNode) -> Iterator[list[HtmlNode]]:
    """Yields the cells of each row; those of a head are marked."""
    for part in table.elements():
        if part.tag in ("thead", "tbody", "tfoot"):
            for row in part.elements():
                if row.tag == "tr":
                    yield _row(row, part.tag == "thead")
        elif part.tag == "tr":
            yield _row(part, False)


def _row(row: HtmlNode, is_head: bool) -> list[HtmlNode]:
    cells = [cell for cell in row.elements() if cell.tag in ("td", "th")]
    for cell in cells if is_head else ():
        cell.attributes["in-head"] = ""
    return cells


def _span(text: str) -> int:
    return min(max(1, int(text)), MAX_SPAN) if text.isdecimal() and len(text) < 6 else 1


def _fitting(cells: list[TableCell]) -> list[TableCell]:
    """Returns the cells, none of which reaches below the last row."""
    rows = max((cell.row for cell in cells), default=0) + 1
    return [cell._replace(row_span=min(cell.row_span, rows - cell.row)) for cell in cells]


def _says(node: HtmlNode, kinds: frozenset[str]) -> bool:
    return not kinds.isdisjoint(f"{node.get('epub:type')} {node.get('role')}".split())


def _note_name(text: str) -> str:
    return re.sub(r"\W", "", text)[:MAX_NOTE_NAME] or "note"


def _is_hidden(node: HtmlNode) -> bool:
    return "hidden" in node.attributes or bool(_HIDDEN_STYLE.search(node.get("style")))


def _tidy(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()
