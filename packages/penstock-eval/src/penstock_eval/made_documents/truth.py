"""What a perfect reader makes of a tree: Markdown, and apart from it what hangs on the text or is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from penstock_eval.made_documents.formula import latex
from penstock_eval.made_documents.tree import (
    Block,
    Display,
    Grid,
    ItemList,
    MadeDocument,
    MadeHeading,
    MadeItem,
    MadePicture,
    PageBreak,
    Paragraph,
    Part,
    Runs,
)


class Aside(NamedTuple):
    """What may stand in several places of a Markdown: a note, a comment, speaker notes, a hidden sheet.

    A hidden sheet has its name and its cells as pieces, all others are one piece.
    """

    kind: str
    pieces: tuple[str, ...]


def markdown_of(document: MadeDocument) -> str:
    """Returns the body in reading order: tables as HTML, formulas as LaTeX, no asides."""
    return (
        "\n\n".join(text for block in document.blocks for text in _written(block, document.heading_shift))
        + "\n"
    )


def asides_of(document: MadeDocument) -> list[Aside]:
    return [aside for block in document.blocks for aside in _asides(block)]


def _asides(block: Block) -> Iterator[Aside]:
    if isinstance(block, Paragraph):
        for run in block.runs:
            named = (("footnote", run.footnote), ("endnote", run.endnote), ("comment", run.comment))
            yield from (Aside(kind, (text,)) for kind, text in named if text)
    elif isinstance(block, Part):
        is_sheet = bool(block.blocks) and isinstance(block.blocks[0], Grid)
        if block.is_hidden:
            grids = (grid for grid in block.blocks if isinstance(grid, Grid))
            words = (" ".join(cell.shown) for grid in grids for cell in grid.cells)
            yield Aside("hidden sheet", (block.title, *words))
        if block.notes:
            yield Aside("comment" if is_sheet else "speaker notes", (block.notes,))


def _written(block: Block, shift: int = 0) -> Iterator[str]:
    if isinstance(block, MadeHeading):
        yield f"{'#' * (block.level + shift)} {block.text}"
    elif isinstance(block, Paragraph):
        yield _runs(block.runs)
    elif isinstance(block, ItemList):
        yield "\n".join(_items(block.items, block.is_numbered, ""))
    elif isinstance(block, Grid):
        yield html_table(block)
    elif isinstance(block, MadePicture):
        yield f"![{block.words}](picture.png)"
        yield from ([block.caption] if block.caption else [])
    elif isinstance(block, Display):
        yield f"$$\n{latex(block.formula)}\n$$"
    elif isinstance(block, Part) and not block.is_hidden:
        yield f"# {block.title}"
        for inner in block.blocks:
            yield from _written(inner)
    else:
        assert isinstance(block, PageBreak | Part)


def _runs(runs: Runs) -> str:
    parts = []
    for run in runs:
        if run.formula is not None:
            parts.append(f"${latex(run.formula)}$")
        elif run.address:
            parts.append(f"[{run.text}]({run.address})")
        elif run.is_bold:
            inner = run.text.lstrip(" ")
            parts.append(" " * (len(run.text) - len(inner)) + f"**{inner}**")
        else:
            parts.append(run.text)
    return "".join(parts)


def _items(items: tuple[MadeItem, ...], is_numbered: bool, before: str) -> Iterator[str]:
    for number, item in enumerate(items, start=1):
        mark = f"{number}." if is_numbered else "-"
        yield f"{before}{mark} {item.text}"
        yield from _items(item.items, is_numbered, before + " " * (len(mark) + 1))


def html_table(grid: Grid) -> str:
    rows: list[list[str]] = [[] for _ in range(grid.height)]
    for cell in grid.cells:
        spans = f' rowspan="{cell.tall}"' if cell.tall > 1 else ""
        spans += f' colspan="{cell.wide}"' if cell.wide > 1 else ""
        text = "<br>".join(map(escape, cell.shown)) + (html_table(cell.table) if cell.table else "")
        rows[cell.row].append(f"<td{spans}>{text}</td>")
    return "<table>" + "".join(f"<tr>{''.join(row)}</tr>" for row in rows) + "</table>"
