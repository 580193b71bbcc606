"""DOCX as Word writes it (ECMA-376 part 1): styles, numbering, notes and comments in parts of their own."""

from __future__ import annotations

from html import escape

from penstock_eval.made_documents.formula import OMML, omml
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
)
from penstock_eval.made_documents.writers.archive import OFFICE, XML, Relations, content_types, zipped

MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
PICTURE = "http://schemas.openxmlformats.org/drawingml/2006/picture"
PLACED = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
SPACES = (
    f'xmlns:w="{MAIN}" xmlns:r="{OFFICE}" xmlns:m="{OMML}" xmlns:wp="{PLACED}" '
    f'xmlns:a="{DRAWING}" xmlns:pic="{PICTURE}"'
)
KIND = "application/vnd.openxmlformats-officedocument.wordprocessingml"
EMU_PX = 9525
BULLETS = "•◦▪"
NOTES = {"footnote": "footnotes", "endnote": "endnotes", "comment": "comments"}


def docx(document: MadeDocument) -> bytes:
    return _DocxWriter(document).bytes()


class _DocxWriter:
    def __init__(self, document: MadeDocument) -> None:
        self._document = document
        self._bidi = "<w:bidi/>" if document.is_rtl else ""
        self._rtl = "<w:rtl/>" if document.is_rtl else ""
        self._relations = Relations()
        for part in ("styles", "numbering", "settings", *NOTES.values()):
            self._relations.add(part, f"{part}.xml")
        self._media: dict[str, bytes] = {}
        self._notes: dict[str, list[str]] = {kind: [] for kind in NOTES}
        self._lists: list[bool] = []  # of each list, whether it is numbered

    def bytes(self) -> bytes:
        body = "".join(map(self._block, self._document.blocks))
        size = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:right="1440" ' \
            'w:bottom="1440" w:left="1440" w:header="708" w:footer="708" w:gutter="0"/></w:sectPr>'  # fmt: skip
        parts: dict[str, str | bytes] = {
            "[Content_Types].xml": _types(),
            "_rels/.rels": _root(),
            "word/document.xml": f"{XML}<w:document {SPACES}><w:body>{body}{size}</w:body></w:document>",
            "word/_rels/document.xml.rels": self._relations.xml(),
            "word/styles.xml": _styles(),
            "word/numbering.xml": self._numbering(),
            "word/settings.xml": f"{XML}<w:settings {SPACES}/>",
        }
        parts |= {f"word/{NOTES[kind]}.xml": self._note_part(kind) for kind in NOTES}
        return zipped(parts | self._media)

    def _block(self, block: Block) -> str:
        if isinstance(block, MadeHeading):
            return self._paragraph(
                _text(block.text, self._rtl), f"Heading{block.level}" if block.level else "Title"
            )
        if isinstance(block, Paragraph):
            return self._paragraph("".join(map(self._run, block.runs)))
        if isinstance(block, ItemList):
            self._lists.append(block.is_numbered)
            return "".join(self._item(item, 0) for item in block.items)
        if isinstance(block, Grid):
            return self._table(block) + self._paragraph("")  # Word wants a paragraph after a table
        if isinstance(block, MadePicture):
            caption = self._paragraph(_text(block.caption, self._rtl), "Caption") if block.caption else ""
            return self._paragraph(self._drawing(block)) + caption
        if isinstance(block, Display):
            return f"<w:p><m:oMathPara>{omml(block.formula)}</m:oMathPara></w:p>"
        assert isinstance(block, PageBreak)
        return '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'

    def _paragraph(self, runs: str, style: str = "", extra: str = "") -> str:
        named = f'<w:pStyle w:val="{style}"/>' if style else ""
        return f"<w:p><w:pPr>{named}{extra}{self._bidi}</w:pPr>{runs}</w:p>"

    def _run(self, run: MadeRun) -> str:
        if run.formula is not None:
            return omml(run.formula)
        look = ("<w:b/>" if run.is_bold else "") + ("<w:i/>" if run.is_italic else "") + self._rtl
        words = _text(run.text, look)
        if run.address:
            id = self._relations.add("hyperlink", run.address, is_outside=True)
            words = f'<w:hyperlink r:id="{id}" w:history="1">{_text(run.text, look)}</w:hyperlink>'
        if run.comment:
            note = self._note("comment", run.comment)
            return (
                f'<w:commentRangeStart w:id="{note}"/>{words}<w:commentRangeEnd w:id="{note}"/>'
                f'<w:r><w:commentReference w:id="{note}"/></w:r>'
            )
        for kind, text in (("footnote", run.footnote), ("endnote", run.endnote)):
            if text:
                mark = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
                words += f'<w:r>{mark}<w:{kind}Reference w:id="{self._note(kind, text)}"/></w:r>'
        return words

    def _note(self, kind: str, text: str) -> int:
        self._notes[kind].append(text)
        return len(self._notes[kind])  # 0 and -1 are the lines above notes

    def _item(self, item: MadeItem, depth: int) -> str:
        number = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{len(self._lists)}"/></w:numPr>'
        own = self._paragraph(_text(item.text, self._rtl), "ListParagraph", number)
        return own + "".join(self._item(inner, depth + 1) for inner in item.items)

    def _table(self, grid: Grid) -> str:
        borders = "".join(
            f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="auto"/>'
            for side in ("top", "left", "bottom", "right", "insideH", "insideV")
        )
        visual = "<w:bidiVisual/>" if self._document.is_rtl else ""
        columns = f'<w:gridCol w:w="{9000 // grid.width}"/>' * grid.width
        rows = "".join(self._row(grid, row) for row in range(grid.height))
        look = f'<w:tblPr>{visual}<w:tblW w:w="0" w:type="auto"/><w:tblBorders>{borders}</w:tblBorders></w:tblPr>'
        return f"<w:tbl>{look}<w:tblGrid>{columns}</w:tblGrid>{rows}</w:tbl>"

    def _row(self, grid: Grid, row: int) -> str:
        head = "<w:trPr><w:tblHeader/></w:trPr>" if row < grid.head_rows else ""
        cells = "".join(self._cell(cell, row) for cell in grid.row(row))
        return f"<w:tr>{head}{cells}</w:tr>"

    def _cell(self, cell: GridCell, row: int) -> str:
        wide = f'<w:gridSpan w:val="{cell.wide}"/>' if cell.wide > 1 else ""
        merge = ""
        if cell.tall > 1:
            merge = '<w:vMerge w:val="restart"/>' if cell.row == row else "<w:vMerge/>"
        if cell.row != row:
            return f"<w:tc><w:tcPr>{wide}{merge}</w:tcPr><w:p/></w:tc>"
        lines = "".join(self._paragraph(_text(line, self._rtl)) for line in cell.shown)
        inner = self._table(cell.table) + "<w:p/>" if cell.table else ""
        return f'<w:tc><w:tcPr><w:tcW w:w="0" w:type="auto"/>{wide}{merge}</w:tcPr>{lines}{inner}</w:tc>'

    def _drawing(self, picture: MadePicture) -> str:
        number = len(self._media) + 1
        self._media[f"word/media/image{number}.png"] = picture.data
        id = self._relations.add("image", f"media/image{number}.png")
        size = f'cx="{60 * EMU_PX}" cy="{40 * EMU_PX}"'
        shape = (
            f'<pic:pic><pic:nvPicPr><pic:cNvPr id="{number}" name="Picture {number}"/><pic:cNvPicPr/></pic:nvPicPr>'
            f'<pic:blipFill><a:blip r:embed="{id}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>'
            f'<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext {size}/></a:xfrm>'
            '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>'
        )
        words = escape(picture.words)
        return (
            f'<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent {size}/>'
            f'<wp:docPr id="{number}" name="Picture {number}" descr="{words}"/>'
            f'<a:graphic><a:graphicData uri="{PICTURE}">{shape}</a:graphicData></a:graphic>'
            "</wp:inline></w:drawing></w:r>"
        )

    def _numbering(self) -> str:
        kinds = "".join(_abstract(id, is_numbered) for id, is_numbered in ((0, False), (1, True)))
        start = "".join(
            f'<w:lvlOverride w:ilvl="{depth}"><w:startOverride w:val="1"/></w:lvlOverride>'
            for depth in range(3)
        )
        lists = "".join(
            f'<w:num w:numId="{id}"><w:abstractNumId w:val="{int(is_numbered)}"/>{start}</w:num>'
            for id, is_numbered in enumerate(self._lists, start=1)
        )
        return f"{XML}<w:numbering {SPACES}>{kinds}{lists}</w:numbering>"

    def _note_part(self, kind: str) -> str:
        first = f'<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:{kind}Ref/></w:r>'
        rows = []
        if kind == "comment":
            first, who = "", ' w:author="A. Reviewer" w:date="2024-01-02T03:04:05Z" w:initials="AR"'
        else:
            who = ""
            for id, name in ((-1, "separator"), (0, "continuationSeparator")):
                rows.append(
                    f'<w:{kind} w:type="{name}" w:id="{id}"><w:p><w:r><w:{name}/></w:r></w:p></w:{kind}>'
                )
        for id, text in enumerate(self._notes[kind], start=1):
            body = self._paragraph(first + _text((" " if first else "") + text, self._rtl))
            rows.append(f'<w:{kind} w:id="{id}"{who}>{body}</w:{kind}>')
        return f"{XML}<w:{NOTES[kind]} {SPACES}>{''.join(rows)}</w:{NOTES[kind]}>"


