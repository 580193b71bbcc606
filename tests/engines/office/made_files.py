"""Small files of each kind, made by hand: what is in them is known."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc000000301010018dd8db0"
    "0000000049454e44ae426082"
)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, inside in parts.items():
            file.writestr(name, inside)
    return data.getvalue()


def relations(**targets: str) -> str:
    """Returns relations by id; a kind and a target parted by a bar."""
    rows = (
        f'<Relationship Id="{id}" Type="{R}/{kind}" Target="{target}"/>'
        for id, (kind, _, target) in ((id, told.partition("|")) for id, told in targets.items())
    )
    return f"<Relationships>{''.join(rows)}</Relationships>"


def pptx(show: str = "1") -> bytes:
    spaces = f'xmlns:r="{R}" xmlns:p="p" xmlns:a="a"'
    place = '<p:spPr><a:xfrm><a:off x="952500" y="0"/><a:ext cx="9525000" cy="952500"/></a:xfrm></p:spPr>'

    def shape(kind: str, *lines: str) -> str:
        holder = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
        rows = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
        return f"<p:sp>{holder}{place}<p:txBody>{rows}</p:txBody></p:sp>"

    table = (
        '<p:graphicFrame><a:tbl><a:tblPr firstRow="1"/><a:tr><a:tc gridSpan="2"><a:txBody><a:p><a:r><a:t>Sum</a:t></a:r>'
        '</a:p></a:txBody></a:tc><a:tc hMerge="1"/></a:tr><a:tr><a:tc><a:txBody><a:p><a:r><a:t>1</a:t></a:r></a:p>'
        "</a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>2</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl>"
        "</p:graphicFrame>"
    )
    tree = shape("body", "one", "two") + shape("title", "계획") + table
    return zipped({
        "[Content_Types].xml": "<Types/>",
        "ppt/presentation.xml": f'<p:presentation {spaces}><p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst>'
                                '<p:sldSz cx="12192000" cy="6858000"/></p:presentation>',
        "ppt/_rels/presentation.xml.rels": relations(r1="slide|slides/slide1.xml"),
        "ppt/slides/slide1.xml": f'<p:sld {spaces} show="{show}"><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:sld>',
        "ppt/slides/_rels/slide1.xml.rels": relations(n="notesSlide|../notesSlides/n1.xml"),
        "ppt/notesSlides/n1.xml": f'<p:notes {spaces}><p:cSld><p:spTree>{shape("body", "Say hello.")}</p:spTree>'
                                  "</p:cSld></p:notes>",
    })  # fmt: skip


def xlsx() -> bytes:
    rows = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>제목</t></is></c></row>'
        '<row r="3"><c r="B3" t="s"><v>0</v></c><c r="C3" t="s"><v>1</v></c></row>'
        '<row r="4" hidden="1"><c r="B4" s="1"><v>45000</v></c><c r="C4" s="2"><v>-1234.5</v></c></row>'
        '<row r="8"><c r="F8"><f>SUM(B4:C4)</f><v>7</v></c></row>'
    )
    return zipped({
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f'<workbook xmlns:r="{R}"><sheets><sheet name="Data" r:id="r1"/>'
                           '<sheet name="Old" state="hidden" r:id="r2"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(r1="worksheet|worksheets/s1.xml", r2="worksheet|worksheets/s2.xml"),
        "xl/sharedStrings.xml": "<sst><si><t>Day</t></si><si><r><t>Am</t></r><r><t>ount</t></r></si></sst>",
        "xl/styles.xml": '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="#,##0.00&quot;원&quot;"/></numFmts>'
                         '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>',
        "xl/worksheets/s1.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
        "xl/worksheets/s2.xml": "<worksheet><sheetData/></worksheet>",
    })  # fmt: skip


def hwpx() -> bytes:
    def p(inside: str, head: str = "0", more: str = "") -> str:
        return f'<hp:p paraPrIDRef="{head}" styleIDRef="0" {more}><hp:run>{inside}</hp:run></hp:p>'

    def cell(row: int, column: int, text: str, wide: int = 1) -> str:
        return (
            f'<hp:tc header="{int(row == 0)}"><hp:subList>{p(f"<hp:t>{text}</hp:t>")}</hp:subList>'
            f'<hp:cellAddr colAddr="{column}" rowAddr="{row}"/><hp:cellSpan colSpan="{wide}" rowSpan="1"/></hp:tc>'
        )

    note = f"<hp:ctrl><hp:footNote><hp:subList>{p('<hp:t>각주</hp:t>')}</hp:subList></hp:footNote></hp:ctrl>"
    table = f"<hp:tbl><hp:tr>{cell(0, 0, '합계', 2)}</hp:tr><hp:tr>{cell(1, 0, '가')}{cell(1, 1, '나')}</hp:tr></hp:tbl>"
    body = (
        p("<hp:t>서론</hp:t>", "1") + p(f"<hp:t>본문</hp:t>{note}") + p(table)
        + p("<hp:equation><hp:script>{a} over {b} = sqrt {x}</hp:script></hp:equation>", more='pageBreak="1"')
    )  # fmt: skip
    heads = (
        '<hh:paraPr id="0"><hh:heading type="NONE"/></hh:paraPr>'
        '<hh:paraPr id="1"><hh:heading type="OUTLINE" level="0"/></hh:paraPr>'
    )
    return zipped({
        "mimetype": "application/hwp+zip",
        "Contents/header.xml": f'<hh:head xmlns:hh="h">{heads}</hh:head>',
        "Contents/section0.xml": f'<hs:sec xmlns:hs="s" xmlns:hp="p">{body}</hs:sec>',
    })  # fmt: skip


def odt() -> bytes:
    body = (
        '<text:h text:outline-level="2">Head</text:h><text:p>See<text:note text:note-class="footnote"><text:note-body>'
        "<text:p>Below.</text:p></text:note-body></text:note></text:p><text:list><text:list-item><text:p>a</text:p>"
        "<text:list><text:list-item><text:p>b</text:p></text:list-item></text:list></text:list-item></text:list>"
        '<table:table><table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>x</text:p>'
        "</table:table-cell><table:covered-table-cell/></table:table-row><table:table-row><table:table-cell><text:p>1"
        "</text:p></table:table-cell><table:table-cell><text:p>2</text:p></table:table-cell></table:table-row>"
        "</table:table>"
    )
    spaces = 'xmlns:office="o" xmlns:text="t" xmlns:table="b"'
    return zipped({
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": f"<office:c {spaces}><office:body><office:text>{body}</office:text></office:body></office:c>",
    })  # fmt: skip


def epub() -> bytes:
    return zipped({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<c><rootfiles><rootfile full-path="b/book.opf"/></rootfiles></c>',
        "b/book.opf": '<p><manifest><item id="2" href="two.xhtml"/><item id="1" href="one.xhtml"/></manifest>'
                      '<spine><itemref idref="1"/><itemref idref="2"/></spine></p>',
        "b/one.xhtml": '<html><body><h1>One</h1><img src="p.png" alt="A dot"/></body></html>',
        "b/two.xhtml": "<html><body><p>Two</p></body></html>",
        "b/p.png": PNG,
    })  # fmt: skip


EML = (
    b"From: a@example.org\r\nTo: b@example.org\r\nSubject: =?utf-8?b?7JWI64WV?=\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nHello.\r\n'
    b'--x\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="bill.pdf"\r\n\r\n%PDF-\r\n'
    b"--x--\r\n"
)
HTML = (
    "<!doctype html><html><body><script>alert(1)</script><h2>Head</h2><p>A <a href='https://example.org'>link</a>"
    " and <a href='javascript:alert(1)'>none</a>.<ol start=3><li>c<li>d</ol><table><tr><th rowspan=2>a<th>b<tr><td>1"
    "</table><p style='display:none'>unseen</p><img src='https://example.org/x.png' alt='Far away'></body></html>"
)
