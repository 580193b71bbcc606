"""Office files that would call somebody or run something, if whoever reads them let them."""

from __future__ import annotations

from tests.engines.office.made_files import R, zipped

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
CONTENT = "application/vnd.openxmlformats-officedocument"
OPEN = "urn:oasis:names:tc:opendocument:xmlns:"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def _types(parts: dict[str, str]) -> str:
    rows = "".join(f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, kind in parts.items())
    return (
        f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="bin" ContentType="application/octet-stream"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f"{rows}</Types>"
    )


def _outside(rows: str) -> str:
    return f'<Relationships xmlns="{PACKAGE}/relationships">{rows}</Relationships>'


def _rel(id: str, kind: str, target: str, outside: bool = False) -> str:
    mode = ' TargetMode="External"' if outside else ""
    return f'<Relationship Id="{id}" Type="{R}/{kind}" Target="{target}"{mode}/>'


def docx(url: str) -> bytes:
    """A template, a picture, a frame of another document and an object, all at an address; a field asks, too."""
    picture = (
        '<w:r><w:drawing><wp:inline><wp:extent cx="914400" cy="914400"/><wp:docPr id="1" name="p"/><a:graphic>'
        '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>'
        '<pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="p1"/></pic:blipFill>'
        "<pic:spPr/></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    )
    field = f'<w:fldSimple w:instr="INCLUDETEXT &quot;{url}/field.docx&quot;"><w:r><w:t>field</w:t></w:r></w:fldSimple>'
    object_ = '<w:r><w:object><o:OLEObject Type="Embed" ProgID="Excel.Sheet.12" ShapeID="s" r:id="o1"/></w:object></w:r>'
    spaces = (
        f'xmlns:w="{W}" xmlns:r="{R}" xmlns:o="urn:schemas-microsoft-com:office:office" '
        'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"'
    )
    body = "".join(
        f"<w:p>{inside}</w:p>" for inside in ("<w:r><w:t>Rain falls.</w:t></w:r>", picture, field, object_)
    )
    return zipped({
        "[Content_Types].xml": _types({
            "word/document.xml": f"{CONTENT}.wordprocessingml.document.main+xml",
            "word/settings.xml": f"{CONTENT}.wordprocessingml.settings+xml",
        }),
        "_rels/.rels": _outside(_rel("a", "officeDocument", "word/document.xml")),
        "word/document.xml": f"<w:document {spaces}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": _outside(
            _rel("p1", "image", f"{url}/picture.png", True) + _rel("s1", "settings", "settings.xml")
            + _rel("o1", "oleObject", "embeddings/oleObject1.bin") + _rel("f1", "frame", f"{url}/frame.htm", True)
        ),
        "word/embeddings/oleObject1.bin": b"\xd0\xcf\x11\xe0 an object",
        "word/settings.xml": f'<w:settings xmlns:w="{W}" xmlns:r="{R}"><w:attachedTemplate r:id="t1"/></w:settings>',
        "word/_rels/settings.xml.rels": _outside(_rel("t1", "attachedTemplate", f"{url}/template.dotm", True)),
    })  # fmt: skip


def odt(url: str, written: str) -> bytes:
    """A picture and a section at an address, an object, and a macro that writes a file when it is opened."""
    spaces = " ".join(
        f'xmlns:{short}="{OPEN}{name}:1.0"'
        for short, name in {
            "office": "office", "text": "text", "draw": "drawing", "script": "script", "table": "table",
            "svg": "svg-compatible", "style": "style", "fo": "xsl-fo-compatible",
        }.items()
    )  # fmt: skip
    links = (
        f'{spaces} xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dom="http://www.w3.org/2001/xml-events"'
    )
    listener = (
        '<office:scripts><office:event-listeners><script:event-listener script:language="ooo:script" '
        'script:event-name="dom:load" xlink:type="simple" xlink:href="vnd.sun.star.script:Standard.Module1.Main?'
        'language=Basic&amp;location=document"/></office:event-listeners></office:scripts>'
    )
    shown = 'xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"'
    body = (
        "<text:p>Rain falls.</text:p>"
        f'<text:p><draw:frame svg:width="2cm" svg:height="2cm" text:anchor-type="as-char"><draw:image xlink:href="{url}/p.png" {shown}/></draw:frame></text:p>'
        f'<text:section text:name="s"><text:section-source xlink:href="{url}/section.odt" {shown}/><text:p>kept</text:p></text:section>'
        f'<text:p><draw:frame svg:width="2cm" svg:height="2cm" text:anchor-type="as-char"><draw:object-ole xlink:href="./Object 1" {shown}/></draw:frame></text:p>'
    )
    basic = f'Sub Main\nOpen "{written}" For Output As #1\nPrint #1, "run"\nClose #1\nEnd Sub'
    library = "http://openoffice.org/2000/library"
    script = "http://openoffice.org/2000/script"
    return zipped({
        "mimetype": "application/vnd.oasis.opendocument.text",
        "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{OPEN}manifest:1.0" manifest:version="1.2">'
            '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>'
            '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
            '<manifest:file-entry manifest:full-path="Object 1" manifest:media-type="application/vnd.sun.star.oleobject"/>'
            '<manifest:file-entry manifest:full-path="Basic/script-lc.xml" manifest:media-type="text/xml"/>'
            '<manifest:file-entry manifest:full-path="Basic/Standard/script-lb.xml" manifest:media-type="text/xml"/>'
            '<manifest:file-entry manifest:full-path="Basic/Standard/Module1.xml" manifest:media-type="text/xml"/>'
            "</manifest:manifest>",
        "content.xml": f'<office:document-content {links} office:version="1.2">{listener}<office:body><office:text>{body}'
            "</office:text></office:body></office:document-content>",
        "Object 1": b"\xd0\xcf\x11\xe0 an object",
        "Basic/script-lc.xml": f'<library:libraries xmlns:library="{library}" xmlns:xlink="http://www.w3.org/1999/xlink">'
            '<library:library library:name="Standard" library:link="false"/></library:libraries>',
        "Basic/Standard/script-lb.xml": f'<library:library xmlns:library="{library}" library:name="Standard" '
            'library:readonly="false" library:passwordprotected="false"><library:element library:name="Module1"/>'
            "</library:library>",
        "Basic/Standard/Module1.xml": f'<script:module xmlns:script="{script}" script:name="Module1" '
            f'script:language="StarBasic">{basic.replace(chr(34), "&quot;")}</script:module>',
    })  # fmt: skip


def xlsx(url: str) -> bytes:
    """A value of a workbook at an address, a web function, an object."""
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        '<row r="1"><c r="A1"><v>7</v></c><c r="B1"><f>[1]S!A1</f><v>8</v></c>'
        f'<c r="C1" t="str"><f>_xlfn.WEBSERVICE("{url}/service")</f><v>kept</v></c></row></sheetData></worksheet>'
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return zipped({
        "[Content_Types].xml": _types({
            "xl/workbook.xml": f"{CONTENT}.spreadsheetml.sheet.main+xml",
            "xl/worksheets/sheet1.xml": f"{CONTENT}.spreadsheetml.worksheet+xml",
            "xl/externalLinks/externalLink1.xml": f"{CONTENT}.spreadsheetml.externalLink+xml",
        }),
        "_rels/.rels": _outside(_rel("a", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{R}"><sheets><sheet name="S" sheetId="1" r:id="s1"/>'
            '</sheets><externalReferences><externalReference r:id="e1"/></externalReferences></workbook>',
        "xl/_rels/workbook.xml.rels": _outside(_rel("s1", "worksheet", "worksheets/sheet1.xml")
            + _rel("e1", "externalLink", "externalLinks/externalLink1.xml")),
        "xl/worksheets/sheet1.xml": sheet,
        "xl/worksheets/_rels/sheet1.xml.rels": _outside(_rel("o1", "oleObject", "../embeddings/oleObject1.bin")),
        "xl/embeddings/oleObject1.bin": b"\xd0\xcf\x11\xe0 an object",
        "xl/externalLinks/externalLink1.xml": f'<externalLink xmlns="{main}"><externalBook xmlns:r="{R}" r:id="b1">'
            '<sheetNames><sheetName val="S"/></sheetNames></externalBook></externalLink>',
        "xl/externalLinks/_rels/externalLink1.xml.rels": _outside(_rel("b1", "externalLinkPath", f"{url}/b.xlsx", True)),
    })  # fmt: skip


def html(url: str) -> bytes:
    return (
        f'<html><head><link rel="stylesheet" href="{url}/s.css"><script src="{url}/s.js"></script></head><body>'
        f'<p>Rain falls.</p><img src="{url}/p.png" alt="a roof"><iframe src="{url}/f.html"></iframe>'
        f'<object data="{url}/o.bin"></object><video src="{url}/v.mp4"></video></body></html>'
    ).encode()
