"""Puts blocks in order while a file is read: items of one list together, notes at the end of their page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from penstock.engines.office.blocks import PAGE_BREAK, Hyperlink, StructureBlock, listed
from penstock.region import TableCell

MAX_LIST_CHARS = 20_000  # a longer list goes on in another block
CODE_WORDS = ("code", "preformatted", "listing", "코드")


class BlockWriter:
    """Collects the blocks of a file. `finished` gives them."""

    def __init__(self) -> None:
        self._blocks: list[StructureBlock] = []
        self._notes: list[StructureBlock] = []  # of the page that is being written
        self._items: list[str] = []
        self._item_chars = 0
        self._item_links: list[Hyperlink] = []
        self.is_fresh = True  # nothing stands on this page yet

    def add(self, block: StructureBlock) -> None:
        """Adds a block, unless there is nothing in it."""
        if not (block.text.strip() or block.cells or block.picture or block.note):
            return
        self._end_list()
        self._blocks.append(block)
        self.is_fresh = False

    def text(self, text: str, links: Sequence[Hyperlink] = (), label: str = "text", mark: str = "") -> None:
        self.add(StructureBlock(label=label, text=text, links=tuple(links), mark=mark))

    def heading(self, text: str, level: int, links: Sequence[Hyperlink] = ()) -> None:
        """Adds a heading; level 0 is the document's title."""
        label = "paragraph_title" if level else "doc_title"
        words = " ".join(text.split())
        self.add(StructureBlock(label=label, text=words, level=max(level, 1), links=tuple(links)))

    def item(self, depth: int, text: str, number: str = "", links: Iterable[Hyperlink] = ()) -> None:
        """Adds an item to the list that is open, or opens one."""
        if not text.strip():
            return
        if self._item_chars > MAX_LIST_CHARS:
            self._end_list()
        # a line is an item: what goes on inside of one stays in its line
        line = listed(depth, " ".join(text.split()), number)
        self._items.append(line)
        self._item_chars += len(line)
        self._item_links += links
        self.is_fresh = False

    def table(self, cells: Sequence[TableCell], mark: str = "") -> None:
        if any(cell.text.strip() for cell in cells):
            self.add(StructureBlock(label="table", cells=tuple(cells), mark=mark))

    def formula(self, latex: str) -> None:
        self.add(StructureBlock(label="display_formula", text=latex))

    def picture(self, data: bytes, words: str = "", note: str = "") -> None:
        """Adds a picture with the words that its author gave it."""
        why = note or ("" if data else "The picture is not in the file.")
        self.add(StructureBlock(label="image", text=words, picture=data, note=why))

    def note(self, text: str, links: Sequence[Hyperlink] = (), mark: str = "footnote") -> None:
        """Adds a note, which stands at the end of its page."""
        self._notes.append(StructureBlock(label="footnote", text=text, links=tuple(links), mark=mark))

    def page_break(self) -> None:
        self._end_page()
        self._blocks.append(PAGE_BREAK)
        self.is_fresh = True

    def finished(self) -> list[StructureBlock]:
        """Returns the blocks. Under a title of the document, its headings stand one lower than they say."""
        self._end_page()
        if not any(block.label == "doc_title" for block in self._blocks):
            return self._blocks
        return [
            replace(block, level=block.level + 1) if block.label == "paragraph_title" else block
            for block in self._blocks
        ]

    def _end_page(self) -> None:
        notes, self._notes = self._notes, []
        self._end_list()
        for note in notes:
            self.add(note)

    def _end_list(self) -> None:
        if not self._items:
            return
        text, links = "\n".join(self._items), tuple(self._item_links)
        self._items, self._item_chars, self._item_links = [], 0, []
        self._blocks.append(StructureBlock(label="text", text=text, links=links, mark="list"))


def is_code_style(name: str) -> bool:
    """Whether a style's name says that what it is for is code."""
    words = name.lower()
    return any(word in words for word in CODE_WORDS)
