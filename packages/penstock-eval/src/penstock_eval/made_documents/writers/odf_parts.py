"""The parts that every OpenDocument file has: styles, and the list of what is in it."""

from __future__ import annotations

from collections.abc import Callable

XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
KIND = "application/vnd.oasis.opendocument"
MIMETYPES = {"odt": f"{KIND}.text", "ods": f"{KIND}.spreadsheet", "odp": f"{KIND}.presentation"}
URN = "urn:oasis:names:tc:opendocument:xmlns"
SPACES = " ".join(
    [
        *(
            f'xmlns:{name}="{URN}:{name}:1.0"'
            for name in ("office", "style", "text", "table", "presentation", "manifest")
        ),
        f'xmlns:draw="{URN}:drawing:1.0"',
        f'xmlns:number="{URN}:datastyle:1.0"',
        f'xmlns:fo="{URN}:xsl-fo-compatible:1.0"',
        f'xmlns:svg="{URN}:svg-compatible:1.0"',
        'xmlns:xlink="http://www.w3.org/1999/xlink"',
        'xmlns:dc="http://purl.org/dc/elements/1.1/"',
    ]
)
NUMBER_STYLES = {
    "General": "CellGeneral", "#,##0": "CellWhole", "#,##0.00": "CellMoney", "0.0%": "CellShare",
    "yyyy\\-mm\\-dd": "CellDate",
}  # fmt: skip
_NUMBERS = (
    '<number:number-style style:name="N1"><number:number number:min-integer-digits="1"/></number:number-style>'
    '<number:number-style style:name="N2"><number:number number:decimal-places="0" number:min-integer-digits="1" '
    'number:grouping="true"/></number:number-style>'
    '<number:number-style style:name="N3"><number:number number:decimal-places="2" number:min-integer-digits="1" '
    'number:grouping="true"/></number:number-style>'
    '<number:percentage-style style:name="N4"><number:number number:decimal-places="1" '
    'number:min-integer-digits="1"/><number:text>%</number:text></number:percentage-style>'
    '<number:date-style style:name="N5"><number:year number:style="long"/><number:text>-</number:text>'
    '<number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/>'
    "</number:date-style>"
)


def automatic_styles(is_rtl: bool) -> str:
    way = ' style:writing-mode="rl-tb" fo:text-align="start"' if is_rtl else ""
    cells = "".join(
        f'<style:style style:name="{name}" style:family="table-cell" style:data-style-name="N{number}"/>'
        for number, name in enumerate(NUMBER_STYLES.values(), start=1)
    )
    tables = "".join(
        f'<style:style style:name="{name}" style:family="table" style:master-page-name="Default">'
        f'<style:table-properties table:display="{shown}"/></style:style>'
        for name, shown in (("Shown", "true"), ("Hidden", "false"))
    )
    return (
        f'<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Standard">'
        f"<style:paragraph-properties{way}/></style:style>"
        '<style:style style:name="PageBreak" style:family="paragraph" style:parent-style-name="Standard">'
        '<style:paragraph-properties fo:break-before="page"/></style:style>'
        '<style:style style:name="Bold" style:family="text">'
        '<style:text-properties fo:font-weight="bold"/></style:style>'
        f"{_NUMBERS}{cells}{tables}{_list_style('Bullets', _bullet)}{_list_style('Numbers', _number)}"
    )


def _list_style(name: str, level: Callable[[int], str]) -> str:
    levels = "".join(level(depth) for depth in range(1, 4))
    return f'<text:list-style style:name="{name}">{levels}</text:list-style>'


def _bullet(depth: int) -> str:
    return f'<text:list-level-style-bullet text:level="{depth}" text:bullet-char="{"•◦▪"[depth - 1]}"/>'


def _number(depth: int) -> str:
    return f'<text:list-level-style-number text:level="{depth}" style:num-suffix="." style:num-format="1"/>'


def content_file(styles: str, body: str) -> str:
    return (
        f'{XML}<office:document-content {SPACES} office:version="1.3"><office:automatic-styles>{styles}'
        f"</office:automatic-styles><office:body>{body}</office:body></office:document-content>"
    )


def styles_file() -> str:
    headings = "".join(
        f'<style:style style:name="Heading_20_{level}" style:display-name="Heading {level}" '
        f'style:family="paragraph" style:parent-style-name="Standard" style:default-outline-level="{level}">'
        f'<style:text-properties fo:font-size="{20 - 2 * level}pt" fo:font-weight="bold"/></style:style>'
        for level in range(1, 5)
    )
    named = "".join(
        f'<style:style style:name="{name}" style:family="paragraph"{parent}/>'
        for name, parent in (
            ("Standard", ""),
            ("Title", ' style:parent-style-name="Standard"'),
            ("Caption", ' style:parent-style-name="Standard"'),
            ("Figure", ' style:parent-style-name="Caption"'),
        )
    )
    layout = (
        '<style:page-layout style:name="L1"><style:page-layout-properties fo:page-width="28cm" '
        'fo:page-height="21cm"/></style:page-layout>'
    )
    master = '<style:master-page style:name="Default" style:page-layout-name="L1"/>'
    return (
        f'{XML}<office:document-styles {SPACES} office:version="1.3"><office:styles>{named}{headings}'
        f"</office:styles><office:automatic-styles>{layout}</office:automatic-styles>"
        f"<office:master-styles>{master}</office:master-styles></office:document-styles>"
    )


def manifest(mimetype: str, parts: list[str], objects: list[str]) -> str:
    kinds = {"xml": "text/xml", "png": "image/png"}
    rows = [("/", mimetype), *((name, kinds[name.rpartition(".")[2]]) for name in parts)]
    rows += [(f"{name}/", f"{KIND}.formula") for name in objects]
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type="{kind}"/>'
        for name, kind in rows
    )
    space = f'xmlns:manifest="{URN}:manifest:1.0" manifest:version="1.3"'
    return f"{XML}<manifest:manifest {space}>{entries}</manifest:manifest>"
