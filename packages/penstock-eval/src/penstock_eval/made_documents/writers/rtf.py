"""RTF 1.9 as Word writes it: a stylesheet, a table of lists, rows of cells, letters beyond ASCII by number."""

from __future__ import annotations

from collections.abc import Iterator

from penstock_eval.made_documents.tree import (
    Block,
    Grid,
    ItemList,
    MadeDocument,
    MadeHeading,
    MadeItem,
    MadeRun,
    PageBreak,
    Paragraph,
)

FIRST_STYLE = 1
TWIPS = 9000  # of a table
LIST_IDS = 1000


def rtf(document: MadeDocument) -> bytes:
    writer = _Rtf(document)
    body = "\n".join(part for block in document.blocks for part in writer.block(block))
    styles = "".join(
        rf"{{\s{level}\outlinelevel{level - 1}\b\fs{36 - 4 * level} heading {level};}}"
        for level in range(1, 5)
    )
    head = (
        r"{\rtf1\ansi\ansicpg1252\uc1\deff0{\fonttbl{\f0\fswiss Arial;}}{\stylesheet{\s0 Normal;}"
        + styles
        + "}"
    )
    return f"{head}\n{writer.list_tables()}\n{body}\n}}\n".encode("ascii")


class _Rtf:
    def __init__(self, document: MadeDocument) -> None:
        self._way = r"\rtlpar\qr" if document.is_rtl else ""
        self._lists: list[bool] = []

    def block(self, block: Block) -> Iterator[str]:
        if isinstance(block, MadeHeading):
            yield rf"\pard\plain\s{block.level}\outlinelevel{block.level - 1}{self._way}\b {_text(block.text)}\par"
        elif isinstance(block, Paragraph):
            yield rf"\pard\plain\s0{self._way} {''.join(map(self._run, block.runs))}\par"
        elif isinstance(block, ItemList):
            self._lists.append(block.is_numbered)
            yield from self._items(block.items, 0, block.is_numbered)
        elif isinstance(block, Grid):
            yield from self._table(block)
            yield r"\pard\plain\s0\par"
        elif isinstance(block, PageBreak):
            yield r"\page"

    def _run(self, run: MadeRun) -> str:
        words = _text(run.text)
        if run.is_bold:
            words = rf"{{\b {words}}}"
        if run.address:
            words = rf'{{\field{{\*\fldinst HYPERLINK "{run.address}"}}{{\fldrslt {words}}}}}'
        if run.footnote:
            mark = r"{\super\chftn}"
            words += rf"{mark}{{\footnote\pard\plain {mark} {_text(run.footnote)}}}"
        return words

    def _items(self, items: tuple[MadeItem, ...], depth: int, is_numbered: bool) -> Iterator[str]:
        for number, item in enumerate(items, start=1):
            mark = f"{number}." if is_numbered else r"\'b7"
            place = rf"\ls{len(self._lists)}\ilvl{depth}\fi-360\li{720 * (depth + 1)}"
            yield (
                rf"{{\listtext\pard\plain {mark}\tab}}\pard\plain{place}{self._way} {_text(item.text)}\par"
            )
            yield from self._items(item.items, depth + 1, is_numbered)

    def _table(self, grid: Grid) -> Iterator[str]:
        for row in range(grid.height):
            bounds, cells = [], []
            for cell in grid.row(row):
                down = "" if cell.tall == 1 else r"\clvmgf" if cell.row == row else r"\clvmrg"
                text = r"\line ".join(map(_text, cell.shown)) if cell.row == row else ""
                for place in range(cell.wide):
                    across = "" if cell.wide == 1 else r"\clmrg" if place else r"\clmgf"
                    right = TWIPS * (cell.column + place + 1) // grid.width
                    bounds.append(rf"{down}{across}\cellx{right}")
                    cells.append(rf"\pard\intbl{self._way} {'' if place else text}\cell")
            head = r"\trhdr" if row < grid.head_rows else ""
            yield rf"\trowd\trgaph108{head}{''.join(bounds)}" + "\n" + "".join(cells) + r"\row"

    def list_tables(self) -> str:
        lists, overrides = [], []
        for place, is_numbered in enumerate(self._lists, start=1):
            levels = "".join(_level(depth, is_numbered) for depth in range(3))
            lists.append(rf"{{\list\listtemplateid{place}{levels}\listid{LIST_IDS + place}}}")
            overrides.append(rf"{{\listoverride\listid{LIST_IDS + place}\listoverridecount0\ls{place}}}")
        return rf"{{\*\listtable{''.join(lists)}}}{{\*\listoverridetable{''.join(overrides)}}}"


def _level(depth: int, is_numbered: bool) -> str:
    if is_numbered:
        return (
            rf"{{\listlevel\levelnfc0\leveljc0\levelstartat1{{\leveltext\'02\'0{depth}.;}}"
            r"{\levelnumbers\'01;}\fi-360}"
        )
    return r"{\listlevel\levelnfc23\leveljc0\levelstartat1{\leveltext\'01\u8226 ?;}{\levelnumbers;}\fi-360}"


def _text(text: str) -> str:
    """Returns text in ASCII: a letter beyond it is its signed 16-bit number, with a question mark for old readers."""
    written = []
    for letter in text:
        if letter in "\\{}":
            written.append("\\" + letter)
        elif letter.isascii():
            written.append(letter)
        else:
            units = letter.encode("utf-16-le")
            for at in range(0, len(units), 2):
                value = int.from_bytes(units[at : at + 2], "little", signed=True)
                written.append(rf"\u{value}?")
    return "".join(written)
