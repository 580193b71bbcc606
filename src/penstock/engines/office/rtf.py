"""RTF: paragraphs, headings, lists, tables with spans, notes, links and pictures.

A group that this does not know and that says that it may be passed by is passed by. Nothing in it is run:
embedded objects are named by a mark.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from penstock.engines.office.block_writer import BlockWriter
from penstock.engines.office.blocks import BlockFile, Hyperlink, in_units
from penstock.engines.office.rtf_tables import RtfRow, RtfTable, RtfTables
from penstock.engines.office.rtf_words import CODE_PAGES, RtfPiece, code_page, decoded_letters, pieces
from penstock.errors import BadInput

# groups whose words are no text of the document
PASSED = frozenset({
    "colortbl", "info", "filetbl", "revtbl", "rsidtbl", "generator", "xmlnstbl", "listtable", "themedata",
    "listoverridetable", "colorschememapping", "latentstyles", "datastore", "objdata", "bkmkstart", "bkmkend",
    "nonshppict", "panose", "falt", "fontemb", "pntext", "pntxta", "pntxtb", "background",
    "template", "xe", "tc", "nonesttables", "atnid", "atndate", "atnref",
    "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf",
})  # fmt: skip
SIGNS = {
    "par": "\n", "line": "\n", "tab": "\t", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’",
    "~": "\xa0", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "_": "‑",
    "sect": "\n",
}  # fmt: skip
_HEADING = re.compile(r"(?:heading|제목|개요)\s*([1-9])", re.IGNORECASE)
_TITLE = re.compile(r"\s*(?:title|제목);", re.IGNORECASE)
TITLE = -1  # the level of the document's own title
_LINK = re.compile(r'HYPERLINK\s+"([^"]{1,2000})"', re.IGNORECASE)
_ITEM_NUMBER = re.compile(r"\(?(?:\d{1,4}|[a-zA-Z]{1,6}|[가-힣]|\d{1,3}(?:\.\d{1,3}){1,8})[.)]?\)?")
MAX_PICTURE_CHARS = 128 << 20
MAX_LEVEL = 9


@dataclass(frozen=True, slots=True)
class RtfState:
    """What a brace opens and closes again."""

    target: str = "text"  # where letters go: text, skip, note, link, fonts, styles, picture, listtext, nested
    page: str = "cp1252"
    skip: int = 1  # bytes after a \\u that say the same for old readers
    is_deleted: bool = False  # words that were deleted while changes were noted


def read_rtf(data: bytes) -> BlockFile:
    """Raises BadInput where it is no RTF."""
    if b"{\\rtf" not in data[:64]:
        raise BadInput("it is no RTF.")
    reader = _RtfReader()
    for piece in pieces(data):
        reader.take(piece)
    reader.finish()
    return BlockFile(in_units(reader.writer.finished()))


class _RtfReader:
    def __init__(self) -> None:
        self.writer = BlockWriter()
        self._state = RtfState()
        self._stack: list[RtfState] = []
        self._letters: dict[str, list[str]] = {}  # by target
        self._bytes = b""  # letters of two bytes come in halves
        self._left = 0  # bytes of old readers to be passed by
        self._default_page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = self._style = 0
        self._styles: dict[int, int] = {}  # levels of headings
        self._level = 0
        self._is_item = False
        self._depth, self._number = 0, ""  # of the item
        self._may_pass = False  # after \\*
        self._tables, self._in_table = RtfTables(), False
        self._nesting = 0  # of the paragraph: 2 is a table in a cell
        self._links: list[Hyperlink] = []
        self._notes = 0
        self._author, self._comments = "", list[str]()  # of the paragraph, or of the table
        self._address = ""  # of the link whose words come next
        self._words: dict[str, Callable[[int | None], None]] = {
            "ansicpg": self._page, "f": self._use_font, "fcharset": self._font_page, "uc": self._skips,
            "u": self._unicode, "s": self._use_style, "outlinelevel": self._outline, "pard": self._plain,
            "intbl": self._into_table, "cell": self._end_cell, "row": self._end_row, "trowd": self._new_row,
            "trhdr": self._head_row, "cellx": self._define, "ls": self._item, "ilvl": self._deeper,
            "page": self._break, "deleted": self._deletion, "plain": self._undeleted,
            "nestcell": self._end_inner_cell, "nestrow": self._end_inner_row, "itap": self._nest,
            "bin": lambda _: None,
            **{word: self._merge(word) for word in ("clmgf", "clmrg", "clvmgf", "clvmrg")},
        }  # fmt: skip

    def take(self, piece: RtfPiece) -> None:
        if piece.word == "":
            self._data(piece.data)
            return
        self._flush()
        if piece.word == "{":
            self._stack.append(self._state)
        elif piece.word == "}":
            self._close()
        elif piece.word == "*":
            self._may_pass = True
            return
        else:
            self._control(piece.word, piece.number)
        self._may_pass = False

    def finish(self) -> None:
        self._flush()
        self._paragraph()
        self._end_table()

    def _control(self, word: str, number: int | None) -> None:
        if word in _OPENS or word in PASSED:
            self._open(_OPENS.get(word, "skip"))
        elif self._state.target == "skip":
            return
        elif self._state.target == "listtext":  # a paragraph of its own, which says nothing of the item
            if word == "u":
                self._unicode(number)
        elif word in self._words:
            self._words[word](number)
        elif word in ("par", "sect") and self._state.target == "text":
            self._paragraph()
        elif word in SIGNS:
            self._add(SIGNS[word])
        elif self._may_pass:
            self._open("skip")

    def _open(self, target: str) -> None:
        if self._state.target != "skip":
            self._state = replace(self._state, target=target)
            if target not in ("text", "skip"):
                self._letters[target] = []

    def _close(self) -> None:
        closed = self._state
        self._state = self._stack.pop() if self._stack else RtfState()
        if closed.target == self._state.target or closed.target not in _CLOSES:
            return
        _CLOSES[closed.target](self, "".join(self._letters.pop(closed.target, [])))

    def _data(self, data: bytes) -> None:
        if self._left:
            passed = min(self._left, len(data))
            self._left -= passed
            data = data[passed:]
        if self._state.target != "skip":
            self._bytes += data

    def _flush(self) -> None:
        if self._bytes:
            data, self._bytes = self._bytes, b""
            self._add(decoded_letters(data, self._state.page))

    def _add(self, text: str) -> None:
        if self._state.target == "styles" and ";" in text:
            self._name_style(text)
        if self._state.target != "skip":
            self._here().append(text)

    def _here(self) -> list[str]:
        """Returns the letters of what is being read."""
        target = self._state.target
        is_lost = self._state.is_deleted and target == "text"
        return self._letters.setdefault("deleted" if is_lost else target, [])

    def _deletion(self, number: int | None) -> None:
        self._state = replace(self._state, is_deleted=number != 0)

    def _undeleted(self, _: int | None) -> None:
        self._state = replace(self._state, is_deleted=False)

    def _unicode(self, number: int | None) -> None:
        code = (number or 0) & 0xFFFF
        letters = self._here()
        if 0xDC00 <= code < 0xE000 and letters and 0xD800 <= ord(letters[-1][-1:] or " ") < 0xDC00:
            high = ord(letters.pop())
            letters.append(chr(0x10000 + ((high - 0xD800) << 10) + code - 0xDC00))
        else:
            letters.append(chr(code))
        self._left = self._state.skip

    def _page(self, number: int | None) -> None:
        self._default_page = code_page(number or 1252)
        self._state = replace(self._state, page=self._default_page)

    def _skips(self, number: int | None) -> None:
        self._state = replace(self._state, skip=max(0, number or 0))

    def _use_font(self, number: int | None) -> None:
        self._font = number or 0
        page = self._fonts.get(self._font, self._default_page)
        self._state = replace(self._state, page=page)

    def _font_page(self, number: int | None) -> None:
        self._fonts[self._font] = CODE_PAGES.get(number or 0, self._default_page)

    def _use_style(self, number: int | None) -> None:
        self._style = number or 0
        self._level = self._styles.get(self._style, 0)

    def _name_style(self, text: str) -> None:
        found = _HEADING.search(text)
        if found or _TITLE.fullmatch(text):
            self._styles[self._style] = int(found[1]) if found else TITLE

    def _outline(self, number: int | None) -> None:
        if self._state.target == "styles":
            self._styles[self._style] = min((number or 0) + 1, MAX_LEVEL)
        elif number is not None and number < MAX_LEVEL:
            self._level = number + 1

    def _plain(self, _: int | None) -> None:
        self._level, self._depth, self._is_item = 0, 0, False
        self._in_table, self._nesting = False, 0

    def _item(self, number: int | None) -> None:
        self._is_item = bool(number)

    def _deeper(self, number: int | None) -> None:
        self._depth = min(max(0, number or 0), MAX_LEVEL)

    def _shown_number(self, text: str) -> None:
        """Takes what stands before an item: its number. A bullet says only that it is one."""
        found = _ITEM_NUMBER.fullmatch(text.strip())
        self._number = found[0] if found else ""

    def _into_table(self, _: int | None) -> None:
        self._in_table = True

    def _nest(self, number: int | None) -> None:
        self._nesting = number or 0

    def _break(self, _: int | None) -> None:
        self._paragraph()
        self._end_table()
        self.writer.page_break()

    def _text(self) -> str:
        """Returns the words of the paragraph, which begins anew."""
        return _whole("".join(self._letters.pop("text", []))).strip()

    def _paragraph(self) -> None:
        if self._in_table:
            self._cell_line(self._tables.at(self._nesting))
            return
        text, links, number = self._text(), self._links, self._number
        self._links, self._number = [], ""
        if text:
            self._end_table()
            self._write(text, number, links)
        self._write_asides()

    def _write(self, text: str, number: str, links: list[Hyperlink]) -> None:
        if self._level:
            self.writer.heading(text, max(0, self._level), links)
        elif self._is_item:
            self.writer.item(self._depth, text, number, links)
        else:
            self.writer.text(text, links)

    def _write_asides(self) -> None:
        """Writes what was deleted from the words before, and what was said of them."""
        deleted = _whole("".join(self._letters.pop("deleted", []))).strip()
        self.writer.text(deleted, label="aside_text", mark="deleted")
        comments, self._comments = self._comments, []
        for text in comments:
            self.writer.text(text, label="aside_text", mark="comment")

    def _cell_line(self, table: RtfTable) -> None:
        """Takes the paragraph as a line of the open cell."""
        text, number = self._text(), self._number
        self._links, self._number = [], ""
        if text:
            table.parts.append(f"{'  ' * self._depth}{number or '•'} {text}" if self._is_item else text)

    def _end_cell(self, _: int | None) -> None:
        table = self._tables.at(1)
        self._cell_line(table)
        table.end_cell()

    def _end_inner_cell(self, _: int | None) -> None:
        table = self._inner_table()
        self._cell_line(table)
        table.end_cell()

    def _inner_table(self) -> RtfTable:
        return self._tables.at(max(2, self._nesting))

    def _row(self) -> RtfRow:
        """Returns the row that is being defined."""
        return (self._inner_table() if self._state.target == "nested" else self._tables.outermost).row

    def _new_row(self, _: int | None) -> None:
        self._row().begin()

    def _head_row(self, _: int | None) -> None:
        self._row().is_head = True

    def _merge(self, word: str) -> Callable[[int | None], None]:
        return lambda _: self._row().mark.append(word)

    def _define(self, number: int | None) -> None:
        self._row().define(number or 0)

    def _end_row(self, _: int | None) -> None:
        self._tables.at(1).end_row()
        self._in_table = False

    def _end_inner_row(self, _: int | None) -> None:
        self._inner_table().end_row()

    def _end_table(self) -> None:
        if cells := self._tables.finished():
            self.writer.table(cells)
            self._write_asides()

    def _note(self, text: str) -> None:
        self._notes += 1
        self._add(f"[^{self._notes}]")
        self.writer.note(f"[^{self._notes}]: {_whole(text).strip()}")

    def _comment(self, text: str) -> None:
        author, self._author = self._author, ""
        said = " ".join(_whole(text).split())
        self._comments.append(f"{author}: {said}" if author else said)

    def _written_by(self, text: str) -> None:
        self._author = _whole(text).strip()

    def _linked(self, text: str) -> None:
        found = _LINK.search(text)
        self._address = found[1] if found else ""

    def _shown_link(self, text: str) -> None:
        self._add(text)
        address, self._address = self._address, ""
        if address and text.strip():
            self._links.append(Hyperlink(text.strip(), address))

    def _shown_picture(self, text: str) -> None:
        try:
            data = binascii.unhexlify("".join(text[:MAX_PICTURE_CHARS].split()))
        except (binascii.Error, ValueError):
            data = b""
        self.writer.picture(data)


def _whole(text: str) -> str:
    """Returns text without halves of letters, which cannot be written."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_OPENS = {
    "fonttbl": "fonts", "stylesheet": "styles", "footnote": "note", "annotation": "comment",
    "atnauthor": "author", "fldrslt": "shown", "nesttableprops": "nested",
    "fldinst": "link", "listtext": "listtext", "pict": "picture", "shppict": "text", "objdata": "skip",
}  # fmt: skip
_CLOSES: dict[str, Callable[[_RtfReader, str], None]] = {
    "note": _RtfReader._note, "comment": _RtfReader._comment, "author": _RtfReader._written_by,
    "shown": _RtfReader._shown_link, "link": _RtfReader._linked,
    "picture": _RtfReader._shown_picture, "listtext": _RtfReader._shown_number,
}  # fmt: skip
