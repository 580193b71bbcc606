"""An HWPX of our own that is whole enough to be printed: a heading, paragraphs, and tables with spans."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import NamedTuple

H = "http://www.hancom.co.kr/hwpml/2011"
SPACES = f'xmlns:hp="{H}/paragraph" xmlns:hs="{H}/section" xmlns:hc="{H}/core" xmlns:hh="{H}/head"'
LANGUAGES = ("hangul", "latin", "hanja", "japanese", "other", "symbol", "user")
WIDE, HIGH = 42520, 2000  # of the text on a page and of a row, in hundredths of a point
SIDES = ("left", "right", "top", "bottom")


class MadeCell(NamedTuple):
    row: int
    column: int
    text: str
    column_span: int = 1
    row_span: int = 1


Block = str | Sequence[MadeCell]  # a paragraph, a heading with "# " before it, or a table


def made_hwpx(blocks: Sequence[Block]) -> bytes:
    """Returns the file. Its paragraphs have no lines of their own: a program that prints them breaks them."""
    first, *rest = (_table(block) if not isinstance(block, str) else _paragraph(block) for block in blocks)
    section = first.replace("<hp:run", f'<hp:run charPrIDRef="0">{_PAPER}</hp:run><hp:run', 1) + "".join(rest)
    parts = {
        "mimetype": "application/hwp+zip",
        "version.xml": '<hv:HCFVersion xmlns:hv="http://www.hancom.co.kr/hwpml/2011/version" major="5"/>',
        "META-INF/container.xml": (
            '<ocf:container xmlns:ocf="urn:oasis:names:tc:opendocument:xmlns:container"><ocf:rootfiles>'
            '<ocf:rootfile full-path="Contents/content.hpf" media-type="application/hwpml-package+xml"/>'
            "</ocf:rootfiles></ocf:container>"
        ),
        "Contents/content.hpf": (
            '<opf:package xmlns:opf="http://www.idpf.org/2007/opf/"><opf:manifest>'
            '<opf:item id="header" href="Contents/header.xml" media-type="application/xml"/>'
            '<opf:item id="section0" href="Contents/section0.xml" media-type="application/xml"/>'
            '</opf:manifest><opf:spine><opf:itemref idref="header"/><opf:itemref idref="section0"/></opf:spine>'
            "</opf:package>"
        ),
        "Contents/header.xml": _HEADER,
        "Contents/section0.xml": f"<hs:sec {SPACES}>{section}</hs:sec>",
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return made.getvalue()


def _paragraph(text: str) -> str:
    style, words = ("1", text[2:]) if text.startswith("# ") else ("0", text)
    return (
        f'<hp:p id="0" paraPrIDRef="{style}" styleIDRef="{style}" pageBreak="0" columnBreak="0" merged="0">'
        f'<hp:run charPrIDRef="{style}"><hp:t>{words}</hp:t></hp:run></hp:p>'
    )


def _table(cells: Sequence[MadeCell]) -> str:
    rows = max(cell.row + cell.row_span for cell in cells)
    columns = max(cell.column + cell.column_span for cell in cells)
    lines = "".join(
        f"<hp:tr>{''.join(_cell(cell, WIDE // columns) for cell in cells if cell.row == row)}</hp:tr>"
        for row in range(rows)
    )
    return (
        '<hp:p id="0" paraPrIDRef="0" styleIDRef="0" pageBreak="0" columnBreak="0" merged="0"><hp:run charPrIDRef="0">'
        '<hp:tbl id="1" zOrder="0" numberingType="TABLE" textWrap="TOP_AND_BOTTOM" textFlow="BOTH_SIDES" lock="0"'
        f' pageBreak="CELL" repeatHeader="1" rowCnt="{rows}" colCnt="{columns}" cellSpacing="0"'
        ' borderFillIDRef="2" noAdjust="0">'
        f'<hp:sz width="{WIDE}" widthRelTo="ABSOLUTE" height="{HIGH * rows}" heightRelTo="ABSOLUTE" protect="0"/>'
        '<hp:pos treatAsChar="0" affectLSpacing="0" flowWithText="1" allowOverlap="0" holdAnchorAndSO="0"'
        ' vertRelTo="PARA" horzRelTo="COLUMN" vertAlign="TOP" horzAlign="LEFT" vertOffset="0" horzOffset="0"/>'
        '<hp:outMargin left="0" right="0" top="0" bottom="0"/>'
        f'<hp:inMargin left="510" right="510" top="141" bottom="141"/>{lines}</hp:tbl></hp:run></hp:p>'
    )


def _cell(cell: MadeCell, wide: int) -> str:
    return (
        f'<hp:tc name="" header="{int(cell.row == 0)}" hasMargin="0" protect="0" editable="0" dirty="0"'
        ' borderFillIDRef="2"><hp:subList id="" textDirection="HORIZONTAL" lineWrap="BREAK" vertAlign="CENTER">'
        f"{_paragraph(cell.text)}</hp:subList>"
        f'<hp:cellAddr colAddr="{cell.column}" rowAddr="{cell.row}"/>'
        f'<hp:cellSpan colSpan="{cell.column_span}" rowSpan="{cell.row_span}"/>'
        f'<hp:cellSz width="{wide * cell.column_span}" height="{HIGH * cell.row_span}"/>'
        '<hp:cellMargin left="510" right="510" top="141" bottom="141"/></hp:tc>'
    )


_PAPER = (
    '<hp:secPr id="" textDirection="HORIZONTAL" spaceColumns="1134" tabStop="8000" outlineShapeIDRef="0">'
    '<hp:pagePr landscape="WIDELY" width="59528" height="84186" gutterType="LEFT_ONLY">'
    '<hp:margin header="4252" footer="4252" gutter="0" left="8504" right="8504" top="5668" bottom="4252"/>'
    "</hp:pagePr></hp:secPr>"
)


def _all(value: str) -> str:
    return " ".join(f'{language}="{value}"' for language in LANGUAGES)


def _letters(id: int, height: int) -> str:
    return (
        f'<hh:charPr id="{id}" height="{height}" textColor="#000000" shadeColor="none" useFontSpace="0"'
        f' useKerning="0" symMark="NONE" borderFillIDRef="1"><hh:fontRef {_all("0")}/><hh:ratio {_all("100")}/>'
        f"<hh:spacing {_all('0')}/><hh:relSz {_all('100')}/><hh:offset {_all('0')}/></hh:charPr>"
    )


def _lines(id: int, outline: str) -> str:
    margin = "".join(
        f'<hc:{side} value="0" unit="HWPUNIT"/>' for side in ("intent", "left", "right", "prev", "next")
    )
    return (
        f'<hh:paraPr id="{id}" tabPrIDRef="0" condense="0" fontLineHeight="0" snapToGrid="1">'
        f'<hh:align horizontal="LEFT" vertical="BASELINE"/>{outline}<hh:margin>{margin}</hh:margin>'
        '<hh:lineSpacing type="PERCENT" value="160" unit="HWPUNIT"/></hh:paraPr>'
    )


def _borders(id: int, kind: str) -> str:
    sides = "".join(f'<hh:{side}Border type="{kind}" width="0.12 mm" color="#000000"/>' for side in SIDES)
    return f'<hh:borderFill id="{id}" threeD="0" shadow="0" centerLine="NONE">{sides}</hh:borderFill>'


_HEADER = (
    f'<hh:head {SPACES} version="1.5" secCnt="1">'
    '<hh:beginNum page="1" footnote="1" endnote="1" pic="1" tbl="1" equation="1"/><hh:refList>'
    '<hh:fontfaces itemCnt="7">'
    + "".join(
        f'<hh:fontface lang="{language.upper()}" fontCnt="1"><hh:font id="0" face="맑은 고딕" type="TTF"'
        ' isEmbedded="0"/></hh:fontface>'
        for language in LANGUAGES
    )
    + f'</hh:fontfaces><hh:borderFills itemCnt="2">{_borders(1, "NONE")}{_borders(2, "SOLID")}</hh:borderFills>'
    f'<hh:charProperties itemCnt="2">{_letters(0, 1000)}{_letters(1, 1600)}</hh:charProperties>'
    '<hh:tabProperties itemCnt="1"><hh:tabPr id="0" autoTabLeft="0" autoTabRight="0"/></hh:tabProperties>'
    '<hh:paraProperties itemCnt="2">'
    + _lines(0, '<hh:heading type="NONE" idRef="0" level="0"/>')
    + _lines(1, '<hh:heading type="OUTLINE" idRef="0" level="0"/>')
    + '</hh:paraProperties><hh:styles itemCnt="2">'
    '<hh:style id="0" type="PARA" name="바탕글" engName="Normal" paraPrIDRef="0" charPrIDRef="0" nextStyleIDRef="0"/>'
    '<hh:style id="1" type="PARA" name="개요 1" engName="Outline 1" paraPrIDRef="1" charPrIDRef="1"'
    ' nextStyleIDRef="0"/></hh:styles></hh:refList></hh:head>'
)