def _text(text: str, look: str = "") -> str:
    shown = f"<w:rPr>{look}</w:rPr>" if look else ""
    return f'<w:r>{shown}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def _abstract(id: int, is_numbered: bool) -> str:
    levels = "".join(
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{"decimal" if is_numbered else "bullet"}"/>'
        f'<w:lvlText w:val="{f"%{depth + 1}." if is_numbered else BULLETS[depth]}"/><w:lvlJc w:val="left"/>'
        f'<w:pPr><w:ind w:left="{720 * (depth + 1)}" w:hanging="360"/></w:pPr></w:lvl>'
        for depth in range(3)
    )
    return f'<w:abstractNum w:abstractNumId="{id}"><w:multiLevelType w:val="multilevel"/>{levels}</w:abstractNum>'


def _styles() -> str:
    def style(id: str, name: str, inner: str = "") -> str:
        return f'<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{name}"/>{inner}</w:style>'

    based = '<w:basedOn w:val="Normal"/><w:next w:val="Normal"/>'
    rows = ['<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>']
    rows.append(style("Title", "Title", f'{based}<w:rPr><w:sz w:val="56"/></w:rPr>'))
    rows += [
        style(f"Heading{level}", f"heading {level}",
              f'{based}<w:pPr><w:keepNext/><w:outlineLvl w:val="{level - 1}"/></w:pPr>'
              f'<w:rPr><w:b/><w:sz w:val="{36 - 4 * level}"/></w:rPr>')
        for level in range(1, 5)
    ]  # fmt: skip
    rows += [style("Caption", "caption", based), style("ListParagraph", "List Paragraph", based)]
    return f"{XML}<w:styles {SPACES}>{''.join(rows)}</w:styles>"


def _types() -> str:
    names = ("styles", "numbering", "settings", "footnotes", "endnotes", "comments")
    parts = {"word/document.xml": f"{KIND}.document.main+xml"}
    parts |= {f"word/{name}.xml": f"{KIND}.{name}+xml" for name in names}
    rels = "application/vnd.openxmlformats-package.relationships+xml"
    return content_types({"rels": rels, "xml": "application/xml", "png": "image/png"}, parts)


def _root() -> str:
    root = Relations()
    root.add("officeDocument", "word/document.xml")
    return root.xml()
