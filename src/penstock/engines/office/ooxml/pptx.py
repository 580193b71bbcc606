"""PPTX: one unit a slide, its shapes at their places, its notes and comments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from penstock.box import Box
from penstock.engines.office.block_writer import BlockWriter
from penstock.engines.office.blocks import Hyperlink, StructureBlock, StructureUnit, as_hidden
from penstock.engines.office.ooxml.charts import chart_cells
from penstock.engines.office.ooxml.omml import latex_of_omml
from penstock.engines.office.ooxml.pptx_numbers import SlideNumbers
from penstock.engines.office.ooxml.pptx_places import (
    EMU,
    GroupPlace,
    Placeholder,
    box_of_placeholder,
    own_box,
    placeholders_of,
    shapes_of,
)
from penstock.engines.office.package import (
    XmlPackage,
    attribute,
    child,
    children,
    descendants,
    local,
    number,
    relation_id,
    text_in,
)
from penstock.errors import BadInput
from penstock.region import TableCell

SLIDE = (12_192_000, 6_858_000)  # of a file that does not say
TITLES = frozenset({"title", "ctrTitle"})
BULLETS = frozenset({"buChar", "buAutoNum", "buBlip"})
# what a slide's master repeats
FURNITURE = {"dt": "footer", "ftr": "footer", "sldNum": "number", "hdr": "header"}


class Slides:
    """An open presentation. Slides are read when they are asked for."""

    def __init__(self, package: XmlPackage) -> None:
        self._package = package
        main = next((name for name in package.names if name.startswith("ppt/presentation") and
                     name.endswith(".xml")), "ppt/presentation.xml")  # fmt: skip
        tree, relations = package.xml(main), package.relations(main)
        size = child(tree, "sldSz")
        self._size = (number(size, "cx", SLIDE[0]), number(size, "cy", SLIDE[1]))
        ids = (relation_id(row) for row in children(child(tree, "sldIdLst"), "sldId"))
        # a slide that is named and not there stays one: it fails alone and is not lost
        self._slides = [relations[id].target if id in relations else id for id in ids]

    @property
    def num_units(self) -> int:
        return len(self._slides)

    def close(self) -> None:
        self._package.close()

    def unit(self, index: int) -> StructureUnit:
        """Returns one slide. Raises BadInput where it cannot be read."""
        if not 0 <= index < len(self._slides):
            raise BadInput(f"slide {index + 1} does not exist; the file has {len(self._slides)}.")
        slide = _Slide(self._package, self._slides[index])
        width, height = (max(1.0, side / EMU) for side in self._size)
        return StructureUnit(blocks=tuple(slide.blocks()), width=width, height=height)


class _Slide:
    def __init__(self, package: XmlPackage, part: str) -> None:
        self._package = package
        self._tree = package.xml(part)
        self._relations = package.relations(part)
        self._places: list[Placeholder] | None = None
        self._is_hidden = attribute(self._tree, "show") in ("0", "false")

    def blocks(self) -> list[StructureBlock]:
        tree = child(self._tree, "cSld", "spTree")
        found = [block for shape, group in shapes_of(tree) for block in self._of_shape(shape, group)]
        # titles first: files keep shapes in the order in which they were drawn
        found.sort(key=lambda block: block.label not in ("doc_title", "paragraph_title"))
        found += [*self._of_notes(), *self._of_comments()]
        return as_hidden(found, "hidden_slide") if self._is_hidden else found

    def _of_shape(self, shape: Element, group: GroupPlace) -> list[StructureBlock]:
        writer, box = BlockWriter(), own_box(shape, group) or self._inherited_box(shape)
        name = local(shape)
        if name == "sp":
            self._text(shape, writer)
        elif name == "pic":
            self._picture(shape, writer)
        elif name == "graphicFrame":
            self._frame(shape, writer)
        return [replace(block, box=box) for block in writer.finished()]

    def _inherited_box(self, shape: Element) -> Box | None:
        holder = next(descendants(shape, "ph"), None)
        if holder is None:
            return None
        if self._places is None:
            self._places = placeholders_of(self._package, self._relations)
        return box_of_placeholder(holder, self._places)

    def _text(self, shape: Element, writer: BlockWriter) -> None:
        holder = next(descendants(shape, "ph"), None)
        kind = attribute(holder, "type", "body") if holder is not None else ""
        body = child(shape, "txBody")
        if body is None:
            return
        paragraphs = [self._paragraph(row) for row in children(body, "p")]
        if kind in TITLES:
            text = " ".join(text for text, _, _, _ in paragraphs if text)
            writer.heading(text, 1, [link for _, links, _, _ in paragraphs for link in links])
            return
        if kind in FURNITURE:
            writer.text("\n".join(text for text, _, _, _ in paragraphs), label=FURNITURE[kind])
            return
        in_list = kind in ("body", "obj") or (holder is not None and not kind)
        numbers = SlideNumbers()
        for row, (text, links, depth, mark) in zip(children(body, "p"), paragraphs, strict=True):
            is_item = mark != "none" and (
                bool(mark) or (in_list and sum(bool(one[0]) for one in paragraphs) > 1)
            )
            shown = numbers.next(child(row, "pPr"), depth) if text else ""
            if is_item:
                writer.item(depth, text, shown, links)
            else:
                writer.text(text, links)

    def _paragraph(self, row: Element) -> tuple[str, list[Hyperlink], int, str]:
        """Returns a paragraph's words, its links, its depth, and whether it has a bullet or refuses one."""
        words: list[str] = []
        links: list[Hyperlink] = []
        for inner in _runs(row):
            name = local(inner)
            if name in ("r", "fld"):
                text = text_in(inner, "t")
                words.append(text)
                self._link(child(inner, "rPr", "hlinkClick"), text, links)
            elif name == "br":
                words.append("\n")
            elif name == "oMath":
                words.append(f"${latex_of_omml(inner).strip()}$")
        settings = child(row, "pPr")
        marks = {local(each) for each in settings} if settings is not None else set()
        mark = "none" if "buNone" in marks else "bullet" if BULLETS & marks else ""
        depth = attribute(settings, "lvl", "0")
        return "".join(words).strip(), links, int(depth) if depth.isdecimal() else 0, mark

    def _link(self, element: Element | None, text: str, links: list[Hyperlink]) -> None:
        relation = self._relations.get(relation_id(element))
        if relation is not None and relation.is_outside and text.strip():
            links.append(Hyperlink(text.strip(), relation.target))

    def _picture(self, shape: Element, writer: BlockWriter) -> None:
        words = next((attribute(row, "descr") for row in descendants(shape, "cNvPr")), "")
        blip = next(descendants(shape, "blip"), None)
        relation = self._relations.get(attribute(blip, "embed"))
        if relation is None or relation.is_outside:
            writer.picture(b"", words, "The picture is not in the file.")
        else:
            writer.picture(self._package.picture(relation.target), words)

    def _frame(self, shape: Element, writer: BlockWriter) -> None:
        table = next(descendants(shape, "tbl"), None)
        if table is not None:
            writer.table(self._cells(table))
        writer.table(chart_cells(self._related(next(descendants(shape, "chart"), None), "id")), mark="chart")
        diagram = self._related(next(descendants(shape, "relIds"), None), "dm")
        for point in descendants(diagram, "pt"):
            writer.item(0, text_in(point, "t"))
        for row in descendants(shape, "oleObj"):
            writer.text(
                f"Embedded object: {attribute(row, 'progId') or 'unknown'}", label="aside_text", mark="object"
            )

    def _related(self, element: Element | None, key: str) -> Element | None:
        return self._package.related(self._relations.get(attribute(element, key)))

    def _cells(self, table: Element) -> list[TableCell]:
        has_head = attribute(child(table, "tblPr"), "firstRow") in ("1", "true")
        cells: list[TableCell] = []
        for r, row in enumerate(children(table, "tr")):
            for c, cell in enumerate(children(row, "tc")):
                if attribute(cell, "hMerge") in ("1", "true") or attribute(cell, "vMerge") in ("1", "true"):
                    continue
                lines = (self._paragraph(line)[0] for line in descendants(cell, "p"))
                text = "\n".join(line for line in lines if line)
                tall, wide = number(cell, "rowSpan", 1), number(cell, "gridSpan", 1)
                cells.append(TableCell(r, c, text, max(1, tall), max(1, wide), has_head and r == 0))
        return cells

    def _of_notes(self) -> Iterator[StructureBlock]:
        for notes in self._parts("notesSlide"):
            for shape, _ in shapes_of(child(notes, "cSld", "spTree")):
                if attribute(next(descendants(shape, "ph"), None), "type") != "body":
                    continue
                lines = (self._paragraph(row)[0] for row in descendants(shape, "p"))
                text = "\n".join(line for line in lines if line)
                if text:
                    yield StructureBlock(label="footnote", text=text, mark="speaker_notes")

    def _of_comments(self) -> Iterator[StructureBlock]:
        for comments in self._parts("comments"):
            for row in descendants(comments, "cm"):
                words = (each.text or "" for each in row.iter() if local(each) in ("text", "t"))
                text = " ".join(words).strip()
                if text:
                    yield StructureBlock(label="aside_text", text=text, mark="comment")

    def _parts(self, kind: str) -> Iterator[Element | None]:
        """Yields the trees of the parts of a kind that belong to the slide."""
        return (self._package.related(each) for each in self._relations.values() if each.kind == kind)


def _runs(row: Element) -> Iterator[Element]:
    """Yields runs, and those in formulas and alternatives."""
    for inner in row:
        if local(inner) in ("AlternateContent", "Choice", "m", "oMathPara"):
            yield from _runs(inner)
        else:
            yield inner
