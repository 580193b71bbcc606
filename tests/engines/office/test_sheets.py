"""What sheets hold and do not show, and what other files of their kind keep where a reader may not look."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.engines.office.blocks import StructureBlock
from penstock.engines.office.open import open_structure
from penstock.page import Page
from penstock.region import Region
from penstock.sources import list_items
from tests.engines.office import made_files
from tests.support.loaded import load_items

SPACES = (
    'xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:style="s" xmlns:draw="d" xmlns:presentation="p"'
    ' xmlns:xlink="x" xmlns:svg="v" xmlns:fo="f"'
)


def opened(kind: str, body: str, styles: str = "", **parts: str) -> dict[str, str | bytes]:
    content = (
        f"<office:c {SPACES}><office:automatic-styles>{styles}</office:automatic-styles><office:body>"
        f"<office:{kind}>{body}</office:{kind}></office:body></office:c>"
    )
    words = {"spreadsheet": "spreadsheet", "presentation": "presentation", "text": "text"}
    mimetype = f"application/vnd.oasis.opendocument.{words[kind]}"
    return {"mimetype": mimetype, "content.xml": content, **parts}


def blocks_of(path: Path, kind: str, parts: dict[str, str | bytes]) -> list[list[StructureBlock]]:
    path.write_bytes(made_files.zipped(parts))
    file = open_structure(str(path), kind)
    return [list(file.unit(index).blocks) for index in range(file.num_units)]


def regions_of(path: Path, unprinted: str) -> list[Region]:
    pages = load_items(list(list_items([str(path)], Page)), unprinted=unprinted)
    return [region for page in pages for region in page.regions]


def cell(text: str, more: str = "") -> str:
    return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"


def row(*cells: str, more: str = "") -> str:
    return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"


def lines(block: StructureBlock) -> list[list[str]]:
    rows: dict[int, list[str]] = {}
    for one in block.cells:
        rows.setdefault(one.row, []).append(one.text)
    return [texts for _, texts in sorted(rows.items())]


@pytest.mark.parametrize("kind", ["ods", "odt"])
def test_a_row_that_a_file_says_once_for_several_is_there_as_often(tmp_path: Path, kind: str) -> None:
    rows = row(cell("a"), cell("b")) + row(cell("x"), cell("y"), more='table:number-rows-repeated="3"')
    end = row("<table:table-cell/>", more='table:number-rows-repeated="1048572"')
    table = f'<table:table table:name="A">{rows}{row(cell("z"), cell("w"))}{end if kind == "ods" else ""}</table:table>'
    parts = opened("spreadsheet" if kind == "ods" else "text", table)
    [blocks] = blocks_of(tmp_path / f"a.{kind}", kind, parts)
    [found] = [block for block in blocks if block.cells]
    assert lines(found) == [["a", "b"], ["x", "y"], ["x", "y"], ["x", "y"], ["z", "w"]]


def test_rows_that_repeat_a_million_times_are_bounded(tmp_path: Path) -> None:
    wide = row(cell("x", 'table:number-columns-repeated="1000"'), more='table:number-rows-repeated="1000000"')
    text = opened("text", 5 * f"<table:table>{wide}</table:table>")
    [*parts] = blocks_of(tmp_path / "a.odt", "odt", text)
    assert sum(len(block.cells) for blocks in parts for block in blocks) <= 505_000


def hidden_ods() -> dict[str, str | bytes]:
    styles = '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>'
    first = (
        '<table:table table:name="A"><table:table-column/><table:table-column table:visibility="collapse"/>'
        + row(cell("Day"), cell("Key"), cell("Sum"))
        + row(cell("1"), cell("k"), cell("secret"), more='table:visibility="collapse"')
        + row(cell("2"), cell("k"), cell("12.5%", 'table:formula="of:=[.A1]/16" office:value="0.125"'))
        + "</table:table>"
    )
    second = f'<table:table table:name="B" table:style-name="h">{row(cell("below"))}</table:table>'
    return opened("spreadsheet", first + second, styles)


def hidden_xlsx() -> dict[str, str | bytes]:
    def cells(number: int, *texts: str) -> str:
        return "".join(
            f'<c r="{letter}{number}" t="inlineStr"><is><t>{text}</t></is></c>'
            for letter, text in zip("ABC", texts, strict=False)
        )

    rows = (
        f'<row r="1">{cells(1, "Day", "Key", "Sum")}</row><row r="2" hidden="1">{cells(2, "1", "k", "secret")}</row>'
        f'<row r="3">{cells(3, "2", "k")}<c r="C3" s="1"><f>A1/16</f><v>0.125</v></c></row>'
    )
    return {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f'<workbook xmlns:r="{made_files.R}"><sheets><sheet name="A" r:id="r1"/>'
        '<sheet name="B" state="hidden" r:id="r2"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": made_files.relations(
            r1="worksheet|worksheets/s1.xml", r2="worksheet|worksheets/s2.xml"
        ),
        "xl/styles.xml": '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="0.0%"/></numFmts><cellXfs>'
        '<xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>',
        "xl/worksheets/s1.xml": '<worksheet><cols><col min="2" max="2" hidden="1"/></cols>'
        f"<sheetData>{rows}</sheetData></worksheet>",
        "xl/worksheets/s2.xml": f'<worksheet><sheetData><row r="1">{cells(1, "below")}</row></sheetData></worksheet>',
    }


@pytest.mark.parametrize(("kind", "parts"), [("ods", hidden_ods()), ("xlsx", hidden_xlsx())])
def test_hidden_rows_columns_and_sheets_are_marked_and_may_be_left_out(
    tmp_path: Path, kind: str, parts: dict[str, str | bytes]
) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(made_files.zipped(parts))
    kept = regions_of(path, "keep")
    assert {"hidden_sheet ##", "hidden_cells", "hidden_rows"} <= {one.native_label for one in kept}
    [named] = [one.content for one in kept if one.native_label == "hidden_rows"]
    assert named == "Hidden rows: 2\nHidden columns: B"
    [table] = [one.content or "" for one in kept if one.label == "table"]
    assert "secret" in table and "<td>k</td>" in table
    dropped = regions_of(path, "drop")
    assert not [one for one in dropped if "below" in (one.content or "") or "Hidden" in (one.content or "")]
    [table] = [one.content or "" for one in dropped if one.label == "table"]
    assert table == (
        "<table><thead><tr><td>Day</td><td>Sum</td></tr></thead><tbody><tr><td>2</td><td>12.5%</td></tr></tbody></table>"
    )


def test_what_cells_of_an_ods_store_comes_on_request(tmp_path: Path) -> None:
    path = tmp_path / "a.ods"
    path.write_bytes(made_files.zipped(hidden_ods()))
    assert "stored" not in {one.native_label for one in regions_of(path, "keep")}
    [stored] = [one.content for one in regions_of(path, "all") if one.native_label == "stored"]
    assert stored == "C3: =[.A1]/16 0.125"


def test_a_formula_that_cells_share_is_named_at_each(tmp_path: Path) -> None:
    rows = (
        '<row r="1"><c r="A1"><f t="shared" ref="A1:A2" si="0">B1+1</f><v>2</v></c></row>'
        '<row r="2"><c r="A2"><f t="shared" si="0"/><v>3</v></c></row>'
    )
    parts = {**hidden_xlsx(), "xl/worksheets/s1.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>"}
    first, _ = blocks_of(tmp_path / "a.xlsx", "xlsx", parts)
    [stored] = [block.text for block in first if block.mark == "stored"]
    assert stored == "A1: =B1+1\nA2: as in A1"


def test_a_comment_of_an_ods_names_its_cell(tmp_path: Path) -> None:
    comment = "<office:annotation><text:p>Sure?</text:p></office:annotation>"
    said = row(cell("day"), cell("5").replace("</table:table-cell>", f"{comment}</table:table-cell>"))
    parts = opened("spreadsheet", f'<table:table table:name="S">{row(cell("x"))}{said}</table:table>')
    [page] = blocks_of(tmp_path / "a.ods", "ods", parts)
    assert [block.text for block in page if block.mark == "comment"] == ["B2: Sure?"]


def test_a_threaded_comment_is_there_once(tmp_path: Path) -> None:
    old = "[Threaded comment]\n\nYour version of Excel allows you to read this.\n\nComment:\n    Too low."
    parts = {
        **hidden_xlsx(),
        "xl/worksheets/_rels/s1.xml.rels": made_files.relations(
            r1="comments|../comments1.xml", r2="threadedComment|../threadedComments/t1.xml"
        ),
        "xl/comments1.xml": f'<comments><comment ref="A1"><text><t>{old}</t></text></comment>'
        '<comment ref="B1"><text><t>Why?</t></text></comment></comments>',
        "xl/threadedComments/t1.xml": '<t><threadedComment ref="A1"><text>Too low.</text></threadedComment></t>',
    }
    first, _ = blocks_of(tmp_path / "a.xlsx", "xlsx", parts)
    assert [block.text for block in first if block.mark == "comment"] == ["B1: Why?", "A1: Too low."]


def test_a_hidden_slide_of_an_odp_is_marked(tmp_path: Path) -> None:
    styles = '<style:style style:name="h"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    frame = "<draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    body = f'<draw:page>{frame.format("Shown")}</draw:page><draw:page draw:style-name="h">{frame.format("Not")}</draw:page>'
    (tmp_path / "a.odp").write_bytes(made_files.zipped(opened("presentation", body, styles)))
    kept = regions_of(tmp_path / "a.odp", "keep")
    assert [(one.native_label, one.content) for one in kept] == [("", "Shown"), ("hidden_slide", "Not")]
    assert [one.content for one in regions_of(tmp_path / "a.odp", "drop")] == ["Shown"]


def test_running_titles_of_an_odt_are_read_once(tmp_path: Path) -> None:
    styles = (
        f"<office:s {SPACES}><office:master-styles><style:master-page><style:header><text:p>Report</text:p></style:header>"
        "<style:footer><text:p>Page <text:page-number>1</text:page-number></text:p></style:footer></style:master-page>"
        "</office:master-styles></office:s>"
    )
    parts = opened("text", "<text:p>Rain</text:p>", **{"styles.xml": styles})
    [blocks] = blocks_of(tmp_path / "a.odt", "odt", parts)
    assert [(one.label, one.text) for one in blocks] == [
        ("header", "Report"),
        ("footer", "Page"),
        ("text", "Rain"),
    ]


def test_pictures_and_charts_that_float_over_a_sheet_are_kept(tmp_path: Path) -> None:
    chart = f'<office:c {SPACES} xmlns:chart="c"><office:body><office:chart><chart:chart><table:table>'
    chart += f"{row(cell(''), cell('2026'))}{row(cell('Rain'), cell('42'))}</table:table></chart:chart></office:chart>"
    shapes = (
        '<table:shapes><draw:frame><draw:image xlink:href="Pictures/a.png"/></draw:frame>'
        '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></table:shapes>'
    )
    table = f'<table:table table:name="A">{shapes}{row(cell("1"))}</table:table>'
    parts = opened("spreadsheet", table, **{"Object 1/content.xml": f"{chart}</office:body></office:c>"})
    [blocks] = blocks_of(tmp_path / "a.ods", "ods", {**parts, "Pictures/a.png": made_files.PNG})
    assert [block.picture for block in blocks if block.label == "image"] == [made_files.PNG]
    [drawn] = [block for block in blocks if block.mark == "chart"]
    assert lines(drawn) == [["", "2026"], ["Rain", "42"]]
