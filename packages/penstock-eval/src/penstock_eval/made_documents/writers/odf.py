"""OpenDocument 1.3 as LibreOffice writes it: text, sheets and slides share tables, lists, notes and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from penstock_eval.made_documents.formula import Formula, mathml
from penstock_eval.made_documents.tree import (
    Block,
    Display,
    Grid,
    GridCell,
    ItemList,
    MadeDocument,
    MadeHeading,
    MadeItem,
    MadePicture,
    MadeRun,
    PageBreak,
    Paragraph,
    Part,
)
from penstock_eval.made_documents.writers.archive import zipped
from penstock_eval.made_documents.writers.odf_parts import (
    MIMETYPES,
    NUMBER_STYLES,
    XML,
    automatic_styles,
    content_file,
    manifest,
    styles_file,
)

NOTE_KINDS = ("footnote", "endnote")


def open_document(document: MadeDocument) -> bytes:
    writer = _OpenDocument(document)
    body = {"odt": writer.text, "ods": writer.sheets, "odp": writer.slides}[document.format]()
    mimetype = MIMETYPES[document.format]
    parts: dict[str, str | bytes] = {
        "content.xml": content_file(automatic_styles(document.is_rtl), body),
        "styles.xml": styles_file(),
        **writer.parts,
    }
    parts["META-INF/manifest.xml"] = manifest(mimetype, list(parts), writer.objects)
    return zipped(parts, mimetype)


class _OpenDocument:
    def __init__(self, document: MadeDocument) -> None:
        self._document = document
        self.parts: dict[str, str | bytes] = {}
        self.objects: list[str] = []
        self._count = 0

    def text(self) -> str:
        inner = "".join(part for block in self._document.blocks for part in self._block(block))
        return f"<office:text>{inner}</office:text>"

    def sheets(self) -> str:
        return f"<office:spreadsheet>{''.join(map(self._sheet, self._document.blocks))}</office:spreadsheet>"

    def slides(self) -> str:
        pages = "".join(self._slide(block, n) for n, block in enumerate(self._document.blocks, start=1))
        return f"<office:presentation>{pages}</office:presentation>"

    def _block(self, block: Block) -> Iterator[str]:
        if isinstance(block, MadeHeading):
            yield _heading(block)
        elif isinstance(block, Paragraph):
            yield f'<text:p text:style-name="P1">{"".join(map(self._run, block.runs))}</text:p>'
        elif isinstance(block, ItemList):
            yield _list(block)
        elif isinstance(block, Grid):
            yield self._table(block)
        elif isinstance(block, MadePicture):
            yield f'<text:p text:style-name="P1">{self._picture(block, "as-char")}</text:p>'
            if block.caption:
                yield f'<text:p text:style-name="Figure">{escape(block.caption)}</text:p>'
        elif isinstance(block, Display):
            yield f'<text:p text:style-name="P1">{self._formula(block.formula)}</text:p>'
        elif isinstance(block, PageBreak):
            yield '<text:p text:style-name="PageBreak"/>'

    def _run(self, run: MadeRun) -> str:
        if run.formula is not None:
            return self._formula(run.formula)
        words = spaced(run.text)
        if run.is_bold:
            words = f'<text:span text:style-name="Bold">{words}</text:span>'
        if run.address:
            words = f'<text:a xlink:type="simple" xlink:href="{escape(run.address)}">{words}</text:a>'
        for kind, note in zip(NOTE_KINDS, (run.footnote, run.endnote), strict=True):
            if note:
                words += self._note(kind, note)
        return words + (_annotation(run.comment) if run.comment else "")

    def _note(self, kind: str, text: str) -> str:
        number = self._next()
        return (
            f'<text:note text:id="ftn{number}" text:note-class="{kind}">'
            f"<text:note-citation>{number}</text:note-citation>"
            f"<text:note-body><text:p>{escape(text)}</text:p></text:note-body></text:note>"
        )

    def _formula(self, formula: Formula) -> str:
        """Writes the formula to an object of its own, as LibreOffice Math does."""
        name = f"Object {self._next()}"
        self.objects.append(name)
        self.parts[f"{name}/content.xml"] = XML + mathml(formula, is_display=True)
        link = f'xlink:href="./{name}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"'
        return (
            f'<draw:frame draw:name="{name}" text:anchor-type="as-char" svg:width="3cm" svg:height="1cm">'
            f"<draw:object {link}/></draw:frame>"
        )

    def _picture(self, picture: MadePicture, anchor: str = "") -> str:
        name = f"Pictures/{self._next():04}.png"
        self.parts[name] = picture.data
        place = f' text:anchor-type="{anchor}"' if anchor else ' svg:x="2cm" svg:y="8cm"'
        link = f'xlink:href="{name}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"'
        return (
            f'<draw:frame draw:name="Image{self._count}"{place} svg:width="1.6cm" svg:height="1.1cm">'
            f"<draw:image {link}/><svg:desc>{escape(picture.words)}</svg:desc></draw:frame>"
        )

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _table(self, grid: Grid, name: str = "", style: str = "", comment: str = "") -> str:
        name = escape(name or f"Table{self._next()}")
        styled = f' table:style-name="{style}"' if style else ""
        rows = [
            f"<table:table-row>{''.join(self._row(grid, row, comment if row == 1 else ''))}</table:table-row>"
            for row in range(grid.height)
        ]
        head = "".join(rows[: grid.head_rows])
        if not style:  # a sheet has no head
            head = f"<table:table-header-rows>{head}</table:table-header-rows>"
        columns = f'<table:table-column table:number-columns-repeated="{grid.width}"/>'
        body = "".join(rows[grid.head_rows :])
        return f'<table:table table:name="{name}"{styled}>{columns}{head}{body}</table:table>'

    def _row(self, grid: Grid, row: int, comment: str) -> Iterator[str]:
        for cell in grid.row(row):
            if cell.row == row:
                yield self._cell(cell, comment if cell.column == 0 else "")
            covered = cell.wide - (cell.row == row)
            yield "<table:covered-table-cell/>" * covered

    def _cell(self, cell: GridCell, comment: str) -> str:
        spans = f' table:number-columns-spanned="{cell.wide}"' if cell.wide > 1 or cell.tall > 1 else ""
        spans += f' table:number-rows-spanned="{cell.tall}"' if spans else ""
        lines = "".join(f"<text:p>{escape(line)}</text:p>" for line in cell.shown)
        inner = self._table(cell.table) if cell.table else ""
        note = _annotation(comment) if comment else ""
        return f"<table:table-cell{_value(cell)}{spans}>{note}{lines}{inner}</table:table-cell>"

    def _sheet(self, part: Block) -> str:
        assert isinstance(part, Part)
        grid = part.blocks[0]
        assert isinstance(grid, Grid)
        return self._table(grid, part.title, "Hidden" if part.is_hidden else "Shown", part.notes)

    def _slide(self, part: Block, number: int) -> str:
        assert isinstance(part, Part)
        title = f'<draw:text-box><text:p text:style-name="P1">{escape(part.title)}</text:p></draw:text-box>'
        frames = _frame(title, 1.0, 2.0, "title")
        top = 3.5
        for block in part.blocks:
            for inner, tall in self._on_slide(block):
                frames += inner if inner.startswith("<draw:frame") else _frame(inner, top, tall)
                top += tall + 0.5
        notes = ""
        if part.notes:
            box = f'<draw:text-box><text:p text:style-name="P1">{escape(part.notes)}</text:p></draw:text-box>'
            notes = f"<presentation:notes>{_frame(box, 14.0, 10.0, 'notes')}</presentation:notes>"
        return (
            f'<draw:page draw:name="page{number}" draw:master-page-name="Default">{frames}{notes}</draw:page>'
        )

    def _on_slide(self, block: Block) -> Iterator[tuple[str, float]]:
        """Yields what a frame holds, and how tall it is in centimetres."""
        if isinstance(block, Grid):
            yield self._table(block), 0.9 * block.height
        elif isinstance(block, MadePicture):
            yield self._picture(block), 1.5
            yield f"<draw:text-box><text:p>{escape(block.caption)}</text:p></draw:text-box>", 1.0
        else:
            yield f"<draw:text-box>{''.join(self._block(block))}</draw:text-box>", 4.0


def spaced(text: str) -> str:
    """Returns escaped text; spaces at the ends, which XML would lose in this format, as elements."""
    inner = escape(text.strip(" "))
    before = "<text:s/>" if text.startswith(" ") else ""
    return before + inner + ("<text:s/>" if text.endswith(" ") and text.strip() else "")


def _heading(heading: MadeHeading) -> str:
    if not heading.level:
        return f'<text:p text:style-name="Title">{escape(heading.text)}</text:p>'
    style = f'text:style-name="Heading_20_{heading.level}" text:outline-level="{heading.level}"'
    return f"<text:h {style}>{escape(heading.text)}</text:h>"


def _list(block: ItemList) -> str:
    style = "Numbers" if block.is_numbered else "Bullets"
    return f'<text:list text:style-name="{style}">{"".join(map(_item, block.items))}</text:list>'


def _item(item: MadeItem) -> str:
    inner = f"<text:list>{''.join(map(_item, item.items))}</text:list>" if item.items else ""
    return f"<text:list-item><text:p>{escape(item.text)}</text:p>{inner}</text:list-item>"


def _annotation(text: str) -> str:
    return (
        "<office:annotation><dc:creator>A. Reviewer</dc:creator><dc:date>2024-01-02T03:04:06</dc:date>"
        f"<text:p>{escape(text)}</text:p></office:annotation>"
    )


def _value(cell: GridCell) -> str:
    number = cell.number
    if number is None:
        return ' office:value-type="string"'
    style = f' table:style-name="{NUMBER_STYLES[number.code]}"'
    if number.kind == "date":
        return f'{style} office:value-type="date" office:date-value="{number.shown}"'
    return f'{style} office:value-type="{number.kind}" office:value="{number.value!r}"'


def _frame(inner: str, top: float, tall: float, kind: str = "") -> str:
    named = f' presentation:class="{kind}"' if kind else ""
    place = f'svg:x="2cm" svg:y="{top:g}cm" svg:width="22cm" svg:height="{tall:g}cm"'
    return f'<draw:frame draw:layer="layout"{named} {place}>{inner}</draw:frame>'
