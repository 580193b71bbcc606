"""Paragraphs and tables that a page break cut in two, put together again.

The blocks keep their own pages and texts; a `Join` holds the whole. `Continued` takes each page in
order and keeps only the chain that is still open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.documents.docjson.model import Block, Cell, Join, Relation, Table
from penstock.documents.docjson.table import header_depth, made_of, rows_of
from penstock.documents.text.paragraphs import join_lines
from penstock.region import Line

FOOT, TOP = 700, 350  # grid units: a cut table ends below the first and goes on above the second
_ENDED = re.compile(r"[.!?。！？:：;”\"’)\]』」）】》]\s*$")
_BEGINS = re.compile(r"\s*(?:[•‣◦▪●∙·✓■□○*※-]|\(?\d{1,3}[.)]|[가-하][.)]|[①-⑳]|\[\d|[A-Z]\.|제\s?\d)")
_NOTE = re.compile(r"\s*(?:[①-⑳*※†‡]|（\d{1,3}）)")  # at a page's foot and not told from its text by layout
_CONTINUED = re.compile(r"계속|이어서|continued|cont\.", re.IGNORECASE)


@dataclass(slots=True)
class Continued:
    """`page` returns the relations that a page adds, `ended` the chains that ended since the last call."""

    _last: Block | None = None
    _chain: list[Block] = field(default_factory=list)
    _joins: list[Join] = field(default_factory=list)
    _count: int = 0

    def page(self, blocks: Sequence[Block]) -> list[Relation]:
        flow = [block for block in blocks if _flows(block)]
        if not flow:
            return []
        relations = []
        if self._last is not None and _goes_on(self._last, flow[0]):
            self._chain = self._chain or [self._last]
            self._chain.append(flow[0])
            relations = [Relation(type="continues", source=flow[0].id, target=self._last.id)]
            if len(flow) > 1:
                self._end()
        else:
            self._end()
        self._last = flow[-1]
        return relations

    def ended(self) -> list[Join]:
        joins, self._joins = self._joins, []
        return joins

    def finish(self) -> list[Join]:
        self._end()
        return self.ended()

    def _end(self) -> None:
        if self._chain:
            self._count += 1
            self._joins.append(_joined(self._chain, self._count))
        self._chain = []


def _flows(block: Block) -> bool:
    return block.layer == "body" and block.role not in ("footnote", "caption", "formula")


def _goes_on(above: Block, below: Block) -> bool:
    if below.page_no != above.page_no + 1:
        return False
    if above.table is not None and below.table is not None:
        return _table_goes_on(above, below)
    if above.category != "text_paragraph" or below.category != "text_paragraph" or above.role != below.role:
        return False
    if not above.text.strip() or not below.text.strip() or _ENDED.search(above.text[-8:]):
        return False
    first = below.text.lstrip()[0]
    latin = above.text.rstrip()[-1].isascii() and first.isascii()
    if _BEGINS.match(below.text) or _NOTE.match(above.text) or above.bbox.norm999[3] < FOOT:
        return False
    return first.islower() or first.isdigit() if latin else True


def _table_goes_on(above: Block, below: Block) -> bool:
    one, other = above.table, below.table
    assert one is not None and other is not None
    at_break = above.bbox.norm999[3] > FOOT and below.bbox.norm999[1] < TOP
    named = any(issue == "continued" for issue in below.issues)
    return one.num_cols == other.num_cols > 1 and at_break and (named or not below.caption_ids)


def is_continuation(caption: str) -> bool:
    return _CONTINUED.search(caption) is not None


def _joined(chain: Sequence[Block], number: int) -> Join:
    pages = (chain[0].page_no, chain[-1].page_no)
    ids = [block.id for block in chain]
    tables = [block.table for block in chain if block.table is not None]
    if tables:
        whole = _one_table(tables)
        text = "\n".join(" | ".join(row) for row in rows_of(whole))
        return Join(id=f"j{number:04d}", kind="table", block_ids=ids, page_span=pages, text=text, table=whole)
    lines = [Line(text=block.text, box=(0.0, 0.0, 0.0, 0.0)) for block in chain]
    return Join(id=f"j{number:04d}", kind="paragraph", block_ids=ids, page_span=pages, text=join_lines(lines))


def _one_table(tables: Sequence[Table]) -> Table:
    """Returns the rows of all, without repeated headers, and without boxes: they are of several pages."""
    cells: list[Cell] = [cell.model_copy(update={"bbox": None}) for cell in tables[0].cells]
    rows = tables[0].num_rows
    depth = header_depth(tables[0])
    head = rows_of(tables[0])[:depth]
    for table in tables[1:]:
        skip = depth if depth and rows_of(table)[:depth] == head else 0
        for cell in table.cells:
            if cell.r >= skip:
                cells.append(
                    cell.model_copy(update={"r": cell.r - skip + rows, "is_header": False, "bbox": None})
                )
        rows += table.num_rows - skip
    return made_of(cells)
