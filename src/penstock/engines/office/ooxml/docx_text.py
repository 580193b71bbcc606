"""One paragraph of a DOCX: its words, and what hangs on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from xml.etree.ElementTree import Element

from penstock.engines.office.blocks import Hyperlink
from penstock.engines.office.ooxml.omml import latex_of_omml
from penstock.engines.office.ooxml.settings import is_on
from penstock.engines.office.package import PartRelation, attribute, child, children, descendants, local

DELETED = frozenset({"del", "moveFrom"})
PASSED_THROUGH = frozenset(
    {"ins", "moveTo", "smartTag", "sdtContent", "customXml", "dir", "bdo", "ruby", "rubyBase"}
)
# of fonts that have pictures where others have letters
SYMBOLS = {
    "F0B7": "•",
    "F0A7": "▪",
    "F0E0": "→",
    "F0FC": "✓",
    "F06F": "☐",
    "F0FE": "☒",
    "F052": "☑",
    "F0A8": "☐",
}


@dataclass(slots=True)
class ParagraphText:
    """What was found in one paragraph, in the order of its words."""

    words: list[str] = field(default_factory=list)
    links: list[Hyperlink] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    footnotes: list[str] = field(default_factory=list)  # ids, in the order of their marks
    endnotes: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)  # relation, alternative text
    boxes: list[Element] = field(default_factory=list)  # contents of text boxes
    formulas: list[str] = field(default_factory=list)  # that stand on lines of their own
    charts: list[str] = field(default_factory=list)  # relations
    objects: list[str] = field(default_factory=list)  # embedded programs' names
    breaks_before: int = 0  # pages that end before its first word, by the author
    breaks_after: int = 0
    rendered_before: int = 0  # pages that ended there when it was saved
    rendered_after: int = 0

    @property
    def text(self) -> str:
        return "".join(self.words)


class ParagraphReader:
    """Reads paragraphs; `relations` are those of the part they stand in."""

    def __init__(self, relations: dict[str, PartRelation]) -> None:
        self._relations = relations
        self._fields: list[tuple[list[str], int]] = []  # open fields: what they say, where their words begin
        self._in_code = False
        self._element: dict[str, Callable[[Element, ParagraphText], None]] = {
            "r": self._run, "hyperlink": self._hyperlink, "fldSimple": self._simple_field,
            "oMath": self._formula, "oMathPara": self._formula_lines, "sdt": self._control,
            "AlternateContent": self._choice,
        }  # fmt: skip

    def read(self, paragraph: Element) -> ParagraphText:
        found = ParagraphText()
        self._fields, self._in_code = [], False
        self._inside(paragraph, found)
        return found

    def _inside(self, element: Element, found: ParagraphText) -> None:
        for inner in element:
            name = local(inner)
            if name in PASSED_THROUGH:
                self._inside(inner, found)
            elif name in DELETED:
                found.deleted += [part.text or "" for part in inner.iter() if local(part) in ("delText", "t")]
            elif name in self._element:
                self._element[name](inner, found)

    def _run(self, run: Element, found: ParagraphText) -> None:
        is_hidden = is_on(child(run, "rPr", "vanish"))
        for inner in run:
            name = local(inner)
            if name in ("t", "tab", "br", "cr", "noBreakHyphen", "sym"):
                if not self._in_code:
                    self._letters(name, inner, found, is_hidden)
            elif name == "lastRenderedPageBreak":
                self._count_break(found, rendered=True)
            elif name in ("fldChar", "instrText"):
                self._field(name, inner, found)
            else:
                self._hanging(name, inner, found)

    def _letters(self, name: str, inner: Element, found: ParagraphText, is_hidden: bool) -> None:
        if name == "br" and attribute(inner, "type") == "page":
            self._count_break(found, rendered=False)
            return
        char = attribute(inner, "char").upper()
        texts = {"t": inner.text or "", "tab": "\t", "noBreakHyphen": "-", "sym": SYMBOLS.get(char, "")}
        (found.hidden if is_hidden else found.words).append(texts.get(name, "\n"))

    def _count_break(self, found: ParagraphText, rendered: bool) -> None:
        has_words = bool(found.text.strip())
        if rendered:
            found.rendered_after += has_words
            found.rendered_before += not has_words
        else:
            found.breaks_after += has_words
            found.breaks_before += not has_words

    def _hanging(self, name: str, inner: Element, found: ParagraphText) -> None:
        """Takes what hangs on a place of the text: notes, pictures, text boxes, objects."""
        id = attribute(inner, "id")
        if name in ("footnoteReference", "endnoteReference"):
            kept = found.footnotes if name == "footnoteReference" else found.endnotes
            kept.append(id)
            found.words.append(f"[^{'' if name == 'footnoteReference' else 'e'}{id}]")
        elif name == "commentReference":
            found.comments.append(id)
        elif name == "AlternateContent":
            self._choice(inner, found)
        elif name in ("drawing", "pict", "object"):
            self._drawing(inner, found)
        elif name in ("ruby",):
            self._inside(inner, found)

    def _choice(self, element: Element, found: ParagraphText) -> None:
        """Takes the first of several ways to say the same."""
        chosen = next(chain(children(element, "Choice"), children(element, "Fallback")), ())
        for inner in chosen:
            name = local(inner)
            if name in ("drawing", "pict", "object"):
                self._drawing(inner, found)
            elif name == "r":
                self._run(inner, found)

    def _drawing(self, drawing: Element, found: ParagraphText) -> None:
        words = next(filter(None, (attribute(row, "descr") for row in descendants(drawing, "docPr"))), "")
        for name, key in (("blip", "embed"), ("imagedata", "id")):
            ids = dict.fromkeys(attribute(row, key) for row in descendants(drawing, name))
            found.pictures += [(id, words) for id in ids if id]
        for row in descendants(drawing, "blip"):  # only linked: it is somewhere else
            if not attribute(row, "embed") and attribute(row, "link"):
                found.pictures.append((attribute(row, "link"), words))
        found.boxes += _outermost(drawing, "txbxContent")
        found.charts += filter(None, (attribute(row, "id") for row in descendants(drawing, "chart")))
        found.objects += [attribute(row, "ProgID") for row in descendants(drawing, "OLEObject")]

    def _hyperlink(self, element: Element, found: ParagraphText) -> None:
        start = len(found.words)
        self._inside(element, found)
        relation = self._relations.get(attribute(element, "id"))
        if relation is not None and relation.is_outside:
            self._link(found, start, relation.target)

    def _link(self, found: ParagraphText, start: int, address: str) -> None:
        text = "".join(found.words[start:]).strip()
        if text:
            found.links.append(Hyperlink(text, address))

    def _simple_field(self, element: Element, found: ParagraphText) -> None:
        start = len(found.words)
        self._inside(element, found)
        self._link_of_field(attribute(element, "instr"), start, found)

    def _field(self, name: str, inner: Element, found: ParagraphText) -> None:
        """Follows a field: what it says, then, after "separate", the words that are shown."""
        if name == "instrText":
            if self._fields:
                self._fields[-1][0].append(inner.text or "")
            return
        kind = attribute(inner, "fldCharType")
        if kind == "begin":
            self._fields.append(([], len(found.words)))
            self._check_box(inner, found)
        elif kind == "separate":
            self._in_code = False
        elif kind == "end" and self._fields:
            said, start = self._fields.pop()
            self._link_of_field("".join(said), start, found)

    def _check_box(self, inner: Element, found: ParagraphText) -> None:
        box = child(inner, "ffData", "checkBox")
        if box is not None:
            mark = next(chain(children(box, "checked"), children(box, "default")), None)
            found.words.append("☒" if is_on(mark) else "☐")

    def _link_of_field(self, said: str, start: int, found: ParagraphText) -> None:
        parts = said.split('"')
        if said.strip().upper().startswith("HYPERLINK") and len(parts) > 1 and "\\l" not in parts[0]:
            self._link(found, start, parts[1])

    def _control(self, element: Element, found: ParagraphText) -> None:
        content = child(element, "sdtContent")
        if content is not None:
            self._inside(content, found)

    def _formula(self, element: Element, found: ParagraphText) -> None:
        latex = latex_of_omml(element).strip()
        if latex:
            found.words.append(f"${latex}$")

    def _formula_lines(self, element: Element, found: ParagraphText) -> None:
        for formula in children(element, "oMath"):
            latex = latex_of_omml(formula).strip()
            if latex:
                found.formulas.append(latex)


def _outermost(element: Element, name: str) -> list[Element]:
    """Returns descendants of a name that are in no other of it, of the first of several ways only."""
    found: list[Element] = []
    stack = [element]
    while stack:
        this = stack.pop()
        if local(this) == name:
            found.append(this)
        else:
            rest = [inner for inner in this if local(inner) != "Fallback"]
            stack += reversed(rest)
    return found
