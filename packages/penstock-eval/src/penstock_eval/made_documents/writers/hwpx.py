"""HWPX as Hangul writes it (KS X 6101, OWPML): outline styles, lists by paragraph properties, equation scripts."""

from __future__ import annotations

from html import escape

from penstock_eval.made_documents.formula import Formula, hwp_script
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
from penstock_eval.made_documents.writers.archive import zipped
from penstock_eval.made_documents.writers.hwpx_parts import (
    FIRST_LIST,
    SECTION_PROPERTIES,
    SPACES,
    XML,
    fixed_parts,
    header,
    package_file,
)

UNIT_PX = 75  # HWP's units are 1/7200 of an inch
FIELD = 627600491
SUB_LIST = (
    '<hp:subList id="" textDirection="HORIZONTAL" lineWrap="BREAK" vertAlign="%s" linkListIDRef="0" '
    'linkListNextIDRef="0" textWidth="0" textHeight="0" hasTextRef="0" hasNumRef="0">'
)


def hwpx(document: MadeDocument) -> bytes:
    return _HwpxWriter(document).bytes()


class _HwpxWriter:
    def __init__(self, document: MadeDocument) -> None:
        self._document = document
        self._lists: list[bool] = []  # of each list, whether it is numbered
        self._pictures: dict[str, bytes] = {}
        self._notes = {"footNote": 0, "endNote": 0}
        self._id = 1000
        self._breaks = False  # the next paragraph begins a page

    def bytes(self) -> bytes:
        first = f'<hp:p id="0" paraPrIDRef="0" styleIDRef="0">{self._run(SECTION_PROPERTIES)}</hp:p>'
        body = first + "".join(map(self._block, self._document.blocks))
        parts: dict[str, str | bytes] = {
            **fixed_parts(),
            "Contents/content.hpf": package_file(self._document.language, list(self._pictures)),
            "Contents/header.xml": header(self._lists),
            "Contents/section0.xml": f"{XML}<hs:sec {SPACES}>{body}</hs:sec>",
        }
        parts |= {f"BinData/{name}.png": data for name, data in self._pictures.items()}
        return zipped(parts, "application/hwp+zip")

    def _block(self, block: Block) -> str:
        if isinstance(block, MadeHeading):
            return self._paragraph(_text(block.text), block.level, block.level)
        if isinstance(block, Paragraph):
            return self._paragraph("".join(map(self._words, block.runs)))
        if isinstance(block, ItemList):
            self._lists.append(block.is_numbered)
            return "".join(self._item(item, 0) for item in block.items)
        if isinstance(block, Grid):
            return self._paragraph(self._run(self._table(block)))
        if isinstance(block, MadePicture):
            return self._paragraph(self._run(self._picture(block)))
        if isinstance(block, Display):
            return self._paragraph(self._run(self._equation(block.formula)))
        assert isinstance(block, PageBreak)
        self._breaks = True
        return ""

    def _paragraph(self, runs: str, look: int = 0, style: int = 0) -> str:
        breaks, self._breaks = int(self._breaks), False
        place = f'paraPrIDRef="{look}" styleIDRef="{style}" pageBreak="{breaks}" columnBreak="0" merged="0"'
        return f'<hp:p id="{self._next()}" {place}>{runs}</hp:p>'

    def _run(self, inner: str, look: int = 0) -> str:
        return f'<hp:run charPrIDRef="{look}">{inner}<hp:t/></hp:run>'

    def _words(self, run: MadeRun) -> str:
        if run.formula is not None:
            return self._run(self._equation(run.formula))
        words = _text(run.text, int(run.is_bold))
        if run.address:
            # in a command a colon is written with a backslash
            command = run.address.replace(":", "\\:") + ";1;0;0;"
            words = self._field("HYPERLINK", words, command)
        if run.comment:
            inner = f"{SUB_LIST % 'TOP'}{self._inner_paragraph(_text(run.comment))}</hp:subList>"
            words = self._field("MEMO", words, "MEMO/65535/1/0/0/A. Reviewer/\\;;", inner)
        for kind, text in (("footNote", run.footnote), ("endNote", run.endnote)):
            if text:
                words += self._run(f"<hp:ctrl>{self._note(kind, text)}</hp:ctrl>")
        return words

    def _field(self, kind: str, words: str, command: str, inner: str = "") -> str:
        id = self._next()
        said = f'<hp:stringParam name="Command">{escape(command)}</hp:stringParam>'
        begin = (
            f'<hp:fieldBegin id="{id}" type="{kind}" name="" editable="0" dirty="0" zorder="-1" fieldid="{FIELD}">'
            f'<hp:parameters cnt="2" name=""><hp:integerParam name="Prop">0</hp:integerParam>{said}</hp:parameters>'
            f"{inner}</hp:fieldBegin>"
        )
        end = f'<hp:fieldEnd beginIDRef="{id}" fieldid="{FIELD}"/>'
        return self._run(f"<hp:ctrl>{begin}</hp:ctrl>") + words + self._run(f"<hp:ctrl>{end}</hp:ctrl>")

    def _note(self, kind: str, text: str) -> str:
        self._notes[kind] += 1
        number = (
            f'<hp:ctrl><hp:autoNum num="{self._notes[kind]}" numType="{kind.upper()}">'
            '<hp:autoNumFormat type="DIGIT" userChar="" prefixChar="" suffixChar=")" supscript="0"/>'
            "</hp:autoNum></hp:ctrl>"
        )
        words = f'<hp:run charPrIDRef="0">{number}<hp:t> {escape(text)}</hp:t></hp:run>'
        return f'<hp:{kind} id="">{SUB_LIST % "TOP"}{self._inner_paragraph(words)}</hp:subList></hp:{kind}>'

    def _inner_paragraph(self, runs: str) -> str:
        place = 'paraPrIDRef="0" styleIDRef="0" pageBreak="0" columnBreak="0" merged="0"'
        return f'<hp:p id="0" {place}>{runs}</hp:p>'

    def _item(self, item: MadeItem, depth: int) -> str:
        look = FIRST_LIST + 3 * (len(self._lists) - 1) + depth
        below = "".join(self._item(inner, depth + 1) for inner in item.items)
        return self._paragraph(_text(item.text), look) + below

    def _table(self, grid: Grid) -> str:
        rows = "".join(
            f"<hp:tr>{''.join(self._cell(cell, grid) for cell in grid.cells if cell.row == row)}</hp:tr>"
            for row in range(grid.height)
        )
        look = (
            f'id="{self._next()}" zOrder="0" numberingType="TABLE" textWrap="TOP_AND_BOTTOM" textFlow="BOTH_SIDES" '
            'lock="0" dropcapstyle="None" pageBreak="CELL" repeatHeader="1" '
            f'rowCnt="{grid.height}" colCnt="{grid.width}" cellSpacing="0" borderFillIDRef="3" noAdjust="0"'
        )
        margins = '<hp:inMargin left="510" right="510" top="141" bottom="141"/>'
        return f"<hp:tbl {look}>{_place(40000, 1500 * grid.height)}{margins}{rows}</hp:tbl>"

    def _cell(self, cell: GridCell, grid: Grid) -> str:
        lines = "".join(self._inner_paragraph(_text(line)) for line in cell.shown)
        if cell.table:
            lines += self._inner_paragraph(self._run(self._table(cell.table)))
        head = int(cell.row < grid.head_rows)
        wide = 40000 // grid.width * cell.wide
        return (
            f'<hp:tc name="" header="{head}" hasMargin="0" protect="0" editable="0" dirty="0" borderFillIDRef="3">'
            f"{SUB_LIST % 'CENTER'}{lines}</hp:subList>"
            f'<hp:cellAddr colAddr="{cell.column}" rowAddr="{cell.row}"/>'
            f'<hp:cellSpan colSpan="{cell.wide}" rowSpan="{cell.tall}"/>'
            f'<hp:cellSz width="{wide}" height="{1500 * cell.tall}"/>'
            '<hp:cellMargin left="510" right="510" top="141" bottom="141"/></hp:tc>'
        )

    def _equation(self, formula: Formula) -> str:
        return (
            f'<hp:equation id="{self._next()}" zOrder="0" numberingType="EQUATION" textWrap="TOP_AND_BOTTOM" '
            'textFlow="BOTH_SIDES" lock="0" dropcapstyle="None" version="Equation Version 60" baseLine="61" '
            'textColor="#000000" baseUnit="1000" lineMode="CHAR" font="HYhwpEQ">'
            f"{_place(4000, 2000)}<hp:shapeComment>수식입니다.</hp:shapeComment>"
            f"<hp:script>{escape(hwp_script(formula))}</hp:script></hp:equation>"
        )

    def _picture(self, picture: MadePicture) -> str:
        name = f"image{len(self._pictures) + 1}"
        self._pictures[name] = picture.data
        wide, tall = 60 * UNIT_PX, 40 * UNIT_PX
        caption = ""
        if picture.caption:
            words = f"{SUB_LIST % 'TOP'}{self._inner_paragraph(_text(picture.caption))}</hp:subList>"
            look = 'side="BOTTOM" fullSz="0" width="8504" gap="850" lastWidth="40000"'
            caption = f"<hp:caption {look}>{words}</hp:caption>"
        return (
            f'<hp:pic id="{self._next()}" zOrder="0" numberingType="PICTURE" textWrap="TOP_AND_BOTTOM" '
            'textFlow="BOTH_SIDES" lock="0" dropcapstyle="None" href="" groupLevel="0" instid="1" reverse="0">'
            f'<hp:offset x="0" y="0"/><hp:orgSz width="{wide}" height="{tall}"/>'
            f'<hp:curSz width="{wide}" height="{tall}"/>'
            f'<hc:img binaryItemIDRef="{name}" bright="0" contrast="0" effect="REAL_PIC" alpha="0"/>'
            f"{_place(wide, tall)}{caption}<hp:shapeComment>{escape(picture.words)}</hp:shapeComment></hp:pic>"
        )

    def _next(self) -> int:
        self._id += 1
        return self._id


def _text(text: str, look: int = 0) -> str:
    return f'<hp:run charPrIDRef="{look}"><hp:t>{escape(text)}</hp:t></hp:run>'


def _place(wide: int, tall: int) -> str:
    return (
        f'<hp:sz width="{wide}" widthRelTo="ABSOLUTE" height="{tall}" heightRelTo="ABSOLUTE" protect="0"/>'
        '<hp:pos treatAsChar="1" affectLSpacing="0" flowWithText="1" allowOverlap="0" holdAnchorAndSO="0" '
        'vertRelTo="PARA" horzRelTo="PARA" vertAlign="TOP" horzAlign="LEFT" vertOffset="0" horzOffset="0"/>'
        '<hp:outMargin left="283" right="283" top="283" bottom="283"/>'
    )
