"""The tables of a converted document. One that goes on over pages is one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from penstock.documents.docjson.assemble import Assembler
from penstock.documents.docjson.model import Block, Cell, Join, Table
from penstock.documents.docjson.table import grid_cells, header_depth, rows_of, table_html
from penstock.documents.tables.pipes import to_pipes
from penstock.documents.text.escape import line
from penstock.errors import MissingModel
from penstock.page import Page
from penstock.region import shortened

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """One table. `page` is where it begins; `words` is its text where it is not one plain table."""

    page: int
    last_page: int
    caption: str
    cells: tuple[Cell, ...] = field(repr=False)
    words: str = field(default="", repr=False)

    def __repr__(self) -> str:
        pages = f"page {self.page}" if self.page == self.last_page else f"pages {self.page}-{self.last_page}"
        size = f"{self._table.num_rows} x {self._table.num_cols} cells"
        return f"<DocumentTable on {pages}: {size}, {shortened(self.caption)}>"

    @property
    def rows(self) -> list[list[str]]:
        """Texts by row and column; a cell that spans is repeated in each place it covers."""
        return rows_of(self._table)

    @property
    def html(self) -> str:
        """One `<table>`. What the document says is escaped."""
        return table_html(self._table)

    @property
    def markdown(self) -> str:
        """A table of pipes, or HTML where cells span."""
        return to_pipes(grid_cells(self.cells)) or (self.html if self.cells else line(self.words))

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a DataFrame of texts. Its columns are named by the table's header, where it has one."""
        try:
            import pandas
        except ImportError as exc:
            raise MissingModel("pandas is not installed.", "Run: pip install pandas") from exc
        rows, depth = self.rows, header_depth(self._table)
        names = [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows[:depth], strict=True)]
        return pandas.DataFrame(rows[depth:], columns=names or None)

    def _repr_html_(self) -> str:
        return self.html

    @property
    def _table(self) -> Table:
        rows = max((cell.r + cell.rs for cell in self.cells), default=0)
        columns = max((cell.c + cell.cs for cell in self.cells), default=0)
        words = "" if self.cells else self.words
        return Table(num_rows=rows, num_cols=columns, cells=list(self.cells), html=words)


def tables_of(assembler: Assembler, pages: Iterable[Page]) -> list[DocumentTable]:
    """Returns the tables in reading order."""
    found: dict[str, DocumentTable] = {}
    joins: list[Join] = []
    for page in pages:
        piece = assembler.page(page)
        texts = {block.id: block.text for block in piece.blocks}
        found |= {block.id: _table(block, texts) for block in piece.blocks if block.category == "table"}
        joins += piece.joins
    for join in (*joins, *assembler.finish().joins):
        _put_together(found, join)
    return list(found.values())


def _table(block: Block, texts: Mapping[str, str]) -> DocumentTable:
    cells = tuple(block.table.cells) if block.table is not None else ()
    caption = " ".join(texts[id] for id in block.caption_ids)
    return DocumentTable(block.page_no, block.page_no, caption, cells, block.text)


def _put_together(found: dict[str, DocumentTable], join: Join) -> None:
    first, *others = join.block_ids
    if join.table is None or first not in found:
        return
    found[first] = replace(found[first], last_page=join.page_span[1], cells=tuple(join.table.cells))
    for id in others:
        del found[id]
