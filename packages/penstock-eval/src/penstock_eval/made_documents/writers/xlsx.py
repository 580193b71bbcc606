"""XLSX as Excel writes it (ECMA-376 part 1): shared strings, number formats by style, merged cells, comments."""

from __future__ import annotations

from html import escape

from penstock_eval.made_documents.tree import Grid, GridCell, MadeDocument, Part
from penstock_eval.made_documents.writers.archive import OFFICE, XML, Relations, content_types, zipped

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
WRAPPED = 1  # the style of cells with several lines
FIRST_OWN_FORMAT = 164  # below are those built in


def xlsx(document: MadeDocument) -> bytes:
    return _Xlsx(document).bytes()


class _Xlsx:
    def __init__(self, document: MadeDocument) -> None:
        self._document = document
        self._strings: dict[str, int] = {}
        self._formats: dict[str, int] = {}
        self._parts: dict[str, str | bytes] = {}
        self._kinds: dict[str, str] = {"xl/workbook.xml": f"{KIND}.sheet.main+xml"}

    def bytes(self) -> bytes:
        relations, rows = Relations(), []
        for number, part in enumerate(self._document.blocks, start=1):
            assert isinstance(part, Part)
            id = relations.add("worksheet", f"worksheets/sheet{number}.xml")
            state = ' state="hidden"' if part.is_hidden else ""
            rows.append(f'<sheet name="{escape(part.title)}" sheetId="{number}"{state} r:id="{id}"/>')
            self._sheet(number, part)
        relations.add("styles", "styles.xml")
        relations.add("sharedStrings", "sharedStrings.xml")
        root = Relations()
        root.add("officeDocument", "xl/workbook.xml")
        sheets = f"<sheets>{''.join(rows)}</sheets>"
        self._parts |= {
            "_rels/.rels": root.xml(),
            "xl/workbook.xml": f'{XML}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{sheets}</workbook>',
            "xl/_rels/workbook.xml.rels": relations.xml(),
            "xl/sharedStrings.xml": self._shared_strings(),
            "xl/styles.xml": self._styles(),
        }
        self._kinds |= {
            "xl/sharedStrings.xml": f"{KIND}.sharedStrings+xml",
            "xl/styles.xml": f"{KIND}.styles+xml",
        }
        rels = "application/vnd.openxmlformats-package.relationships+xml"
        vml = "application/vnd.openxmlformats-officedocument.vmlDrawing"
        types = content_types({"rels": rels, "xml": "application/xml", "vml": vml}, self._kinds)
        return zipped({"[Content_Types].xml": types, **self._parts})

    def _sheet(self, number: int, part: Part) -> None:
        grid = part.blocks[0]
        assert isinstance(grid, Grid)
        rows = "".join(
            f'<row r="{row + 1}">{"".join(map(self._cell, (c for c in grid.cells if c.row == row)))}</row>'
            for row in range(grid.height)
        )
        merged = [
            f'<mergeCell ref="{_range(cell)}"/>' for cell in grid.cells if cell.tall > 1 or cell.wide > 1
        ]
        merges = f'<mergeCells count="{len(merged)}">{"".join(merged)}</mergeCells>' if merged else ""
        way = ' rightToLeft="1"' if self._document.is_rtl else ""
        drawing = self._comment(number, part.notes) if part.notes else ""
        name = f"xl/worksheets/sheet{number}.xml"
        self._kinds[name] = f"{KIND}.worksheet+xml"
        self._parts[name] = (
            f'{XML}<worksheet xmlns="{MAIN}" xmlns:r="{OFFICE}">'
            f'<dimension ref="A1:{_name(grid.height - 1, grid.width - 1)}"/>'
            f'<sheetViews><sheetView workbookViewId="0"{way}/></sheetViews>'
            f"<sheetData>{rows}</sheetData>{merges}{drawing}</worksheet>"
        )

    def _cell(self, cell: GridCell) -> str:
        name = _name(cell.row, cell.column)
        if cell.number is not None:
            return f'<c r="{name}" s="{self._style(cell.number.code)}"><v>{cell.number.value!r}</v></c>'
        text = "\n".join(cell.lines)
        string = self._strings.setdefault(text, len(self._strings))
        wrapped = f' s="{WRAPPED}"' if len(cell.lines) > 1 else ""
        return f'<c r="{name}"{wrapped} t="s"><v>{string}</v></c>'

    def _style(self, code: str) -> int:
        if code == "General":
            return 0
        return self._formats.setdefault(code, len(self._formats)) + WRAPPED + 1

    def _comment(self, number: int, text: str) -> str:
        """Writes a comment on A2, and the drawing without which Excel does not show it."""
        relations = Relations()
        relations.add("comments", f"../comments{number}.xml")
        id = relations.add("vmlDrawing", f"../drawings/vmlDrawing{number}.vml")
        self._kinds[f"xl/comments{number}.xml"] = f"{KIND}.comments+xml"
        self._parts[f"xl/comments{number}.xml"] = (
            f'{XML}<comments xmlns="{MAIN}"><authors><author>A. Reviewer</author></authors><commentList>'
            f'<comment ref="A2" authorId="0"><text><r><t xml:space="preserve">{escape(text)}</t></r></text>'
            "</comment></commentList></comments>"
        )
        self._parts[f"xl/drawings/vmlDrawing{number}.vml"] = _VML
        self._parts[f"xl/worksheets/_rels/sheet{number}.xml.rels"] = relations.xml()
        return f'<legacyDrawing r:id="{id}"/>'

    def _shared_strings(self) -> str:
        rows = (f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in self._strings)
        count = len(self._strings)
        return f'{XML}<sst xmlns="{MAIN}" count="{count}" uniqueCount="{count}">{"".join(rows)}</sst>'

    def _styles(self) -> str:
        own = list(enumerate(self._formats, start=FIRST_OWN_FORMAT))
        codes = "".join(f'<numFmt numFmtId="{id}" formatCode="{escape(code)}"/>' for id, code in own)
        formats = f'<numFmts count="{len(own)}">{codes}</numFmts>' if own else ""
        looks = "".join(
            f'<xf numFmtId="{id}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
            for id, _ in own
        )
        plain = '<xf numFmtId="0" fontId="0" fillId="0" borderId="0"'
        wrapped = f'{plain} xfId="0" applyAlignment="1"><alignment wrapText="1"/></xf>'
        return (
            f'{XML}<styleSheet xmlns="{MAIN}">{formats}'
            '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
            '<fills count="2"><fill><patternFill patternType="none"/></fill>'
            '<fill><patternFill patternType="gray125"/></fill></fills>'
            '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
            f'<cellStyleXfs count="1">{plain}/></cellStyleXfs>'
            f'<cellXfs count="{len(own) + 2}">{plain} xfId="0"/>{wrapped}{looks}</cellXfs>'
            '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
        )


def _name(row: int, column: int) -> str:
    return f"{chr(ord('A') + column)}{row + 1}"


def _range(cell: GridCell) -> str:
    return f"{_name(cell.row, cell.column)}:{_name(cell.row + cell.tall - 1, cell.column + cell.wide - 1)}"


_VML = (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:x="urn:schemas-microsoft-com:office:excel"><v:shapetype id="_x0000_t202" coordsize="21600,21600" '
    'o:spt="202" path="m,l,21600r21600,l21600,xe"/><v:shape id="_x0000_s1025" type="#_x0000_t202" '
    'style="position:absolute;margin-left:80pt;margin-top:2pt;width:108pt;height:60pt;visibility:hidden">'
    '<x:ClientData ObjectType="Note"><x:Row>1</x:Row><x:Column>0</x:Column></x:ClientData></v:shape></xml>'
)
