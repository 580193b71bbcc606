"""PPTX as PowerPoint writes it (ECMA-376 part 1): placeholders, tables in frames, notes on pages of their own."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from penstock_eval.made_documents.tree import (
    Block,
    Grid,
    GridCell,
    ItemList,
    MadeDocument,
    MadeItem,
    MadePicture,
    MadeRun,
    Paragraph,
    Part,
)
from penstock_eval.made_documents.writers.archive import XML, Relations, content_types, zipped
from penstock_eval.made_documents.writers.pptx_parts import KIND, SPACES, fixed_parts

EMU = 914400  # in an inch
BULLETS = "•–▪"
TABLES = "http://schemas.openxmlformats.org/drawingml/2006/table"


def pptx(document: MadeDocument) -> bytes:
    parts: dict[str, str | bytes] = {}
    kinds: dict[str, str] = {}
    relations, rows = Relations(), []
    master = relations.add("slideMaster", "slideMasters/slideMaster1.xml")
    notes_master = relations.add("notesMaster", "notesMasters/notesMaster1.xml")
    relations.add("theme", "theme/theme1.xml")
    for number, part in enumerate(document.blocks, start=1):
        assert isinstance(part, Part)
        id = relations.add("slide", f"slides/slide{number}.xml")
        rows.append(f'<p:sldId id="{255 + number}" r:id="{id}"/>')
        parts |= _SlideWriter(document, part, number).parts()
        kinds[f"ppt/slides/slide{number}.xml"] = f"{KIND}.slide+xml"
        if part.notes:
            kinds[f"ppt/notesSlides/notesSlide{number}.xml"] = f"{KIND}.notesSlide+xml"
    masters = f'<p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="{master}"/></p:sldMasterIdLst>'
    masters += f'<p:notesMasterIdLst><p:notesMasterId r:id="{notes_master}"/></p:notesMasterIdLst>'
    size = '<p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/>'
    parts["ppt/presentation.xml"] = (
        f"{XML}<p:presentation {SPACES}>{masters}<p:sldIdLst>{''.join(rows)}</p:sldIdLst>{size}</p:presentation>"
    )
    parts["ppt/_rels/presentation.xml.rels"] = relations.xml()
    kinds["ppt/presentation.xml"] = f"{KIND}.presentation.main+xml"
    fixed, fixed_kinds = fixed_parts()
    rels = "application/vnd.openxmlformats-package.relationships+xml"
    types = content_types({"rels": rels, "xml": "application/xml", "png": "image/png"}, kinds | fixed_kinds)
    return zipped({"[Content_Types].xml": types, **fixed, **parts})


class _SlideWriter:
    def __init__(self, document: MadeDocument, part: Part, number: int) -> None:
        self._document, self._part, self._number = document, part, number
        self._relations = Relations()
        self._relations.add("slideLayout", "../slideLayouts/slideLayout1.xml")
        self._media: dict[str, bytes] = {}
        self._next_id = 2
        self._top = 1.4  # inches, of the next shape

    def parts(self) -> dict[str, str | bytes]:
        title = self._shape(
            "Title",
            '<p:ph type="title"/>',
            _paragraph(_run(MadeRun(self._part.title)), self._look()),
            0.3,
            1.0,
        )
        shapes = title + "".join(shape for block in self._part.blocks for shape in self._block(block))
        folder, name = "ppt/slides", f"slide{self._number}.xml"
        found: dict[str, str | bytes] = {f"{folder}/{name}": _tree("sld", shapes)}
        if self._part.notes:
            target = f"notesSlides/notesSlide{self._number}.xml"
            self._relations.add("notesSlide", f"../{target}")
            found |= self._notes(target)
        found[f"{folder}/_rels/{name}.rels"] = self._relations.xml()
        return found | self._media

    def _notes(self, target: str) -> dict[str, str | bytes]:
        body = _paragraph(_run(MadeRun(self._part.notes)), self._look())
        picture = (
            '<p:sp><p:nvSpPr><p:cNvPr id="2" name="Slide Image 1"/><p:cNvSpPr><a:spLocks noGrp="1" noRot="1" '
            'noChangeAspect="1"/></p:cNvSpPr><p:nvPr><p:ph type="sldImg"/></p:nvPr></p:nvSpPr><p:spPr/></p:sp>'
        )
        shape = self._shape("Notes", '<p:ph type="body" idx="1"/>', body, 5.0, 4.0)
        relations = Relations()
        relations.add("notesMaster", "../notesMasters/notesMaster1.xml")
        relations.add("slide", f"../slides/slide{self._number}.xml")
        name = target.rpartition("/")[2]
        return {
            f"ppt/{target}": _tree("notes", picture + shape),
            f"ppt/notesSlides/_rels/{name}.rels": relations.xml(),
        }

    def _block(self, block: Block) -> Iterator[str]:
        if isinstance(block, Paragraph):
            runs = "".join(map(self._linked_run, block.runs))
            yield self._text_box(_paragraph(runs, self._look()))
        elif isinstance(block, ItemList):
            lines = "".join(self._items(block.items, block.is_numbered, 0))
            yield self._shape("Content", '<p:ph idx="1"/>', lines, self._place(2.4), 2.4)
        elif isinstance(block, Grid):
            yield self._table(block)
        elif isinstance(block, MadePicture):
            yield self._picture(block)
            if block.caption:
                yield self._text_box(_paragraph(_run(MadeRun(block.caption)), self._look()))

    def _items(self, items: tuple[MadeItem, ...], is_numbered: bool, depth: int) -> Iterator[str]:
        mark = (
            '<a:buAutoNum type="arabicPeriod"/>'
            if is_numbered
            else f'<a:buChar char="{BULLETS[depth % len(BULLETS)]}"/>'
        )
        for item in items:
            indent = f'marL="{342900 * (depth + 1)}" indent="-342900" lvl="{depth}"'
            look = f"<a:pPr {indent}{self._way()}>{mark}</a:pPr>"
            yield f"<a:p>{look}{_run(MadeRun(item.text))}</a:p>"
            yield from self._items(item.items, is_numbered, depth + 1)

    def _linked_run(self, run: MadeRun) -> str:
        id = self._relations.add("hyperlink", run.address, is_outside=True) if run.address else ""
        return _run(run, id)

    def _way(self) -> str:
        return ' algn="r" rtl="1"' if self._document.is_rtl else ""

    def _look(self) -> str:
        return f"<a:pPr{self._way()}><a:buNone/></a:pPr>"

    def _place(self, tall: float) -> float:
        top, self._top = self._top, self._top + tall + 0.1
        return top

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def _text_box(self, lines: str) -> str:
        return self._shape("TextBox", "", lines, self._place(1.3), 1.3)

    def _shape(self, name: str, placeholder: str, lines: str, top: float, tall: float) -> str:
        id = self._new_id()
        own = '<p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr>' if placeholder else '<p:cNvSpPr txBox="1"/>'
        form = "" if placeholder else '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:noFill/>'
        return (
            f'<p:sp><p:nvSpPr><p:cNvPr id="{id}" name="{name} {id}"/>{own}<p:nvPr>{placeholder}</p:nvPr></p:nvSpPr>'
            f"<p:spPr>{_frame('a:xfrm', top, tall)}{form}</p:spPr>"
            f'<p:txBody><a:bodyPr wrap="square"><a:normAutofit/></a:bodyPr><a:lstStyle/>{lines}</p:txBody></p:sp>'
        )

    def _table(self, grid: Grid) -> str:
        id, tall = self._new_id(), 0.4 * grid.height
        columns = f'<a:gridCol w="{8 * EMU // grid.width}"/>' * grid.width
        rows = "".join(
            f'<a:tr h="{EMU * 4 // 10}">{"".join(self._row(grid, row))}</a:tr>' for row in range(grid.height)
        )
        way = ' rtl="1"' if self._document.is_rtl else ""
        return (
            f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="{id}" name="Table {id}"/>'
            '<p:cNvGraphicFramePr><a:graphicFrameLocks noGrp="1"/></p:cNvGraphicFramePr><p:nvPr/></p:nvGraphicFramePr>'
            f'{_frame("p:xfrm", self._place(tall), tall)}<a:graphic><a:graphicData uri="{TABLES}">'
            f'<a:tbl><a:tblPr firstRow="1"{way}/><a:tblGrid>{columns}</a:tblGrid>{rows}</a:tbl>'
            "</a:graphicData></a:graphic></p:graphicFrame>"
        )

    def _row(self, grid: Grid, row: int) -> Iterator[str]:
        """Yields a cell for every column; those under a span are there and empty."""
        for cell in grid.row(row):
            tall = f' rowSpan="{cell.tall}"' if cell.tall > 1 else ""
            wide = f' gridSpan="{cell.wide}"' if cell.wide > 1 else ""
            below = ' vMerge="1"' if cell.row != row else ""
            yield self._cell(cell if not below else None, f"{tall if not below else ''}{wide}{below}")
            for _ in range(cell.wide - 1):
                yield self._cell(None, f'{tall if not below else ""} hMerge="1"{below}')

    def _cell(self, cell: GridCell | None, attributes: str) -> str:
        lines = "<a:p/>"
        if cell is not None:
            lines = "".join(_paragraph(_run(MadeRun(line)), f"<a:pPr{self._way()}/>") for line in cell.shown)
        return f"<a:tc{attributes}><a:txBody><a:bodyPr/><a:lstStyle/>{lines}</a:txBody><a:tcPr/></a:tc>"

    def _picture(self, picture: MadePicture) -> str:
        id = self._new_id()
        name = f"image{self._number}-{id}.png"
        self._media[f"ppt/media/{name}"] = picture.data
        relation = self._relations.add("image", f"../media/{name}")
        return (
            f'<p:pic><p:nvPicPr><p:cNvPr id="{id}" name="Picture {id}" descr="{escape(picture.words)}"/>'
            '<p:cNvPicPr><a:picLocks noChangeAspect="1"/></p:cNvPicPr><p:nvPr/></p:nvPicPr>'
            f'<p:blipFill><a:blip r:embed="{relation}"/><a:stretch><a:fillRect/></a:stretch></p:blipFill>'
            f"<p:spPr>{_frame('a:xfrm', self._place(1.0), 1.0, 1.5)}"
            '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>'
        )


def _paragraph(runs: str, look: str) -> str:
    return f"<a:p>{look}{runs}</a:p>"


def _run(run: MadeRun, link: str = "") -> str:
    bold = ' b="1"' if run.is_bold else ""
    linked = f'<a:hlinkClick r:id="{link}"/>' if link else ""
    return f'<a:r><a:rPr lang="en-US" sz="1400"{bold}>{linked}</a:rPr><a:t>{escape(run.text)}</a:t></a:r>'


def _frame(tag: str, top: float, tall: float, wide: float = 8.0) -> str:
    place = (
        f'<a:off x="{EMU // 2}" y="{int(top * EMU)}"/><a:ext cx="{int(wide * EMU)}" cy="{int(tall * EMU)}"/>'
    )
    return f"<{tag}>{place}</{tag}>"


def _tree(name: str, shapes: str) -> str:
    group = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
    colours = "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>"
    return (
        f"{XML}<p:{name} {SPACES}><p:cSld><p:spTree>{group}{shapes}</p:spTree></p:cSld>{colours}</p:{name}>"
    )
